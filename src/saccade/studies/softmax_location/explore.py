"""Live: erf and softmax side by side from the same start. An app, or a script."""

import marimo

app = marimo.App(width="medium", app_title="saccade: softmax and erf")

with app.setup:
    import marimo as mo
    import numpy as np
    import plotly.graph_objects as go
    from scipy.special import erf, softmax

    from saccade.lab.notebooks import Looks, described, finished, looking, now_you
    from saccade.studies.softmax_location import dynamics, theory

    DIM = 100.0
    COLOURS = {"softmax": "#0072B2", "erf": "#E69F00"}


@app.function
def descents(inverse_temperature, length, seed, steps, decay=0.0):
    """Exact descent in five numbers of both layers from one random start, lambda_t = lambda/(1 +
    decay t)."""
    setting = theory.Setting(DIM, float(length), inverse_temperature)
    start = dynamics.sphere_overlaps(np.random.default_rng(seed), int(DIM), 1)
    stops = np.unique(np.geomspace(1, steps, 64).astype(int)).tolist()
    return {
        kind: dynamics.trajectory(start, setting, 5e-3, stops, decay=decay, kind=kind)
        for kind in ("softmax", "erf")}


@app.function
def looks(
    inverse_temperature=1.0, length=10, seed=8, steps=16_000, decay=0.0, kind="softmax", run=None
):
    """Weights of the tokens of one sequence along descent: softmax(lambda X k), or |erf(lambda X
    k)|. What k has outside k* and v* is one random direction."""
    if run is None:
        run = descents(inverse_temperature, length, seed, steps, decay)[kind]
    along = np.random.default_rng(7).standard_normal((3, int(length)))  # k*, v*, the rest of k
    place = int(length) // 3
    along[:, place] *= np.sqrt(0.5)
    along[0, place] += np.sqrt(DIM / 2)
    kappa, eta = run.overlaps.kappa[0], run.overlaps.eta[0]
    rest = np.sqrt(np.maximum(1 - kappa**2 - eta**2, 0))
    cooled = inverse_temperature / (1 + decay * run.steps)
    scores = cooled[:, None] * (np.stack([kappa, eta, rest], axis=1) @ along)
    weights = softmax(scores, axis=1) if kind == "softmax" else np.abs(erf(scores))
    says = (
        f"Weights of {kind} on {int(length)} tokens along descent from a random start; one token"
        f" carries the answer. Its weight goes from {weights[0, place]:.2f} to"
        f" {weights[-1, place]:.2f}.")
    return Looks(run.steps.tolist(), weights.tolist(), [place], says)


@app.cell
def _():
    mo.md("""
        # Softmax or erf: who finds the token?
        Both layers score tokens along **k** and read them along **v**; the truth is k⋆, v⋆. Erf
        squashes each score by itself, softmax lets the tokens compete. Same random start, same
        exact descent in five numbers; move the inverse temperature λ and see where each one goes.
        Erf can *swap* (k becomes v⋆: η = k·v⋆ goes to ±1); softmax, with ten tokens, does not.
        """)
    return


@app.cell
def _():
    temperature = mo.ui.slider(
        0.05, 1.2, step=0.05, value=1.0, label="inverse temperature λ", show_value=True)
    schedule = mo.ui.dropdown(
        {"constant": 0.0, "falls, λ/(1 + t/10⁴)": 1e-4, "falls faster, λ/(1 + t/10³)": 1e-3},
        value="constant", label="schedule")
    steps = mo.ui.slider(
        steps=[1000, 4000, 16_000, 64_000], value=16_000, label="steps", show_value=True)
    seed = mo.ui.slider(0, 30, step=1, value=8, label="random start", show_value=True)
    length = mo.ui.dropdown({"10": 10.0, "30": 30.0, "100": 100.0}, value="10", label="tokens L")
    mo.vstack([
        mo.hstack([temperature, schedule, steps], justify="start", wrap=True),
        mo.hstack([seed, length], justify="start", wrap=True)])
    return length, schedule, seed, steps, temperature


@app.cell
def _(length, schedule, seed, steps, temperature):
    ways = descents(temperature.value, length.value, seed.value, steps.value, schedule.value)
    setting = theory.Setting(DIM, length.value, temperature.value)
    moments = len(ways["softmax"].steps)
    moment = mo.ui.slider(0, moments - 1, step=1, value=moments - 1, label="moment of training")
    mo.hstack([moment])
    return moment, setting, ways


@app.cell
def _(length, moment, schedule, seed, steps, temperature, ways):
    asked = temperature.value, length.value, seed.value, steps.value, schedule.value
    bars = [
        looking(looks(*asked, kind, ways[kind]), moment.value, weight=f"{kind}'s weight")
        for kind in ways]
    ends = {kind: (run.overlaps.kappa[0, -1], run.risk[0, -1]) for kind, run in ways.items()}
    told = "; ".join(
        f"**{kind}** looks right by κ = {kappa:.3f}, risk {risk:.3g}"
        for kind, (kappa, risk) in ends.items())
    mo.vstack([
        mo.md(f"After {steps.value:,} steps: {told}."),
        mo.hstack(bars, justify="start", wrap=True)])
    return


@app.cell
def _(setting, ways):
    risk = go.Figure()
    turns = go.Figure()
    for kind, run in ways.items():
        risk.add_scatter(x=run.steps, y=run.risk[0], name=kind, line={"color": COLOURS[kind]})
        for name, dash in (("kappa", "solid"), ("nu", "dash"), ("eta", "dot")):
            turns.add_scatter(
                x=run.steps, y=getattr(run.overlaps, name)[0], name=f"{kind} {name}",
                line={"color": COLOURS[kind], "dash": dash})
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
def _():
    rows = []
    for d in (10.0, 40.0, 80.0):
        best, single = theory.best_inverse_temperature(d, 10.0), theory.best_erf(d, 10.0)
        bayes = theory.bayes_risk(theory.Setting(d, 10.0, 1.0))
        rows.append(
            f"| {d:g} | {bayes:.3g} | {best.risk:.3g} (λ = {best.inverse_temperature:.2f}) |"
            f" {single.risk:.3g} (λ = {single.inverse_temperature:.3f}) |"
            f" {np.sqrt(2 * d) / 1.5:.2f} |")
    table = "\n".join(rows)
    mo.md(f"""
## At the truth, ten tokens, each at its best λ
| d | Bayes | softmax | erf | law √(2d)/(1+γ²) of softmax's λ |
|---|---|---|---|---|
{table}
""")
    return


@app.cell
def _():
    now_you("""
        Which random start makes erf swap at λ = 0.1 while softmax recovers? Does a falling λ help
        softmax? Below, count over many starts.
        """)
    return


@app.cell
def _():
    mine, tried = 0.1, range(8)  # λ and the random starts: change them
    ends_of = [descents(mine, 10.0, one, 16_000) for one in tried]
    right = {
        kind: sum(abs(ways[kind].overlaps.nu[0, -1]) > 0.9 for ways in ends_of) for kind in COLOURS}
    mo.show_code(mo.md(
        f"Of {len(tried)} starts, softmax reads right in {right['softmax']}, erf in"
        f" {right['erf']}."))
    return


if __name__ == "__main__":
    app.run()
