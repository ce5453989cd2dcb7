"""Live: attention concentrates, locks or locks out, depending on the step size."""

import marimo

app = marimo.App(width="medium", app_title="saccade: group-sparse classification")


@app.cell
def _():
    import warnings

    import marimo as mo
    import numpy as np
    import plotly.graph_objects as go

    from saccade.lab.notebooks import described, finished
    from saccade.studies.group_sparse.dynamics.position_map import position_trajectory
    from saccade.studies.group_sparse.theory.laws import late_laws

    return described, finished, go, late_laws, mo, np, position_trajectory, warnings


@app.cell
def _(mo):
    mo.md("""
        # Which group of variables matters?
        One of D groups decides the label. With the feature part frozen, population descent is an
        exact map of two numbers: α, how far the value vector points along the truth, and the gap by
        which the relevant group is scored higher. Its softmax S is the attention on that group.
        Small steps **concentrate** it, S → 1 like t^(-2/3); large ones **lock** it at once, or
        **lock it out**.
        """)
    return


@app.cell
def _(mo):
    groups = mo.ui.slider(2, 64, step=1, value=8, label="groups D", show_value=True)
    eta = mo.ui.slider(
        steps=[0.01, 0.03, 0.1, 0.3, 1.0, 2.0, 3.0, 5.0, 10.0], value=0.3, label="step size η",
        show_value=True)
    steps = mo.ui.slider(
        steps=[100, 300, 1000, 3000, 10_000], value=3000, label="steps", show_value=True)
    mo.hstack([groups, eta, steps], justify="start", wrap=True)
    return eta, groups, steps


@app.cell
def _(
    described, eta, finished, go, groups, late_laws, mo, np, position_trajectory, steps, warnings
):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        record = np.unique(np.geomspace(1, steps.value, 80).astype(int)).tolist()
        run = position_trajectory(groups.value, eta.value, steps.value, record)
    law = [
        late_laws(groups.value, eta.value, float(step)).one_minus_attention for step in run.steps]
    chart = go.Figure()
    chart.add_scatter(
        x=run.steps, y=run.one_minus_attention, name="1 - S", line={"color": "#0072B2"})
    chart.add_scatter(x=run.steps, y=law, name="late law", line={"color": "black", "dash": "dash"})
    chart.add_scatter(x=run.steps, y=run.loss, name="loss", line={"color": "#E69F00"})
    finished(chart, 620, 380, xaxis_type="log", yaxis_type="log", xaxis_title="step")
    weights = np.full(groups.value, (1 - run.attention[-1]) / (groups.value - 1))
    weights[0] = run.attention[-1]
    bars = go.Figure(go.Bar(x=[f"{number}" for number in range(groups.value)], y=weights))
    axes = {"xaxis_title": "group (0 decides)", "yaxis_title": "attention"}
    finished(bars, 360, 260, yaxis_range=[0, 1], **axes)
    ends = f"S = {run.attention[-1]:.4f}, α = {run.alpha[-1]:.3f}, loss {run.loss[-1]:.4g}"
    notes = [f"After {steps.value} steps: {ends}.", run.advice]
    notes += [f"*{one.message}*" for one in caught]
    curves = described(
        chart,
        "Attention elsewhere, its late law, and the loss, against the step, both axes logarithmic.")
    columns = described(
        bars, f"Attention on each of the {groups.value} groups; group 0 decides the label.")
    mo.hstack([curves, mo.vstack([*map(mo.md, notes), columns])], justify="start", wrap=True)
    return


if __name__ == "__main__":
    app.run()
