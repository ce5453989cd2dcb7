"""Live: one problem, all algorithms side by side. Run as an app, or from top to bottom."""

import marimo

app = marimo.App(width="medium", app_title="saccade: sparse recovery")


with app.setup:
    import jax
    import jax.numpy as jnp
    import marimo as mo
    import numpy as np
    import plotly.graph_objects as go

    from saccade.lab.notebooks import Looks, described, finished, looking, now_you
    from saccade.studies.sparse_recovery.models.unrolled import ALGORITHMS, unroll
    from saccade.studies.sparse_recovery.task import SparseRecovery

    LAYERS = 40


@app.function
def ways(rows=20, sparsity=3, lam=0.1, step=0.6, threshold=0.05, scale=1.0, seed=8):
    """One problem, and the iterates of every algorithm on it. Always 40 rows, of which the first N
    count: one compiled program serves every N."""
    task = SparseRecovery.create(measurements=40, sparsity=sparsity)
    one = task.sample(jax.random.key(seed), 1)
    used = (np.arange(40) < rows) * scale
    X, y, truth = np.asarray(one.X) * used[:, None], np.asarray(one.y) * used, np.asarray(one.beta)
    layers = {name: ALGORITHMS[name].start(LAYERS, lam=lam) for name in ("ista", "fista", "cd")} | {
        "alista": {"gamma": jnp.full(LAYERS, 0.6), "theta": jnp.geomspace(0.7, 0.02, LAYERS)},
        "lista-vm": ALGORITHMS["lista-vm"].start(LAYERS, step=step, threshold=threshold)}
    count = jnp.asarray([rows])
    return truth, {
        name: np.asarray(unroll(name, layer, X, y, count=count))[:, 0]
        for name, layer in layers.items()}


@app.function
def looks(name="lista-vm", found=None):
    """How large each coefficient is, layer by layer: the columns of the matrix are the tokens, and
    those of the support matter."""
    truth, every = ways() if found is None else found
    sizes = np.abs(np.concatenate([np.zeros((1, truth.shape[-1])), every[name]]))
    sizes = np.minimum(np.nan_to_num(sizes, nan=1e3), 1e3)
    support = np.flatnonzero(truth[0]).tolist()
    rest = np.delete(sizes[-1], support).max()
    says = (
        f"Sizes of {truth.shape[-1]} coefficients layer by layer under {name}; {len(support)} are"
        f" not zero in truth. At the end those have sizes from {sizes[-1, support].min():.2f} on,"
        f" the largest other {rest:.2f}.")
    return Looks(list(range(len(sizes))), sizes.tolist(), support, says, unit="layer")


@app.cell
def _():
    mo.md("""
        # One problem, every algorithm
        A vector with S of 20 entries different from zero is measured N times. ISTA and FISTA
        descend on the LASSO; coordinate descent solves it entry by entry; ALISTA takes a weight
        computed from the matrix; LISTA-VM, which a transformer can execute layer by layer, takes
        a step that does not know the matrix. Step through its layers: which columns does it keep?
        Then raise the scale of X and watch it diverge where the others do not.
        """)
    return


@app.cell
def _():
    rows = mo.ui.slider(2, 40, step=1, value=20, label="measurements N", show_value=True)
    sparsity = mo.ui.slider(1, 8, step=1, value=3, label="non-zeros S", show_value=True)
    lam = mo.ui.slider(
        steps=[0.01, 0.03, 0.1, 0.3, 1.0, 2.0], value=0.1, label="λ", show_value=True)
    step = mo.ui.slider(0.1, 2.0, step=0.1, value=0.6, label="LISTA-VM step", show_value=True)
    scale = mo.ui.slider(0.5, 2.0, step=0.1, value=1.0, label="scale of X", show_value=True)
    seed = mo.ui.slider(0, 20, step=1, value=8, label="problem", show_value=True)
    mo.vstack([
        mo.hstack([rows, sparsity, seed], justify="start", wrap=True),
        mo.hstack([lam, step, scale], justify="start", wrap=True)])
    return lam, rows, scale, seed, sparsity, step


@app.cell
def _(lam, rows, scale, seed, sparsity, step):
    problem = ways(rows.value, sparsity.value, lam.value, step.value, 0.05, scale.value, seed.value)
    layer = mo.ui.slider(0, LAYERS, step=1, value=LAYERS, label="layer", show_value=True)
    mo.hstack([layer])
    return layer, problem


@app.cell
def _(layer, problem):
    truth, every = problem
    bars = [
        looking(looks(name, problem), layer.value, "coordinate", f"size under {name}")
        for name in ("lista-vm", "fista")]
    curves = go.Figure([
        go.Scatter(
            x=np.arange(1, LAYERS + 1), y=np.minimum(((way - truth) ** 2).sum(1), 1e6),
            name=name)
        for name, way in every.items()])
    finished(
        curves, 520, 360, xaxis_title="iteration or layer", yaxis_title="squared error",
        yaxis={"type": "log", "exponentformat": "power", "dtick": 1})
    places = list(range(1, 21))  # as the bars above count them
    stems = go.Figure(go.Bar(x=places, y=truth[0], name="truth", marker_color="black", width=0.25))
    for name in ("fista", "lista-vm"):
        stems.add_scatter(x=places, y=every[name][-1], mode="markers", name=name)
    finished(
        stems, 520, 360, xaxis_title="coordinate", yaxis_title="value after 40 iterations",
        yaxis_range=[-3, 3])
    shown = (
        (curves, "Squared error of every algorithm against its iteration, on a logarithmic axis."),
        (
            stems,
            "The true coefficients, and those found by FISTA and LISTA-VM after 40 iterations."))
    mo.vstack([
        mo.md(looks("lista-vm", problem).says), mo.hstack(bars, justify="start", wrap=True),
        mo.hstack([described(*pair) for pair in shown], justify="start", wrap=True)])
    return


@app.cell
def _():
    now_you("""
        With how few measurements is the support still found? At which scale of X does LISTA-VM
        diverge, and what step would have saved it? Below, many problems at once.
        """)
    return


@app.cell
def _():
    mine = {"rows": 30, "sparsity": 3, "step": 0.6, "scale": 1.0}  # change these
    right = 0
    for one in range(10):
        true, found = ways(seed=one, **mine)
        largest = np.argsort(-np.abs(found["lista-vm"][-1]))[: mine["sparsity"]]
        right += set(largest.tolist()) == set(np.flatnonzero(true[0]).tolist())
    mo.show_code(mo.md(f"LISTA-VM finds the support in {right} of 10 problems."))
    return


if __name__ == "__main__":
    app.run()
