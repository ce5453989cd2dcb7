"""Live: where does descent go in single-location regression? An app, or a script."""

import marimo

app = marimo.App(width="medium", app_title="saccade: single-location regression")


@app.cell
def _():
    import jax
    import marimo as mo
    import numpy as np
    import plotly.graph_objects as go

    from saccade.lab.notebooks import described, finished
    from saccade.studies.single_location import dynamics, theory

    return dynamics, described, finished, go, jax, mo, np, theory


@app.cell
def _(mo):
    mo.md("""
        # One token decides: does descent find it?
        A layer scores each token along **k** and reads it along **v**; the truth is k⋆, v⋆. On the
        invariant manifold two numbers say it all: κ = k·k⋆ (does it look where the information is?)
        and ν = v·v⋆ (does it read the right thing?). Both are 1 at the truth. Release a point and
        watch; raise the inverse temperature λ past its critical value and the truth stops
        attracting.
        """)
    return


@app.cell
def _(mo):
    temperature = mo.ui.slider(
        0.05, 1.6, step=0.05, value=0.4, label="inverse temperature λ", show_value=True)
    kappa = mo.ui.slider(-0.95, 0.95, step=0.05, value=-0.3, label="start κ", show_value=True)
    nu = mo.ui.slider(-0.95, 0.95, step=0.05, value=0.2, label="start ν", show_value=True)
    dim = mo.ui.dropdown({"80": 80, "400": 400, "10⁹": 10**9}, value="400", label="dimension d")
    length = mo.ui.slider(2, 40, step=1, value=10, label="tokens L", show_value=True)
    mo.vstack([
        mo.hstack([temperature, dim, length], justify="start", wrap=True),
        mo.hstack([kappa, nu], justify="start", wrap=True)])
    return dim, kappa, length, nu, temperature


@app.cell
def _(dim, length, temperature, theory):
    setting = theory.Setting(dim.value, length.value, temperature.value)
    critical = theory.critical_inverse_temperature(dim.value, length.value)
    return critical, setting


@app.cell
def _(critical, dynamics, described, finished, go, kappa, mo, np, nu, setting, temperature):
    # The field: where one step leads from every point of a grid, drawn as short strokes.
    grid = np.linspace(-0.95, 0.95, 17)
    across, up = (side.ravel() for side in np.meshgrid(grid, grid))
    moved = [np.asarray(side) for side in dynamics.manifold_step(across, up, setting, 1e-3)]
    stroke = np.stack([moved[0] - across, moved[1] - up])
    stroke = 0.08 * stroke / np.maximum(np.hypot(*stroke), 1e-12)
    gap = np.full_like(across, np.nan)
    path = dynamics.manifold_trajectory(kappa.value, nu.value, setting, 4e-3, 20_000, record=100)

    portrait = go.Figure()
    lines = [
        np.stack([start, start + along, gap], 1).ravel()
        for start, along in zip((across, up), stroke, strict=True)]
    portrait.add_scatter(
        x=lines[0], y=lines[1], mode="lines", line={"color": "#b8c4cc", "width": 1}, name="field",
        hoverinfo="skip")
    way = [np.r_[kappa.value, path.overlaps.kappa], np.r_[nu.value, path.overlaps.nu]]
    portrait.add_scatter(
        x=way[0], y=way[1], mode="lines", line={"color": "#0072B2", "width": 3}, name="descent")
    portrait.add_scatter(
        x=way[0][:1], y=way[1][:1], mode="markers", marker={"size": 11, "color": "#E69F00"},
        name="start")
    portrait.add_scatter(
        x=[1, -1], y=[1, -1], mode="markers",
        marker={"symbol": "star", "size": 14, "color": "#009E73"}, name="the truth, and its mirror")
    finished(portrait, 520, 480, xaxis_title="κ = k·k⋆", yaxis_title="ν = v·v⋆")

    curve = go.Figure(go.Scatter(x=path.steps, y=path.risk, name="risk"))
    finished(curve, 420, 300, xaxis_title="step", yaxis_title="risk", yaxis_type="log")
    side, verb = ("above", "is not") if temperature.value > critical else ("below", "is")
    words = (
        f"λ = {temperature.value:.2f} is **{side}** the critical value {critical:.4f}: the truth"
        f" {verb} a local minimum of the full risk.")
    end = f"20,000 steps: κ = {way[0][-1]:.3f}, ν = {way[1][-1]:.3f}, risk {path.risk[-1]:.4g}."
    plane = described(
        portrait, "The descent field over kappa and nu, and the way of the released point.")
    falling = described(curve, "The risk along that way against the step, on a logarithmic axis.")
    mo.hstack([plane, mo.vstack([mo.md(words), mo.md(end), falling])], justify="start", wrap=True)
    return


@app.cell
def _(mo):
    mo.md("""
        ## Away from the manifold
        A random start leans a little on everything: five overlaps move, and still the dimension
        does not matter. Thirty starts drawn uniformly on the spheres, 20,000 steps each.
        """)
    return


@app.cell
def _(dim, dynamics, described, finished, go, jax, mo, np, setting):
    starts = dynamics.sphere_overlaps(jax.random.key(0), min(dim.value, 10**6), 30)
    runs = dynamics.overlap_trajectory(starts, setting, 4e-3, 20_000, record=200)
    ends = np.asarray(dynamics.classify(runs.final, setting))
    colours = ["#009E73", "#D55E00", "#7B3294", "#666666"]
    picture = go.Figure()
    for code, outcome in enumerate(dynamics.OUTCOMES):
        for number in np.flatnonzero(ends == code):
            first = number == np.flatnonzero(ends == code)[0]
            picture.add_scatter(
                x=runs.overlaps.kappa[number], y=runs.overlaps.nu[number], mode="lines",
                line={"color": colours[code], "width": 1}, name=outcome, showlegend=bool(first),
                legendgroup=outcome)
    finished(picture, 520, 420, xaxis_title="κ", yaxis_title="ν")
    counts = " · ".join(
        f"{name}: {int((ends == code).sum())}" for code, name in enumerate(dynamics.OUTCOMES))
    shown = described(
        picture,
        "The ways of thirty starts in the plane of kappa and nu, coloured by where they end.")
    mo.vstack([mo.md(f"Of 30 starts: {counts} (within 0.05 of a known end state)."), shown])
    return


if __name__ == "__main__":
    app.run()
