"""Gradient descent of the full-dimensional layer, any variant: on fresh batches (the population, up
to noise) or on one fixed sample.

This is the check of the reduced maps and the only engine for what they do not cover: other
encodings, other starts, split or correlated signals, residual / LayerNorm / MLP / two layers,
finite samples. v2, W12 and W21 vanish in expectation only; with batches they random-walk.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from saccade.descent import divergence_report
from saccade.errors import require
from saccade.studies.group_sparse import models
from saccade.studies.group_sparse.dynamics import follow, plan_record
from saccade.studies.group_sparse.models import PAPER_LAYER, Parameters, Transformer
from saccade.studies.group_sparse.task import (
    GroupSparseSample,
    GroupSparseTask,
    check_positive,
    whole_number,
)
from saccade.studies.group_sparse.theory.stability import warn_if_unstable


class Observables(NamedTuple):
    """Scalars of one state, on a held-out batch.

    loss, error: mean logistic loss and P(y f <= 0); attention: mean over samples and queries of
    S_{g,j} for every group g, layer by layer;
    alignment: cos(v1, v*); value_norm, value_position_norm: |v1|, |v2|; block_norms: Frobenius
    norms of W11, W12, W21, W22, layer by layer.
    """

    loss: Float[Array, "..."]
    error: Float[Array, "..."]
    attention: Float[Array, "... layers groups"]
    alignment: Float[Array, "..."]
    value_norm: Float[Array, "..."]
    value_position_norm: Float[Array, "..."]
    block_norms: Float[Array, "... layers 4"]


def observe(model: Transformer, task: GroupSparseTask, judge: GroupSparseSample) -> Observables:
    """`Observables` of a model on held-out samples; an MLP reads along U^T v (its linear part up to
    the factor 1/2 of a ReLU on symmetric input)."""
    margins, parameters = judge.y * model(judge.X), model.parameters
    hidden = model.architecture.hidden
    reads = parameters.hidden.T @ parameters.value if hidden else parameters.value
    features, positions = reads[: task.dim], reads[task.dim :]
    size, (d, W) = jnp.linalg.norm(features), (task.dim, parameters.attention)
    blocks = W[:, :d, :d], W[:, :d, d:], W[:, d:, :d], W[:, d:, d:]
    return Observables(
        loss=jnp.mean(jax.nn.softplus(-margins)), error=jnp.mean(margins <= 0, dtype=float),
        attention=jnp.mean(model.maps(judge.X), axis=(1, 3)),
        # No direction yet at v = 0: its alignment is called 0.
        alignment=features @ task.direction / jnp.where(size > 0, size, 1.0), value_norm=size,
        value_position_norm=jnp.linalg.norm(positions),
        block_norms=jnp.stack([jnp.linalg.norm(block, axis=(1, 2)) for block in blocks], axis=-1))


class FullTrajectory(NamedTuple):
    """Rows of `observables` follow the record; `model` is that after its last step, and `advice`
    says what to change if it diverged."""

    observables: Observables
    model: Transformer
    advice: str


def gradient(model: Transformer, X: models.Inputs, y: Float[Array, " n"]) -> Parameters:
    """Of the mean loss: written out for the paper's layer (twice as fast), else automatic."""
    parameters = model.parameters
    if model.architecture == PAPER_LAYER:
        rows = models.tokens(X, model.matrix)
        exact = models.evaluate(rows, y, parameters.attention[0], parameters.value)
        return Parameters(exact.grad_attention_weights[None], exact.grad_value, parameters.hidden)
    return jax.grad(lambda moved: model.at(moved).loss(X, y))(parameters)


@partial(jax.jit, static_argnames=("batch", "held_out"))
def full_run(
    key: PRNGKeyArray, task: GroupSparseTask, start: Transformer, step_size,
    stops: Int[Array, " records"], data: GroupSparseSample | None = None, batch: int = 1,
    held_out: int = 2, attention_speed: float | Float[Array, ""] = 1.0,
):
    """The traceable run: parameters at the end, and `Observables` at the stops. With `data` every
    step sees the same sample; `attention_speed` multiplies the steps of W alone."""
    batch_key, held_out_key = jax.random.split(key)
    judge = task.sample(held_out_key, held_out)

    def step(parameters: Parameters, number) -> Parameters:
        drawn = task.sample(jax.random.fold_in(batch_key, number), batch) if data is None else data
        change = gradient(start.at(parameters), drawn.X, drawn.y)
        change = change._replace(attention=attention_speed * change.attention)
        return jax.tree.map(lambda old, part: old - step_size * part, parameters, change)

    def look(parameters: Parameters) -> Observables:
        return observe(start.at(parameters), task, judge)

    return follow(step, look, start.parameters, stops)


def full_trajectory(
    key: PRNGKeyArray, task: GroupSparseTask, start: Transformer, step_size: float, steps: int,
    record: Sequence[int] | None = None, batch: int = 1000, held_out: int = 4000,
    data: GroupSparseSample | None = None,
) -> FullTrajectory:
    """Descend on fresh batches, or on `data`; watched on fresh samples."""
    groups = start.matrix.shape[1]
    require(
        groups == task.length, "start", f"for {groups} groups",
        f"must have the {task.length} groups of the task")
    eta, kept = check_positive(step_size, "step_size"), plan_record(steps, record)
    batch, held_out = whole_number(batch, "batch", 1), whole_number(held_out, "held_out", 1)
    warn_if_unstable(task.length, eta, float(task.scale))
    ended, rows = full_run(key, task, start, eta, kept.stops, data, batch, held_out)
    advice = divergence_report(int(ended.diverged_at), eta)
    observables = jax.tree.map(lambda row: np.asarray(row)[kept.order], rows)
    return FullTrajectory(observables, start.at(ended.state), advice)
