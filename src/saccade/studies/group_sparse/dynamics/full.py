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
from saccade.studies.group_sparse.dynamics.recording import follow, plan_record
from saccade.studies.group_sparse.models import layer
from saccade.studies.group_sparse.models.encodings import Encoding
from saccade.studies.group_sparse.models.explicit import evaluate
from saccade.studies.group_sparse.models.layer import PAPER_LAYER, Architecture, Parameters, Tokens
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


def observe(
    parameters: Parameters, architecture: Architecture, task: GroupSparseTask,
    held_out: GroupSparseSample, token_batch: Tokens,
) -> Observables:
    """Everything of `Observables` at these parameters; `token_batch` holds the tokens of
    `held_out`."""
    total = layer.output(parameters, architecture, token_batch)
    margins = held_out.y * total
    maps = layer.attention_maps(parameters, architecture, token_batch)
    reading = layer.value_direction(parameters, architecture)
    features, positions = reading[: task.dim], reading[task.dim :]
    size = jnp.linalg.norm(features)
    return Observables(
        loss=jnp.mean(jax.nn.softplus(-margins)), error=jnp.mean(margins <= 0, dtype=float),
        attention=jnp.mean(maps, axis=(1, 3)),
        # No direction yet at v = 0: its alignment is called 0.
        alignment=features @ task.direction / jnp.where(size > 0, size, 1.0), value_norm=size,
        value_position_norm=jnp.linalg.norm(positions),
        block_norms=jax.vmap(lambda weights: _block_norms(weights, task.dim))(parameters.attention))


def _block_norms(weights: Float[Array, "token_dim token_dim"], split: int) -> Float[Array, " 4"]:
    """|W11|, |W12|, |W21|, |W22|."""
    blocks = (
        weights[:split, :split], weights[:split, split:], weights[split:, :split],
        weights[split:, split:])
    return jnp.stack([jnp.sqrt(jnp.sum(block**2)) for block in blocks])


class FullTrajectory(NamedTuple):
    """Rows of `observables` follow `steps`; `parameters` are those after the last recorded step."""

    steps: Int[np.ndarray, " records"]
    observables: Observables
    parameters: Parameters
    diverged_at: int
    advice: str


def gradient(
    parameters: Parameters, architecture: Architecture, token_batch: Tokens, y: Float[Array, " n"]
) -> Parameters:
    """d(mean loss)/d(parameters): written out for the paper's layer (twice as fast), automatic for
    its variants."""
    if architecture == PAPER_LAYER:
        exact = evaluate(token_batch, y, parameters.attention[0], parameters.value)
        return Parameters(exact.grad_attention_weights[None], exact.grad_value, parameters.hidden)
    return jax.grad(layer.logistic_loss)(parameters, architecture, token_batch, y)


@partial(jax.jit, static_argnames=("architecture", "batch", "held_out"))
def full_run(
    key: PRNGKeyArray, task: GroupSparseTask, matrix: Float[Array, "encoding_dim groups"],
    start: Parameters, step_size, stops: Int[Array, " records"], data: GroupSparseSample | None,
    architecture: Architecture, batch: int, held_out: int,
    attention_speed: float | Float[Array, ""] = 1.0,
):
    """The traceable run (use it under `jax.vmap` over keys, starts or step sizes); with `data`
    every step sees the same sample.

    `attention_speed` multiplies the steps of W alone; 0 freezes attention where it starts.
    """
    batch_key, held_out_key = jax.random.split(key)
    judge = task.sample(held_out_key, held_out)
    judge_tokens = layer.tokens(judge.X, matrix)

    def step(parameters: Parameters, number) -> Parameters:
        drawn = task.sample(jax.random.fold_in(batch_key, number), batch) if data is None else data
        slope = gradient(parameters, architecture, layer.tokens(drawn.X, matrix), drawn.y)
        slope = slope._replace(attention=attention_speed * slope.attention)
        return jax.tree.map(lambda old, change: old - step_size * change, parameters, slope)

    def look(parameters: Parameters) -> Observables:
        return observe(parameters, architecture, task, judge, judge_tokens)

    return follow(step, look, start, stops)


def full_trajectory(
    key: PRNGKeyArray, task: GroupSparseTask, encoding: Encoding, step_size: float, steps: int,
    record: Sequence[int] | None = None, start: Parameters | None = None,
    architecture: Architecture = PAPER_LAYER, batch: int = 1000, held_out: int = 4000,
    data: GroupSparseSample | None = None,
) -> FullTrajectory:
    """Descend from `start` [zero] with fresh batches of `batch` samples, or on `data`; watched on
    `held_out` fresh samples."""
    groups = encoding.matrix.shape[1]
    require(
        groups == task.length, "encoding", f"for {groups} groups",
        f"must have the {task.length} groups of the task")
    eta = check_positive(step_size, "step_size")
    batch, held_out = whole_number(batch, "batch", 1), whole_number(held_out, "held_out", 1)
    kept = plan_record(steps, record)
    warn_if_unstable(task.length, eta, float(task.scale))
    initial = (
        layer.zeros(task.dim + encoding.matrix.shape[0], architecture) if start is None else start)
    ended, rows = full_run(
        key, task, encoding.matrix, initial, eta, kept.stops, data, architecture=architecture,
        batch=batch, held_out=held_out)
    diverged_at = int(ended.diverged_at)
    observables = jax.tree.map(lambda row: np.asarray(row)[kept.order], rows)
    return FullTrajectory(
        kept.asked, observables, ended.state, diverged_at, divergence_report(diverged_at, eta))
