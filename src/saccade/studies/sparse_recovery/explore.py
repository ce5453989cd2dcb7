"""Live: one problem, all algorithms side by side. Run as an app, or from top to bottom."""

import marimo

app = marimo.App(width="medium", app_title="saccade: sparse recovery")


@app.cell
def _():
    import jax
    import jax.numpy as jnp
    import marimo as mo
    import numpy as np
    import plotly.graph_objects as go

    from saccade.lab.notebooks import described, finished
    from saccade.studies.sparse_recovery.models.unrolled import ALGORITHMS, unroll
    from saccade.studies.sparse_recovery.task import SparseRecovery

    return (ALGORITHMS, SparseRecovery, described, finished, go, jax, jnp, mo, np, unroll)


@app.cell
def _(mo):
    mo.md("""
        # One problem, every algorithm
        A vector with S of 20 entries different from zero is measured N times. ISTA and FISTA
        descend on the LASSO; coordinate descent solves it entry by entry; ALISTA takes a weight
        computed from the matrix; LISTA-VM, which a transformer can execute layer by layer, takes
        a step that does not know the matrix. Raise the scale of X and watch it diverge where the
        others do not.
        """)
    return


@app.cell
def _(mo):
    rows = mo.ui.slider(2, 40, step=1, value=10, label="measurements N", show_value=True)
    sparsity = mo.ui.slider(1, 8, step=1, value=3, label="non-zeros S", show_value=True)
    lam = mo.ui.slider(
        steps=[0.01, 0.03, 0.1, 0.3, 1.0, 2.0], value=0.3, label="λ", show_value=True)
    step = mo.ui.slider(0.1, 2.0, step=0.1, value=0.6, label="LISTA-VM step", show_value=True)
    scale = mo.ui.slider(0.5, 2.0, step=0.1, value=1.0, label="scale of X", show_value=True)
    seed = mo.ui.slider(0, 20, step=1, value=0, label="problem", show_value=True)
    mo.vstack([
        mo.hstack([rows, sparsity, seed], justify="start", wrap=True),
        mo.hstack([lam, step, scale], justify="start", wrap=True)])
    return lam, rows, scale, seed, sparsity, step


@app.cell
def _(
    ALGORITHMS, SparseRecovery, described, finished, go, jax, jnp, lam, mo, np, rows, scale, seed,
    sparsity, step, unroll,
):
    # Always 40 rows, of which the first N count: one compiled program serves every N.
    task = SparseRecovery.create(measurements=40, sparsity=sparsity.value)
    one = task.sample(jax.random.key(seed.value), 1)
    used = (np.arange(40) < rows.value) * scale.value
    X, y, truth = np.asarray(one.X) * used[:, None], np.asarray(one.y) * used, np.asarray(one.beta)
    layers = {
        name: ALGORITHMS[name].start(40, lam=lam.value) for name in ("ista", "fista", "cd")} | {
        "alista": {"gamma": jnp.full(40, 0.6), "theta": jnp.geomspace(0.7, 0.02, 40)},
        "lista-vm": ALGORITHMS["lista-vm"].start(40, step=step.value, threshold=0.05)}
    count = jnp.asarray([rows.value])
    ways = {
        name: np.asarray(unroll(name, layer, X, y, count=count))[:, 0]
        for name, layer in layers.items()}
    curves = go.Figure([
        go.Scatter(
            x=np.arange(1, 41), y=np.minimum(((way - truth) ** 2).sum(1), 1e6), name=name)
        for name, way in ways.items()])
    finished(
        curves, 560, 400, xaxis_title="iteration or layer", yaxis_title="squared error",
        yaxis_type="log")
    places = list(range(20))
    stems = go.Figure(go.Bar(x=places, y=truth[0], name="truth", marker_color="black", width=0.25))
    for name in ("fista", "lista-vm"):
        stems.add_scatter(x=places, y=ways[name][-1], mode="markers", name=name)
    finished(
        stems, 560, 300, xaxis_title="coordinate", yaxis_title="value after 40", yaxis_range=[-3, 3]
    )
    shown = (
        (curves, "Squared error of every algorithm against its iteration, on a logarithmic axis."),
        (
            stems,
            "The true coefficients, and those found by FISTA and LISTA-VM after 40 iterations."))
    mo.vstack([mo.hstack([described(*pair) for pair in shown], justify="start", wrap=True)])
    return


if __name__ == "__main__":
    app.run()
