"""Live: who detects a weak, rare signal, from how many samples? Run as an app, or as a script."""

import marimo

app = marimo.App(width="medium", app_title="saccade: sparse-token classification")


with app.setup:
    import jax
    import marimo as mo
    import numpy as np
    import plotly.graph_objects as go

    from saccade.errors import InvalidInput
    from saccade.lab.notebooks import Looks, described, finished, looking, now_you
    from saccade.studies.sparse_token import theory
    from saccade.studies.sparse_token.dynamics import joint_descent
    from saccade.studies.sparse_token.models import attention_map
    from saccade.studies.sparse_token.task import SparseToken, SparseTokenSetting

    STOPS = (0, 3, 6, 10, 15, 25, 50, 100, 200, 300)


@app.function
def looks(signal=5.0, samples=600, step_size=0.25, decay=0.0, seed=0, length=12, dim=40):
    """Attention on the tokens of a fresh positive sample along that descent; one token is shifted
    by theta along the hidden direction."""
    task = SparseToken.create(dim, length, 1, 0.5, float(signal))
    train = task.sample(jax.random.key(seed), samples)
    fresh = task.sample(jax.random.key(seed + 100), 40)
    shown = int(np.argmax(np.asarray(fresh.y) > 0))
    queries, _, _ = joint_descent(train.X, train.y, step_size, decay, STOPS[-1])
    weights = np.stack([np.asarray(attention_map(fresh.X[shown], queries[at])) for at in STOPS])
    [place] = np.flatnonzero(np.asarray(fresh.where[shown])).tolist()
    says = (
        f"Attention on {length} tokens of a new positive sample along gradient descent on"
        f" {samples} samples; one token carries the signal. Its share goes from"
        f" {weights[0, place]:.2f} to {weights[-1, place]:.2f}.")
    return Looks(list(STOPS), weights.tolist(), [place], says)


@app.cell
def _():
    mo.md("""
        # A weak signal in one token: watch attention find it
        In a positive sample one of twelve tokens is shifted by θ along a hidden direction; negative
        samples are pure noise. The layer is told the labels only. Both its query and its read-out
        start at zero and follow the gradient; what it looks at is shown for a sample it has never
        seen.
        """)
    return


@app.cell
def _():
    strength = mo.ui.slider(0.0, 8.0, step=0.5, value=5.0, label="signal θ", show_value=True)
    known = mo.ui.slider(
        steps=[50, 100, 200, 400, 600, 1000], value=600, label="training samples", show_value=True)
    size = mo.ui.slider(
        steps=[0.1, 0.25, 0.5, 1.0, 2.0], value=0.25, label="step size η", show_value=True)
    schedule = mo.ui.dropdown(
        {"constant": 0.0, "falls, η/(1 + t/30)": 1 / 30}, value="constant", label="schedule")
    moment = mo.ui.slider(
        steps=list(STOPS), value=STOPS[-1], label="gradient steps", show_value=True)
    mo.vstack([
        mo.hstack([strength, known], justify="start", wrap=True),
        mo.hstack([size, schedule, moment], justify="start", wrap=True)])
    return known, moment, schedule, size, strength


@app.cell
def _(known, moment, schedule, size, strength):
    seen = looks(strength.value, known.value, size.value, schedule.value)
    mo.vstack([mo.md(seen.says), looking(seen, STOPS.index(moment.value))])
    return


@app.cell
def _():
    mo.md("""
        ## Who could see it at all?
        Let R of L tokens carry the signal, and the direction be known. **Pooling** averages
        the tokens and needs θ of the order √L; **attention** looks at the loudest and needs about
        √(2 log L) + 3. Drag the signal and the length.
        """)
    return


@app.cell
def _():
    length = mo.ui.slider(
        steps=[4, 10, 30, 100, 300, 1000, 10_000, 100_000], value=100, label="tokens L",
        show_value=True)
    signal = mo.ui.slider(0.0, 10.0, step=0.25, value=4.0, label="signal θ", show_value=True)
    informative = mo.ui.slider(1, 4, step=1, value=1, label="informative tokens R", show_value=True)
    rate = mo.ui.slider(
        0.05, 0.95, step=0.05, value=0.5, label="share of positives π", show_value=True)
    mo.vstack([
        mo.hstack([length, signal], justify="start", wrap=True),
        mo.hstack([informative, rate], justify="start", wrap=True)])
    return informative, length, rate, signal


