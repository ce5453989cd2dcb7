"""Live: erf and softmax side by side from the same start. An app, or a script."""

import marimo

app = marimo.App(width="medium", app_title="saccade: softmax and erf")


@app.cell
def _():
    import marimo as mo
    import numpy as np
    import plotly.graph_objects as go

    from saccade.lab.notebooks import described, finished
    from saccade.studies.softmax_location import dynamics, theory

    return dynamics, described, finished, go, mo, np, theory


@app.cell
def _(mo):
    mo.md("""
        # Softmax or erf: who finds the token?
        Both layers score tokens along **k** and read them along **v**; the truth is k⋆, v⋆. Erf
        squashes each score by itself, softmax lets the tokens compete. Same random start, same
        exact descent in five numbers; move the inverse temperature λ and see where each one goes.
        Erf can *swap* (k becomes v⋆: η = k·v⋆ goes to ±1); softmax, with ten tokens, does not.
        """)
    return


@app.cell
def _(mo):
    temperature = mo.ui.slider(
        0.05, 1.2, step=0.05, value=0.1, label="inverse temperature λ", show_value=True)
    seed = mo.ui.slider(0, 30, step=1, value=3, label="random start", show_value=True)
    length = mo.ui.dropdown({"10": 10.0, "100": 100.0, "1000": 1e3}, value="10", label="tokens L")
    mo.hstack([temperature, seed, length], justify="start", wrap=True)
    return length, seed, temperature


@app.cell
def _(dynamics, length, np, seed, temperature, theory):
    setting = theory.Setting(100.0, length.value, temperature.value)
    start = dynamics.sphere_overlaps(np.random.default_rng(seed.value), 100, 1)
    stops = np.unique(np.geomspace(1, 16_000, 64).astype(int))
    ways = {
        kind: dynamics.trajectory(start, setting, 5e-3, stops, kind=kind)
        for kind in ("softmax", "erf")}
    return setting, ways


@app.cell
def _(described, finished, go, mo, setting, theory, ways):
    colours = {"softmax": "#0072B2", "erf": "#E69F00"}
    risk = go.Figure()
    turns = go.Figure()
    for kind, run in ways.items():
        risk.add_scatter(x=run.steps, y=run.risk[0], name=kind, line={"color": colours[kind]})
        for name, dash in (("kappa", "solid"), ("nu", "dash"), ("eta", "dot")):
            turns.add_scatter(
                x=run.steps, y=getattr(run.overlaps, name)[0], name=f"{kind} {name}",
                line={"color": colours[kind], "dash": dash})
    finished(
        risk, 430, 340, xaxis_title="step", yaxis_title="risk", yaxis_type="log", xaxis_type="log")
    finished(turns, 470, 340, xaxis_title="step", yaxis_title="overlap", xaxis_type="log")
    floor = theory.oracle_risk(setting), theory.erf_oracle_risk(setting)
    words = (
        f"At the truth softmax would have the risk **{floor[0]:.3g}**, erf **{floor[1]:.3g}** at"
        " this λ (never compare the two at one λ: each has its own best).")
    pictures = [
        described(risk, "Risk of softmax and erf along descent from one start."),
        described(turns, "The overlaps kappa, nu and eta of both along the same descent.")]
    mo.vstack([mo.md(words), mo.hstack(pictures, justify="start", wrap=True)])
    return


@app.cell
def _(mo, np, theory):
    dims = (10.0, 40.0, 80.0)
    rows = []
    for d in dims:
        best, erf = theory.best_inverse_temperature(d, 10.0), theory.best_erf(d, 10.0)
        bayes = theory.bayes_risk(theory.Setting(d, 10.0, 1.0))
        rows.append(
            f"| {d:g} | {bayes:.3g} | {best.risk:.3g} (λ = {best.inverse_temperature:.2f}) |"
            f" {erf.risk:.3g} (λ = {erf.inverse_temperature:.3f}) |"
            f" {np.sqrt(2 * d) / 1.5:.2f} |")
    table = "\n".join(rows)
    mo.md(f"""
## At the truth, ten tokens, each at its best λ
| d | Bayes | softmax | erf | law √(2d)/(1+γ²) of softmax's λ |
|---|---|---|---|---|
{table}
""")
    return


if __name__ == "__main__":
    app.run()
