"""Live: draw a partition of the patches, train the layer, see attention recover it."""

import marimo

app = marimo.App(width="medium", app_title="saccade: spatial structure")


@app.cell
def _():
    import jax
    import jax.numpy as jnp
    import marimo as mo
    import numpy as np
    import plotly.graph_objects as go

    from saccade.errors import Diverged, InvalidInput
    from saccade.lab.notebooks import described, finished
    from saccade.studies.spatial.dynamics import descent
    from saccade.studies.spatial.models import association
    from saccade.studies.spatial.task import Spatial

    return (
        Diverged, InvalidInput, Spatial, association, described, finished, go, jax, jnp, mo, np,
        descent)


@app.cell
def _(mo):
    mo.md("""
        # Which patches belong together?
        An image has 16 patches in four sets of four. In each image one set, chosen at random,
        carries the label in all its patches; the others show spurious signals at rate q. The layer
        is told neither the sets nor where they are. **Draw a partition**: four rows of four
        letters, each letter four times. Neighbours need not belong together.
        """)
    return


@app.cell
def _(mo):
    drawn = mo.ui.text_area(value="abab\ncdcd\nabab\ncdcd", rows=4, label="partition")
    rate = mo.ui.slider(0.05, 0.8, step=0.05, value=0.3, label="spurious rate q", show_value=True)
    samples = mo.ui.slider(
        steps=[200, 500, 1000, 2000, 4000], value=2000, label="training images", show_value=True)
    steps = mo.ui.slider(20, 200, step=20, value=100, label="gradient steps", show_value=True)
    mo.hstack([drawn, mo.vstack([rate, samples, steps])], justify="start", wrap=True)
    return drawn, rate, samples, steps


@app.cell
def _(
    Diverged, InvalidInput, Spatial, association, drawn, described, finished, go, jax, jnp, mo, np,
    rate, descent, samples, steps,
):
    letters = [letter for letter in drawn.value if not letter.isspace()]
    try:
        if len(letters) != 16:
            raise InvalidInput(
                f"partition = {len(letters)} letters must be 16, in four rows of four.")
        sets = [sorted(set(letters)).index(letter) for letter in letters]
        task = Spatial.create(jax.random.key(1), sets, 8, rate.value)
        X, y, tests, answers = (
            jnp.asarray(part, jnp.float32) for number, count in ((2, samples.value), (3, 4000))
            for part in task.sample(jax.random.key(number), count)[:2])
        start = descent.random_start(jax.random.key(4), 16, 8, 1.0, 1e-3, jnp.float32)
        layer = descent.Layer()
        run = descent.realistic_descent(X, y, start, layer, 1e-2, 20.0, steps.value, 20)
        A, v = np.asarray(run.A[-1]), run.v[-1]
        looks = association(A, sets)
        wrong = float(descent.error_rate(tests, answers, run.A[-1], v, layer))
        order = np.argsort(sets, kind="stable")
        maps = [
            (A, "as the layer sees them"), (A[np.ix_(order, order)], "sorted by your partition")]
        shown = []
        for values, words in maps:
            off = values - np.diag(np.diag(values))
            picture = go.Figure(go.Heatmap(z=off, colorscale="Blues", showscale=False))
            title = {"text": f"learned A, patches {words}", "font": {"size": 13}}
            finished(picture, 400, 400, title=title, yaxis_autorange="reversed")
            shown.append(described(picture, f"The learned matrix A as a map, patches {words}."))
        rows = "all rows exact" if looks.exact else "not all rows exact"
        told = (
            f"Each patch's top companions are right in **{looks.off_diagonal_overlap:.0%}** of"
            f" places ({rows}); test error {wrong:.2%} after {steps.value} steps.")
        answer = mo.vstack([mo.md(told), mo.hstack(shown, justify="start", wrap=True)])
    except (InvalidInput, Diverged) as problem:
        answer = mo.callout(mo.md(str(problem)), kind="warn")
    mo.vstack([answer])
    return


if __name__ == "__main__":
    app.run()