@app.cell
def _(informative, length, rate, signal):
    thetas = np.linspace(0, 10, 41)
    settings = [
        SparseTokenSetting(length.value, informative.value, rate.value, float(theta))
        for theta in thetas]
    errors = {
        "pooling, direction known": [theory.pooled_oracle_error(one).error for one in settings],
        "hard attention, direction known": [
            theory.hardmax_oracle_error(one).error for one in settings]}
    chart = go.Figure(
        [go.Scatter(x=thetas, y=values, name=name) for name, values in errors.items()])
    marks = {
        "log L": np.log(length.value), "√(2 log L)": np.sqrt(2 * np.log(length.value)),
        "√L / R": np.sqrt(length.value) / informative.value}
    for name, place in marks.items():
        if place <= 10:
            chart.add_vline(
                x=float(place), line_dash="dot", annotation_text=name, annotation_bgcolor="white")
    chart.add_vline(x=signal.value, line_color="#E69F00")
    finished(chart, 640, 360, xaxis_title="signal θ", yaxis_title="test error")
    here = SparseTokenSetting(length.value, informative.value, rate.value, signal.value)
    pooled, attended = (
        theory.pooled_oracle_error(here).error, theory.hardmax_oracle_error(here).error)
    ahead = "attention" if attended < pooled else "pooling"
    mo.vstack([
        mo.md(
            f"At θ = {signal.value}: pooling errs in {pooled:.2%}, hard attention in"
            f" {attended:.2%}; **{ahead}** wins."),
        described(
            chart,
            "Test error of pooling and of hard attention against the signal, the direction"
            " being known.")])
    return (here,)


@app.cell
def _():
    mo.md("""
        ## And when the direction has to be learned?
        The fitted classifier in the limit of many dimensions (square loss, so that the answer is a
        closed form). The query's alignment with the signal decides whether attention helps at all.
        """)
    return


@app.cell
def _():
    alignment = mo.ui.slider(
        -1.0, 1.0, step=0.05, value=0.8, label="alignment of the query", show_value=True)
    sharpness = mo.ui.slider(0.0, 4.0, step=0.25, value=1.5, label="sharpness", show_value=True)
    ridge = mo.ui.slider(steps=[1e-3, 1e-2, 0.1, 1.0], value=0.1, label="ridge", show_value=True)
    mo.hstack([alignment, sharpness, ridge], justify="start", wrap=True)
    return alignment, ridge, sharpness


@app.cell
def _(alignment, here, ridge, sharpness):
    samples = np.geomspace(0.3, 30, 9)
    # The limit needs the law of the features by quadrature: long sequences would not answer at
    # once.
    short = SparseTokenSetting(
        min(here.length, 100), here.informative, here.positive_rate, here.signal)
    picture = go.Figure()
    try:
        for model, options in (
            ("pooled", {}),
            ("attention", {"alignment": alignment.value, "sharpness": sharpness.value}),
        ):
            fits = theory.fit_curve(short, model, samples, ridge.value, "square", **options)
            picture.add_scatter(
                x=samples, y=[one.test_error for one in fits], name=model, mode="lines+markers")
        said = mo.md(
            f"Test error against samples per dimension at L = {short.length}."
            + (
                "" if short.length == here.length
                else " (Shown for 100 tokens, the longest that answers at once.)"))
    except InvalidInput as problem:
        said = mo.md(str(problem))
    finished(
        picture, 640, 340, xaxis_title="samples per dimension", xaxis_type="log",
        yaxis_title="test error")
    mo.vstack([
        said,
        described(
            picture, "Test error of the fitted classifiers against samples per dimension.")])
    return


@app.cell
def _():
    now_you("""
        Lower the signal until attention no longer finds the token: is it the step, or are there
        too few samples? Below, train on your own numbers and see the share of the right token.
        """)
    return


@app.cell
def _():
    mine = looks(signal=4.0, samples=300, step_size=2.0, decay=0.0, seed=1)  # change these
    share = mine.weights[-1][mine.where[0]]
    mo.show_code(mo.md(f"The right token has {share:.0%} of the attention."))
    return


if __name__ == "__main__":
    app.run()
