"""Live: attention concentrates, locks or locks out, depending on the step size."""

import marimo

app = marimo.App(width="medium", app_title="saccade: group-sparse classification")

with app.setup:
    import warnings

    import marimo as mo
    import numpy as np
    import plotly.graph_objects as go

    from saccade.lab.notebooks import Looks, described, finished, looking, now_you
    from saccade.studies.group_sparse.dynamics.position_map import position_trajectory
    from saccade.studies.group_sparse.theory.laws import late_laws


@app.function
def descent(groups, eta, steps):
    """The exact two-number map, and what it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stops = np.unique(np.r_[0, np.geomspace(1, steps, 79).astype(int)]).tolist()
        return position_trajectory(groups, eta, steps, stops), [str(one.message) for one in caught]


@app.function
def looks(groups=8, eta=0.3, steps=3000, run=None, place=5):
    """Attention on every group along descent: S on the one that decides, the rest shared evenly,
    which is exact for this map."""
    run = descent(groups, eta, steps)[0] if run is None else run
    share = np.asarray(run.attention)[:, None]
    weights = np.repeat((1 - share) / (groups - 1), groups, axis=1)
    place = min(place, groups - 1)
    weights[:, place] = share[:, 0]
    says = (
        f"Attention on {groups} groups of variables along descent; one group decides the label. It"
        f" begins with {weights[0, place]:.2f} of the attention, as all do, and ends with"
        f" {weights[-1, place]:.3f}.")
    return Looks(np.asarray(run.steps).tolist(), weights.tolist(), [place], says)


@app.cell
def _():
    mo.md("""
        # Which group of variables matters?
        One of D groups decides the label. With the feature part frozen, population descent is an
        exact map of two numbers: α, how far the value vector points along the truth, and the gap by
        which the relevant group is scored higher. Its softmax S is the attention on that group.
        Small steps **concentrate** it, S → 1 like t<sup>−2/3</sup>; large ones **lock** it at once,
        or **lock it out**.
        """)
    return


@app.cell
def _():
    groups = mo.ui.slider(2, 64, step=1, value=8, label="groups D", show_value=True)
    eta = mo.ui.slider(
        steps=[0.01, 0.03, 0.1, 0.3, 1.0, 2.0, 3.0, 5.0, 10.0], value=0.3, label="step size η",
        show_value=True)
    steps = mo.ui.slider(
        steps=[100, 300, 1000, 3000, 10_000], value=3000, label="steps", show_value=True)
    mo.hstack([groups, eta, steps], justify="start", wrap=True)
    return eta, groups, steps


@app.cell
def _(eta, groups, steps):
    run, warned = descent(groups.value, eta.value, steps.value)
    moment = mo.ui.slider(
        0, len(run.steps) - 1, step=1, value=len(run.steps) - 1, label="moment of training")
    mo.hstack([moment])
    return moment, run, warned


@app.cell
def _(eta, groups, moment, run, steps, warned):
    seen = looks(groups.value, eta.value, steps.value, run)
    later = np.asarray(run.steps) > 0
    law = [
        late_laws(groups.value, eta.value, float(step)).one_minus_attention
        for step in np.asarray(run.steps)[later]]
    at = np.asarray(run.steps)[later]
    chart = go.Figure()
    chart.add_scatter(
        x=at, y=np.asarray(run.one_minus_attention)[later], name="1 - S", line={"color": "#0072B2"})
    chart.add_scatter(x=at, y=law, name="late law", line={"color": "black", "dash": "dash"})
    chart.add_scatter(x=at, y=np.asarray(run.loss)[later], name="loss", line={"color": "#E69F00"})
    finished(chart, 460, 340, xaxis_type="log", yaxis_type="log", xaxis_title="step")
    ends = f"S = {run.attention[-1]:.4f}, α = {run.alpha[-1]:.3f}, loss {run.loss[-1]:.4g}"
    notes = [f"After {steps.value:,} steps: **{ends}**.", run.advice]
    notes += [f"*{one}*" for one in warned]
    curves = described(
        chart,
        "Attention elsewhere, its late law, and the loss, against the step, both axes logarithmic.")
    bars = looking(seen, moment.value, "group")
    mo.vstack([*map(mo.md, notes), mo.hstack([bars, curves], justify="start", wrap=True)])
    return


@app.cell
def _():
    now_you("""
        Raise the step size until attention locks at once, then until it is locked out: how does
        the border move with D? Below, where steps of your own sizes end.
        """)
    return


@app.cell
def _():
    mine, tried = 16, (0.3, 1.0, 2.0, 3.0)  # groups, step sizes: change them
    found = {size: float(descent(mine, size, 1000)[0].attention[-1]) for size in tried}
    told = ", ".join(f"η = {size:g}: S = {share:.3f}" for size, share in found.items())
    mo.show_code(mo.md(f"With {mine} groups after 1000 steps: {told}."))
    return


if __name__ == "__main__":
    app.run()
