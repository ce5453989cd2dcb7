"""Live: choose a task, a learner and a number of samples; see the error and where it looks. Run as
an app, or as a script."""

import marimo

app = marimo.App(width="medium", app_title="saccade: the atlas")


with app.setup:
    from typing import Any

    import jax
    import marimo as mo
    import numpy as np
    import plotly.graph_objects as go

    from saccade.lab import registry
    from saccade.lab.notebooks import Looks, described, finished, looking, now_you
    from saccade.studies.attention_atlas import theory
    from saccade.studies.attention_atlas.experiments import (
        POOL,
        Sizes,
        draw_of,
        find_learner,
        find_task,
        kind_of,
        met,
    )
    from saccade.studies.attention_atlas.figures import SAMPLES

    SIZES = (8, 16, 32, 64, 128, 256, 512, 800)
    LENGTH = DIM = 8


@app.function
def drawn(task, seed=0):
    """One draw of a task: samples to learn from, and fresh ones."""
    numbers = tuple(np.asarray(jax.random.key_data(jax.random.key(seed))).tolist())
    return draw_of(task, 0, Sizes(POOL, LENGTH, DIM, 1000, numbers))


@app.function
def fitted(task, learner, samples, seed=0):
    """The learner's model from so many samples, and the draw."""
    draw = drawn(task, seed)
    learns: Any = find_learner(learner).of(draw.kind)
    known = draw.known.rows(slice(samples))
    return learns.fit(known.X, known.y, key=jax.random.key(seed)), draw


@app.function
def looks(task="sparse-token-1", learner="softmax", seed=1, sizes=SIZES):
    """Attention on the tokens of one fresh sample, learned from more and more samples."""
    draw = drawn(task, seed)
    shown = int(np.argmax(draw.judged))
    weights = [
        fitted(task, learner, size, seed)[0].attention(draw.fresh.X[shown : shown + 1])[0]
        for size in sizes]
    where = np.flatnonzero(draw.fresh.where[shown]).tolist()
    says = (
        f"Attention of {learner!r} on the {LENGTH} tokens of a new sample of {task!r}, learned from"
        f" {sizes[0]} to {sizes[-1]} samples. The share of what matters goes from"
        f" {sum(weights[0][where]):.2f} to {sum(weights[-1][where]):.2f}.")
    return Looks(list(sizes), np.round(weights, 6).tolist(), where, says, "sample")


@app.function
def predicted(task, learner):
    """What theory says beforehand of this meeting, as a sentence; nothing where it is silent."""
    orderless = learner in ("pooled", "softmax", "softmax-2", "softmax-4", "erf", "max-pooled")
    if orderless and task == "split-0":
        bound = theory.blind_to_places_regression(LENGTH)
    elif orderless and task == "group-sparse":
        bound = theory.blind_to_places_classification(LENGTH)
    else:
        return "Theory has no closed form for this meeting."
    return f"A learner that does not see the order cannot come below **{bound:.3f}** here."


@app.cell
def _():
    mo.md("""
        # The atlas: which attention solves which sparsity
        Every learner meets every task. Excess error 0 is the best predictor that knows the task, 1
        is nothing learned. Tokens that matter are hidden from the learner; do its weights lie on
        them?
        """)
    return


@app.cell
def _():
    tasks = [one.id for one in registry.charted_tasks() if one.size is None]
    learners = [one.id for one in registry.charted_learners() if one.quick]
    task = mo.ui.dropdown(tasks, value="sparse-token-1", label="task")
    learner = mo.ui.dropdown(learners, value="softmax", label="learner")
    samples = mo.ui.slider(steps=list(SIZES), value=256, label="samples", show_value=True)
    mo.hstack([task, learner, samples], justify="start", wrap=True)
    return learner, samples, task


@app.cell
def _(learner, samples, task):
    able = kind_of(task.value, LENGTH, DIM) in find_learner(learner.value).kinds
    mo.stop(not able, mo.md("This learner takes labels only; the task has numbers."))
    found = met(find_learner(learner.value), drawn(task.value), samples.value, jax.random.key(0))
    mo.md(
        f"{find_task(task.value).says}; {find_learner(learner.value).says}. **Excess error"
        f" {found['excess']:.2f}**, AUROC of attention {found['auroc']:.2f}, heaviest token right"
        f" in {found['top1']:.0%}. {predicted(task.value, learner.value)}")
    return


@app.cell
def _(learner, samples, task):
    model, draw = fitted(task.value, learner.value, samples.value)
    six = np.flatnonzero(draw.judged)[:6]
    weights = model.attention(draw.fresh.X[six])
    numbers = [np.arange(1, count + 1) for count in weights.shape[::-1]]
    shades = {"colorscale": "Blues", "zmin": 0, "zmax": 1, "colorbar_title": "weight"}
    picture = go.Figure(go.Heatmap(x=numbers[0], y=numbers[1], z=weights, **shades))
    rows, columns = np.nonzero(draw.fresh.where[six])
    picture.add_scatter(
        x=columns + 1, y=rows + 1, mode="markers", name="matters", showlegend=True,
        marker={"symbol": "circle-open", "color": "#E69F00", "size": 16, "line": {"width": 3}})
    finished(picture, 560, 320, xaxis={"title": "token", "dtick": 1}, yaxis_title="new sample")
    described(picture, "Attention on the tokens of six new samples; circles are what matters.")
    return


@app.cell
def _(learner, task):
    seen = looks(task.value, learner.value, sizes=(8, 32, 128, 512))
    mo.vstack([mo.md(seen.says), looking(seen, 3)])
    return


@app.cell
def _():
    now_you("""
        Find a meeting with a small error whose weights lie elsewhere (erf attention with four
        informative tokens is one). Below, compare two learners on a task of your choice.
        """)
    return


@app.cell
def _():
    mine = {  # change these
        name: met(find_learner(name), drawn("moving-50"), SAMPLES[1], jax.random.key(0))["excess"]
        for name in ("softmax", "place", "content-place")
    }
    mo.show_code(mo.md(", ".join(f"{name}: {value:.2f}" for name, value in mine.items())))
    return


if __name__ == "__main__":
    app.run()
