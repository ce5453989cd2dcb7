"""Finite samples: descent from scratch on one fixed sample, against screening on the same draws."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.group_sparse import dynamics
from saccade.studies.group_sparse.experiments.compiling import QUICKLY
from saccade.studies.group_sparse.models import (
    PAPER_LAYER,
    Encoding,
    encoding,
    output,
    screen,
    tokens,
    zeros,
)
from saccade.studies.group_sparse.task import GroupSparseTask, group_sparse_task


@partial(jax.jit, static_argnames=("samples",), compiler_options=QUICKLY)
def _from_scratch(
    keys: Any, task: GroupSparseTask, made: Encoding, step_size: Any, gaps: Any, samples: int
) -> Any:
    """For each key: a fixed sample, full-batch descent on it, what screening says of it, and the
    training loss at the end."""

    def one(key: Any) -> Any:
        data_key, run_key = jax.random.split(key)
        data = task.sample(data_key, samples)
        start = zeros(task.group_dim + made.matrix.shape[0])
        progress, seen = dynamics.full_run(
            run_key, task, made.matrix, start, step_size, gaps, data, architecture=PAPER_LAYER,
            batch=1, held_out=500)
        read = output(progress.state, PAPER_LAYER, tokens(data.inputs, made.matrix))
        train = jnp.mean(jax.nn.softplus(-data.labels * read))
        return seen.attention[-1, 0], seen.error[-1], train, screen(data.inputs, data.labels).best

    return jax.lax.map(one, keys)


@experiment(
    "group-sparse.from-scratch",
    scales={"standard": {"draws": 200, "samples": (16, 32, 64, 128, 256), "steps": 400}})
def from_scratch(
    key: Any, *, groups: int = 16, group_dim: int = 8, relevant: int = 5,
    samples: tuple[int, ...] = (32,), step_size: float = 0.05, steps: int = 80, draws: int = 40,
    informative: bool = True,
) -> xarray.Dataset:
    """Whether the layer trained on n samples, and screening on the same samples, rank the relevant
    group first (`informative` False replaces the labels by those of another group)."""
    task, made = (
        group_sparse_task(groups, group_dim, relevant=relevant if informative else 0),
        encoding("sine", groups))
    plan = dynamics.plan_record(steps, None)
    rows = []
    for number, count in enumerate(samples):
        keys = jax.random.split(jax.random.fold_in(key, number), draws)
        rows.append([
            np.asarray(part)
            for part in _from_scratch(keys, task, made, step_size, plan.gaps, count)])
    attention, error, train, best = (np.stack(parts) for parts in zip(*rows, strict=True))
    axes = ("samples", "draw")
    return xarray.Dataset(
        {
            "layer_finds": (axes, (attention.argmax(-1) == relevant).astype(float)),
            "screening_finds": (axes, (best == relevant).astype(float)),
            "attention": (axes, attention[..., relevant]), "test_error": (axes, error),
            "train_loss": (axes, train)},
        {"samples": list(samples)})
