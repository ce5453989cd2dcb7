"""Live: who detects a weak, rare signal, from how many samples? Run as an app, or as a script."""

import marimo

app = marimo.App(width="medium", app_title="saccade: sparse-token classification")


@app.cell
def _():
    import marimo as mo
    import numpy as np
    import plotly.graph_objects as go

    from saccade.errors import InvalidInput
    from saccade.lab.notebooks import described, finished
    from saccade.studies.sparse_token import theory
    from saccade.studies.sparse_token.task import SparseTokenSetting

    return InvalidInput, SparseTokenSetting, described, finished, go, mo, np, theory


@app.cell
def _(mo):
    mo.md("""
        # A weak signal in a few tokens: who sees it?
        In a positive sample, R of L tokens are shifted by θ along a hidden direction. **Pooling**
        averages the tokens and needs θ of the order √L; **attention** looks at the loudest and
        needs about √(2 log L) + 3. Drag the signal and the length.
        """)
    return


@app.cell
def _(mo):
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
def _(
    SparseTokenSetting, described, finished, go, informative, length, mo, np, rate, signal, theory
):
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
            chart.add_vline(x=float(place), line_dash="dot", annotation_text=name)
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
def _(mo):
    mo.md("""
        ## And when the direction has to be learned?
        The fitted classifier in the limit of many dimensions (square loss, so that the answer is a
        closed form). The query's alignment with the signal decides whether attention helps at all.
        """)
    return


@app.cell
def _(mo):
    alignment = mo.ui.slider(
        -1.0, 1.0, step=0.05, value=0.8, label="alignment of the query", show_value=True)
    sharpness = mo.ui.slider(0.0, 4.0, step=0.25, value=1.5, label="sharpness", show_value=True)
    ridge = mo.ui.slider(steps=[1e-3, 1e-2, 0.1, 1.0], value=0.1, label="ridge", show_value=True)
    mo.hstack([alignment, sharpness, ridge], justify="start", wrap=True)
    return alignment, ridge, sharpness


@app.cell
def _(
    InvalidInput, SparseTokenSetting, alignment, described, finished, go, here, mo, np, ridge,
    sharpness, theory,
):
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


if __name__ == "__main__":
    app.run()
