"""Live: draw a partition of the patches, train the layer, see attention recover it."""

import marimo

app = marimo.App(width="medium", app_title="saccade: spatial structure")


with app.setup:
    import jax
    import jax.numpy as jnp
    import marimo as mo
    import numpy as np
    import plotly.graph_objects as go

    from saccade.errors import Diverged, InvalidInput
    from saccade.lab.notebooks import Looks, described, finished, now_you
    from saccade.studies.spatial.dynamics import descent
    from saccade.studies.spatial.models import association
    from saccade.studies.spatial.task import Spatial

    DRAWN = "abab\ncdcd\nabab\ncdcd"
    LAYER = descent.Layer()


@app.function
def sets_of(drawn):
    """The set of every patch, from a drawing of four rows of four letters."""
    letters = [letter for letter in drawn if not letter.isspace()]
    if len(letters) != 16:
        raise InvalidInput(f"partition = {len(letters)} letters must be 16, in four rows of four.")
    return [sorted(set(letters)).index(letter) for letter in letters]


@app.function
def trained(sets, rate=0.3, samples=2000, steps=100, eta_a=20.0):
    """The layer's descent on images with these sets, and its error on fresh ones."""
    task = Spatial.create(jax.random.key(1), sets, 8, rate)
    X, y, tests, answers = (
        jnp.asarray(part, jnp.float32) for number, count in ((2, samples), (3, 4000))
        for part in task.sample(jax.random.key(number), count)[:2])
    start = descent.random_start(jax.random.key(4), 16, 8, 1.0, 1e-3, jnp.float32)
    run = descent.realistic_descent(X, y, start, LAYER, 1e-2, eta_a, steps, max(steps // 20, 1))
    return run, float(descent.error_rate(tests, answers, run.A[-1], run.v[-1], LAYER))


@app.function
def looks(drawn=DRAWN, patch=5, run=None):
    """The learned similarity of one patch to the fifteen others along descent, as shares."""
    sets = sets_of(drawn)
    run = trained(sets)[0] if run is None else run
    rows = np.asarray(run.A)[:, patch].astype(float)
    rows = np.maximum(rows - rows.min(axis=1, keepdims=True), 0)
    rows[:, patch] = 0
    weights = rows / np.maximum(rows.max(), 1e-9)
    friends = [one for one in range(16) if sets[one] == sets[patch] and one != patch]
    others = [one for one in range(16) if sets[one] != sets[patch]]
    says = (
        "Whom one patch of sixteen is drawn to along descent: the three that belong to its set end"
        f" at {weights[-1, friends].mean():.2f} of the strongest pull, the twelve others at"
        f" {weights[-1, others].mean():.2f}.")
    steps = np.asarray(run.steps).tolist()
    return Looks(steps, weights.tolist(), friends, says, columns=4, asks=patch)


@app.cell
def _():
    mo.md("""
        # Which patches belong together?
        An image has 16 patches in four sets of four. In each image one set, chosen at random,
        carries the label in all its patches; the others show spurious signals at rate q. The layer
        is told neither the sets nor where they are. **Draw a partition**: four rows of four
        letters, each letter four times. Neighbours need not belong together.
        """)
    return


@app.cell
def _():
    drawn = mo.ui.text_area(value=DRAWN, rows=4, label="partition")
    rate = mo.ui.slider(0.05, 0.8, step=0.05, value=0.3, label="spurious rate q", show_value=True)
    samples = mo.ui.slider(
        steps=[200, 500, 1000, 2000, 4000], value=2000, label="training images", show_value=True)
    steps = mo.ui.slider(20, 200, step=20, value=100, label="gradient steps", show_value=True)
    eta_a = mo.ui.slider(
        steps=[2.0, 5.0, 10.0, 20.0, 40.0], value=20.0, label="step size of A", show_value=True)
    patch = mo.ui.slider(1, 16, step=1, value=6, label="look from patch", show_value=True)
    moment = mo.ui.slider(0, 20, step=1, value=20, label="moment of training")
    mo.vstack([
        mo.hstack(
            [drawn, mo.vstack([rate, samples, steps, eta_a])], justify="start", wrap=True),
        mo.hstack([patch, moment], justify="start", wrap=True)])
    return drawn, eta_a, moment, patch, rate, samples, steps


@app.cell
def _(drawn, eta_a, rate, samples, steps):
    try:
        sets = sets_of(drawn.value)
        run, wrong = trained(sets, rate.value, samples.value, steps.value, eta_a.value)
        problem = None
    except (InvalidInput, Diverged) as caught:
        sets, run, wrong, problem = [], None, 1.0, str(caught)
    return problem, run, sets, wrong


@app.cell
def _(drawn, moment, patch, problem, run, sets, steps, wrong):
    if run is None:
        answer = mo.callout(mo.md(problem), kind="warn")
    else:
        A = np.asarray(run.A[-1])
        seen = looks(drawn.value, patch.value - 1, run)
        found = association(A, sets)
        at = min(moment.value, len(seen.steps) - 1)
        names = np.array([letter for letter in drawn.value if not letter.isspace()]).reshape(4, 4)
        grid = go.Figure(go.Heatmap(
            z=np.reshape(seen.weights[at], (4, 4)), text=names, texttemplate="%{text}", zmin=0,
            zmax=1, colorscale="Blues", showscale=False))
        row, column = divmod(patch.value - 1, 4)  # the one that looks is framed
        grid.add_shape(
            type="rect", x0=column - 0.5, x1=column + 0.5, y0=row - 0.5, y1=row + 0.5,
            line={"color": "#E69F00", "width": 3})
        title = {"text": f"whom patch {patch.value} is drawn to, step {seen.steps[at]}"}
        finished(
            grid, 340, 340, title=title | {"font": {"size": 13}}, yaxis_autorange="reversed",
            xaxis_visible=False, yaxis_visible=False)
        order = np.argsort(sets, kind="stable")
        off = (A - np.diag(np.diag(A)))[np.ix_(order, order)]
        blocks = go.Figure(go.Heatmap(z=off, colorscale="Blues", showscale=False))
        title = {"text": "learned A at the end, patches sorted by your partition"}
        finished(blocks, 380, 380, title=title | {"font": {"size": 13}}, yaxis_autorange="reversed")
        shown = [
            described(grid, seen.says),
            described(blocks, "The learned matrix A as a map, patches sorted by the partition.")]
        rows = "all rows exact" if found.exact else "not all rows exact"
        told = (
            f"Each patch's top companions are right in **{found.off_diagonal_overlap:.0%}** of"
            f" places ({rows}); test error {wrong:.2%} after {steps.value} steps.")
        answer = mo.vstack([mo.md(told), mo.hstack(shown, justify="start", wrap=True)])
    mo.vstack([answer])
    return


@app.cell
def _():
    now_you("""
        Draw a partition that no eye would guess, and see whether labels alone reveal it. With how
        few images does it fail? Below, the same with your own numbers.
        """)
    return


@app.cell
def _():
    mine = "aabb\nccdd\nddcc\nbbaa"  # each letter four times: change it
    my_run, my_error = trained(sets_of(mine), rate=0.3, samples=500, steps=100)
    right = association(np.asarray(my_run.A[-1]), sets_of(mine)).off_diagonal_overlap
    mo.show_code(mo.md(f"{right:.0%} of the companions are right; test error {my_error:.2%}."))
    return


if __name__ == "__main__":
    app.run()
