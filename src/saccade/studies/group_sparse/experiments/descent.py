"""Descent of every weight with fresh batches: encodings, starts, split and correlated signals, and
pictures of attention and W."""

from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.group_sparse import dynamics
from saccade.studies.group_sparse.experiments.compiling import QUICKLY
from saccade.studies.group_sparse.models import (
    PAPER_LAYER,
    Architecture,
    attention_maps,
    encoding,
    tokens,
    xavier,
    zeros,
)
from saccade.studies.group_sparse.task import GroupSparseTask, group_sparse_task

Kind = Literal["sine", "one-hot", "random", "equal", "none"]
BLOCKS = ("W11", "W12", "W21", "W22")


def _encodings(
    key: Any, kind: str, groups: int, dim: int | None, norm_squared: float | None, repetitions: int
) -> Any:
    """One matrix for each repetition; only random ones differ."""
    keys = jax.random.split(key, repetitions)
    return jnp.stack([encoding(kind, groups, dim, norm_squared, one).matrix for one in keys])


def _starts(key: Any, token_dim: int, factor: float, repetitions: int) -> Any:
    """The zero start, or Xavier's times `factor`, for each repetition."""
    if factor == 0:
        return jax.tree.map(
            lambda leaf: jnp.broadcast_to(leaf, (repetitions, *leaf.shape)), zeros(token_dim))
    return jax.vmap(lambda one: xavier(one, token_dim, factor=factor))(
        jax.random.split(key, repetitions))


@partial(jax.jit, static_argnames=("architecture", "batch", "held_out"), compiler_options=QUICKLY)
def many_runs(
    keys: Any, task: GroupSparseTask, matrices: Any, starts: Any, step_sizes: Any, gaps: Any,
    attention_speed: Any, architecture: Architecture, batch: int, held_out: int,
) -> Any:
    """One run for each key, matrix, start (and step size, if there are many); everything but shapes
    is an argument, so that one compiled program serves all settings of the same size."""

    def one(run_key: Any, matrix: Any, start: Any, step_size: Any) -> Any:
        progress, seen = dynamics.full_run(
            run_key, task, matrix, start, step_size, gaps, None, architecture=architecture,
            batch=batch, held_out=held_out, attention_speed=attention_speed)
        return seen, progress.diverged_at

    etas = jnp.broadcast_to(jnp.asarray(step_sizes, float), keys.shape)
    return jax.vmap(one)(keys, matrices, starts, etas)


@experiment(
    "group-sparse.full-descent",
    scales={
        "standard": {"groups": 8, "group_dim": 6, "step_size": 0.2, "batch": 400, "steps": 400}})
def full_descent(
    key: Any, *, groups: int = 6, group_dim: int = 4, relevant: int = 2, step_size: float = 0.25,
    steps: int = 150, points: int = 6, batch: int = 80, held_out: int = 500, repetitions: int = 24,
    encodings: Kind = "sine", encoding_dim: int | None = None, norm_squared: float | None = None,
    start_factor: float = 0.0, attention_speed: float = 1.0, correlation: float = 0.0,
    split: int | None = None, split_weight: float = 1.0,
) -> xarray.Dataset:
    """Loss, error, attention, alignment and block norms along descent with fresh batches, watched
    on held-out samples."""
    keys = jax.random.split(key, 3)
    task = group_sparse_task(
        groups, group_dim, relevant=relevant, correlation=correlation, split=split,
        split_weight=split_weight)
    matrices = _encodings(keys[0], encodings, groups, encoding_dim, norm_squared, repetitions)
    starts = _starts(keys[1], group_dim + matrices.shape[1], start_factor, repetitions)
    times = np.unique(np.rint(np.geomspace(1, steps, points)).astype(int)).tolist()
    plan = dynamics.plan_record(steps, times)

    seen, diverged = many_runs(
        jax.random.split(keys[2], repetitions), task, matrices, starts, step_size, plan.gaps,
        attention_speed, PAPER_LAYER, batch, held_out)
    axes = ("repetition", "step")
    names = ("loss", "error", "alignment", "value_norm", "value_position_norm")
    data: dict[str, Any] = {name: (axes, np.asarray(getattr(seen, name))) for name in names}
    data["attention"] = ((*axes, "group"), np.asarray(seen.attention[:, :, 0]))
    data["block_norm"] = ((*axes, "block"), np.asarray(seen.block_norms[:, :, 0]))
    data["diverged_at"] = ("repetition", np.asarray(diverged))
    return xarray.Dataset(data, {"step": times, "block": list(BLOCKS)})


@experiment("group-sparse.attention-pictures", scales={"standard": {"batch": 1000}})
def attention_pictures(
    key: Any, *, groups: int = 8, group_dim: int = 6, relevant: int = 3, step_size: float = 0.2,
    times: tuple[int, ...] = (5, 20, 60, 300), batch: int = 200, held_out: int = 500,
) -> xarray.Dataset:
    """The mean attention map S[key][query] and the matrix W of one run at several times."""
    task, made = group_sparse_task(groups, group_dim, relevant=relevant), encoding("sine", groups)
    run_key, look_key = jax.random.split(key)
    seen = tokens(task.sample(look_key, held_out).inputs, made.matrix)
    maps, weights, values = [], [], []
    for (
        time
    ) in times:  # the same key walks the same path, so a later time continues the earlier one
        run = dynamics.full_trajectory(
            run_key, task, made, step_size, time, batch=batch, held_out=held_out)
        maps.append(np.asarray(attention_maps(run.parameters, PAPER_LAYER, seen)[0].mean(axis=0)))
        weights.append(np.asarray(run.parameters.attention[0]))
        values.append(np.asarray(run.parameters.value))
    return xarray.Dataset(
        {
            "attention": (("step", "key_group", "query_group"), np.array(maps)),
            "W": (("step", "row", "column"), np.array(weights)),
            "v": (("step", "row"), np.array(values))},
        {"step": list(times)})
