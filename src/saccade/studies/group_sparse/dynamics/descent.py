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
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from saccade.errors import require
from saccade.studies.group_sparse.dynamics.observables import Observables, observe
from saccade.studies.group_sparse.dynamics.recording import advance, divergence_report, plan_record
from saccade.studies.group_sparse.models.encodings import Encoding
from saccade.studies.group_sparse.models.explicit import evaluate
from saccade.studies.group_sparse.models.initial import zeros
from saccade.studies.group_sparse.models.transformer import (
    PAPER_LAYER,
    Architecture,
    Parameters,
    logistic_loss,
    tokens,
)
from saccade.studies.group_sparse.task import (
    GroupSparseBatch,
    GroupSparseTask,
    check_scale,
    whole_number,
)
from saccade.studies.group_sparse.theory.stability import warn_if_unstable


class FullTrajectory(NamedTuple):
    """Rows of `observables` follow `steps`; `parameters` are those after the last recorded step."""

    steps: Int[np.ndarray, " records"]
    observables: Observables
    parameters: Parameters
    diverged_at: int
    advice: str


def gradient(
    parameters: Parameters, architecture: Architecture,
    token_batch: Float[Array, "samples token_dim groups"], labels: Float[Array, " samples"],
) -> Parameters:
    """d(mean loss)/d(parameters): written out for the paper's layer (twice as fast), automatic for
    its variants."""
    if architecture == PAPER_LAYER:
        exact = evaluate(token_batch, labels, parameters.attention[0], parameters.value)
        return Parameters(exact.grad_attention_weights[None], exact.grad_value, parameters.hidden)
    return jax.grad(logistic_loss)(parameters, architecture, token_batch, labels)


@partial(jax.jit, static_argnames=("architecture", "batch", "held_out"))
def full_run(
    key: PRNGKeyArray, task: GroupSparseTask, matrix: Float[Array, "encoding_dim groups"],
    start: Parameters, step_size, plan_gaps: Int[Array, " records"], data: GroupSparseBatch | None,
    architecture: Architecture, batch: int, held_out: int,
    attention_speed: float | Float[Array, ""] = 1.0,
):
    """The traceable run (use it under `jax.vmap` over keys, starts or step sizes); with `data`
    every step sees the same sample.

    `attention_speed` multiplies the steps of W alone; 0 freezes attention where it starts.
    """
    batch_key, held_out_key = jax.random.split(key)
    judge = task.sample(held_out_key, held_out)
    judge_tokens = tokens(judge.inputs, matrix)

    def step(parameters: Parameters, number) -> Parameters:
        seen = task.sample(jax.random.fold_in(batch_key, number), batch) if data is None else data
        slope = gradient(parameters, architecture, tokens(seen.inputs, matrix), seen.labels)
        slope = slope._replace(attention=attention_speed * slope.attention)
        return jax.tree.map(lambda old, change: old - step_size * change, parameters, slope)

    def watch(parameters: Parameters) -> Observables:
        return observe(parameters, architecture, task, judge, judge_tokens)

    return advance(step, watch, start, plan_gaps)


def full_trajectory(
    key: PRNGKeyArray, task: GroupSparseTask, encoding: Encoding, step_size: float, steps: int,
    record: Sequence[int] | None = None, start: Parameters | None = None,
    architecture: Architecture = PAPER_LAYER, batch: int = 1000, held_out: int = 4000,
    data: GroupSparseBatch | None = None,
) -> FullTrajectory:
    """Descend from `start` [zero] with fresh batches of `batch` samples, or on `data`; watched on
    `held_out` fresh samples."""
    groups = encoding.matrix.shape[1]
    require(
        groups == task.groups, "encoding", f"for {groups} groups",
        f"must have the {task.groups} groups of the task")
    eta = check_scale(step_size, name="step_size")
    batch, held_out = whole_number(batch, "batch", 1), whole_number(held_out, "held_out", 1)
    plan = plan_record(steps, record)
    warn_if_unstable(task.groups, eta, float(task.scale))
    initial = (
        zeros(task.group_dim + encoding.matrix.shape[0], architecture) if start is None else start)
    progress, rows = full_run(
        key, task, encoding.matrix, initial, eta, plan.gaps, data, architecture=architecture,
        batch=batch, held_out=held_out)
    diverged_at = int(progress.diverged_at)
    observables = jax.tree.map(lambda row: np.asarray(row)[plan.order], rows)
    return FullTrajectory(
        plan.asked, observables, progress.state, diverged_at, divergence_report(diverged_at, eta))
