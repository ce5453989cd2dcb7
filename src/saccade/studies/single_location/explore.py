"""Live: where does descent go in single-location regression? An app, or a script."""

import marimo

app = marimo.App(width="medium", app_title="saccade: single-location regression")

with app.setup:
    import jax
    import marimo as mo
    import numpy as np
    import plotly.graph_objects as go
    from scipy.special import erf

    from saccade.lab.notebooks import Looks, described, finished, looking, now_you
    from saccade.studies.single_location import dynamics, theory

    STEP = 4e-3  # of Figure 4a
    PAPER = theory.Setting(80, 10, 1.0)
    COLOURS = ("#009E73", "#D55E00", "#7B3294", "#666666")


@app.function
def descents(setting, decay, steps, starts=30):
    """Descent from uniform starts, with lambda_t = lambda/(1 + decay t); the five-number map."""
    first = dynamics.sphere_overlaps(jax.random.key(0), min(setting.dim, 10**6), starts)
    stops = np.unique(np.r_[0, np.geomspace(10, steps, 63).astype(int)])
    return dynamics.overlap_trajectory(first, setting, STEP, steps, record=stops, decay=decay)


@app.function
def looks(setting=PAPER, decay=1e-4, steps=120_000, start=0, run=None):
    """Shares of the tokens of one sequence in the weights |erf(lambda_t k.X_l)|, along the descent
    from one start. What k has outside k* and v* is one random direction."""
    run = descents(setting, decay, steps) if run is None else run
    random = np.random.default_rng(4)
    along = random.standard_normal((3, int(setting.length)))  # k*, v*, the rest of k
    place = int(setting.length) * 2 // 3
    along[:, place] *= setting.gamma
    along[0, place] += np.sqrt(setting.dim / 2)
    kappa, eta = run.overlaps.kappa[start], run.overlaps.eta[start]
    rest = np.sqrt(np.maximum(1 - kappa**2 - eta**2, 0))
    scores = np.stack([kappa, eta, rest], axis=1) @ along
    cooled = setting.inverse_temperature / (1 + decay * run.steps)
    weights = np.abs(erf(cooled[:, None] * scores))
    weights /= weights.sum(axis=1, keepdims=True)
    says = (
        f"Shares of {int(setting.length)} tokens in the attention along descent from a random"
        f" start; one token carries the answer. Its share goes from {weights[0, place]:.2f} to"
        f" {weights[-1, place]:.2f}; of the others none keeps more than"
        f" {np.delete(weights[-1], place).max():.2f}.")
    return Looks(run.steps.tolist(), weights.tolist(), [place], says)


@app.cell
def _():
    mo.md("""
        # One token decides: does descent find it?
        A layer scores each token along **k** and reads it along **v**; the truth is k⋆, v⋆. The
        weight of token X is erf(λ k·X). Training starts from random directions and knows nothing
        of the truth. Here λ falls on the way, as in the paper: watch the weights leave all tokens
        but one.
        """)
    return


@app.cell
def _():
    temperature = mo.ui.slider(
        0.05, 1.6, step=0.05, value=1.0, label="inverse temperature λ at first", show_value=True)
    schedule = mo.ui.dropdown(
        {"falls, λ/(1 + t/10⁴)": 1e-4, "falls faster, λ/(1 + t/10³)": 1e-3, "constant": 0.0},
        value="falls, λ/(1 + t/10⁴)", label="schedule")
    steps = mo.ui.slider(
        steps=[1000, 3000, 10_000, 30_000, 120_000], value=120_000, label="steps", show_value=True)
    dim = mo.ui.dropdown({"80": 80, "400": 400, "10⁹": 10**9}, value="80", label="dimension d")
    length = mo.ui.slider(2, 40, step=1, value=10, label="tokens L", show_value=True)
    mo.vstack([
        mo.hstack([temperature, schedule, steps], justify="start", wrap=True),
        mo.hstack([dim, length], justify="start", wrap=True)])
    return dim, length, schedule, steps, temperature


@app.cell
def _(dim, length, schedule, steps, temperature):
    setting = theory.Setting(dim.value, length.value, temperature.value)
    runs = descents(setting, schedule.value, steps.value)
    last = temperature.value / (1 + schedule.value * (steps.value - 1))
    ends = np.asarray(dynamics.classify(runs.final, setting._replace(inverse_temperature=last)))
    return ends, runs, setting


@app.cell
def _(runs):
    follow = mo.ui.slider(1, 30, step=1, value=1, label="follow start", show_value=True)
    moment = mo.ui.slider(
        0, len(runs.steps) - 1, step=1, value=len(runs.steps) - 1, label="moment of training")
    mo.hstack([follow, moment], justify="start", wrap=True)
    return follow, moment


@app.cell
def _(ends, follow, moment, runs, schedule, setting):
    chosen = follow.value - 1
    seen = looks(setting, schedule.value, int(runs.steps[-1]), chosen, runs)
    picture = go.Figure()
    for code, outcome in enumerate(dynamics.OUTCOMES):
        for number in np.flatnonzero(ends == code):
            first = number == np.flatnonzero(ends == code)[0]
            picture.add_scatter(
                x=runs.overlaps.kappa[number], y=runs.overlaps.nu[number], mode="lines",
                line={"color": COLOURS[code], "width": 3 if number == chosen else 1}, name=outcome,
                showlegend=bool(first), legendgroup=outcome)
    now = runs.overlaps.kappa[chosen, moment.value], runs.overlaps.nu[chosen, moment.value]
    picture.add_scatter(
        x=now[:1], y=now[1:], mode="markers", marker={"size": 11, "color": "#E69F00"}, name="now")
    finished(
        picture, 460, 380, xaxis_title="κ = k·k⋆: looks right", yaxis_title="ν = v·v⋆: reads right")
    counts = " · ".join(
        f"{name}: {int((ends == code).sum())}" for code, name in enumerate(dynamics.OUTCOMES))
    plane = described(
        picture, "The ways of thirty starts in the plane of kappa and nu, by where they end.")
    mo.vstack([
        mo.md(f"Of 30 random starts: **{counts}** (within 0.05 of a known end state)."),
        mo.hstack(
            [looking(seen, moment.value, weight="share of the attention"), plane],
            justify="start", wrap=True)])
    return


@app.cell
def _():
    mo.md("""
        ## On the manifold
        Where k and v lean on nothing else, two numbers say it all: κ and ν. Release a point; with a
        constant λ above its critical value the truth stops attracting.
        """)
    return


@app.cell
def _():
    kappa = mo.ui.slider(-0.95, 0.95, step=0.05, value=-0.3, label="start κ", show_value=True)
    nu = mo.ui.slider(-0.95, 0.95, step=0.05, value=0.2, label="start ν", show_value=True)
    mo.hstack([kappa, nu], justify="start", wrap=True)
    return kappa, nu


@app.cell
def _(kappa, nu, schedule, setting, steps):
    # The field: where one step leads from every point of a grid, drawn as short strokes.
    grid = np.linspace(-0.95, 0.95, 17)
    across, up = (side.ravel() for side in np.meshgrid(grid, grid))
    moved = [np.asarray(side) for side in dynamics.manifold_step(across, up, setting, 1e-3)]
    stroke = np.stack([moved[0] - across, moved[1] - up])
    stroke = 0.08 * stroke / np.maximum(np.hypot(*stroke), 1e-12)
    gap = np.full_like(across, np.nan)
    path = dynamics.manifold_trajectory(
        kappa.value, nu.value, setting, STEP, steps.value,
        record=np.unique(np.geomspace(10, steps.value, 100).astype(int)), decay=schedule.value)
    lines = [
        np.stack([start, start + along, gap], 1).ravel()
        for start, along in zip((across, up), stroke, strict=True)]
    portrait = go.Figure()
    portrait.add_scatter(
        x=lines[0], y=lines[1], mode="lines", line={"color": "#b8c4cc", "width": 1}, name="field",
        hoverinfo="skip")
    way = [np.r_[kappa.value, path.overlaps.kappa], np.r_[nu.value, path.overlaps.nu]]
    portrait.add_scatter(
        x=way[0], y=way[1], mode="lines", line={"color": "#0072B2", "width": 3}, name="descent")
    portrait.add_scatter(
        x=[1, -1], y=[1, -1], mode="markers",
        marker={"symbol": "star", "size": 14, "color": "#009E73"}, name="the truth, and its mirror")
    finished(portrait, 460, 400, xaxis_title="κ = k·k⋆", yaxis_title="ν = v·v⋆")
    critical = theory.critical_inverse_temperature(setting.dim, setting.length)
    above = setting.inverse_temperature > critical
    words = (
        f"λ = {setting.inverse_temperature:.2f} is **{'above' if above else 'below'}** the critical"
        f" value {critical:.4f}: held there, the truth {'is not' if above else 'is'} a local"
        f" minimum of the full risk. After {steps.value:,} steps κ = {way[0][-1]:.3f}, ν ="
        f" {way[1][-1]:.3f}, risk {path.risk[-1]:.4g}.")
    shown = described(
        portrait, "The descent field over kappa and nu, and the released point's way.")
    mo.vstack([mo.md(words), shown])
    return


@app.cell
def _():
    now_you("""
        Keep λ constant and small (schedule: constant, λ = 0.1) and count who recovers; follow one
        that ends *swapped*: which token does it look at? And is there a schedule with which thirty
        of thirty recover?
        """)
    return


@app.cell
def _():
    mine = theory.Setting(80, 5, 1.0)  # dimension, tokens, λ at first: change them
    my_decay, my_steps = 1e-4, 60_000
    mine_run = descents(mine, my_decay, my_steps)
    end = mine._replace(inverse_temperature=mine.inverse_temperature / (1 + my_decay * my_steps))
    recovered = int((np.asarray(dynamics.classify(mine_run.final, end)) == 0).sum())
    mo.show_code(mo.md(f"{recovered} of 30 starts recover."))
    return


if __name__ == "__main__":
    app.run()
