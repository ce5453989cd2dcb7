"""Scans of two departures: how many dimensions random encodings need, and how much the groups may
be correlated."""

from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.errors import require
from saccade.lab.experiment import experiment
from saccade.studies.group_sparse import dynamics
from saccade.studies.group_sparse.experiments.descent import many_runs
from saccade.studies.group_sparse.models import PAPER_LAYER, encoding, zeros
from saccade.studies.group_sparse.task import GroupSparseTask, group_sparse_task


def _ends(
    key: Any, task: GroupSparseTask, matrices: Any, step_size: float, steps: int, batch: int,
    speed: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Attention on the relevant group and test error after `steps`, one run for each matrix; a run
    that diverged counts as blind."""
    repetitions = len(matrices)
    start = zeros(task.group_dim + matrices.shape[1])
    starts = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (repetitions, *leaf.shape)), start)
    seen, _ = many_runs(
        jax.random.split(key, repetitions), task, matrices, starts, step_size,
        dynamics.plan_record(steps, None).gaps, speed, PAPER_LAYER, batch, 500)
    looks, error = (
        np.asarray(seen.attention)[:, -1, 0, int(task.relevant)], np.asarray(seen.error)[:, -1])
    return np.nan_to_num(looks, nan=0.0), np.where(np.isfinite(looks), error, 0.5)


def _padded(key: Any, kind: str, groups: int, dim: int, rows: int) -> Any:
    """An encoding with `dim` rows [0: none], filled up with rows of zeros, which nothing ever
    reads: one program serves every dimension."""
    if dim == 0:
        return jnp.zeros((rows, groups))
    made = encoding(kind, groups, dim if kind == "random" else None, None, key).matrix
    return jnp.pad(made, ((0, rows - made.shape[0]), (0, 0)))


@experiment("group-sparse.encoding-scan", scales={"standard": {"dims": (0, 2, 3, 6, 12, 24, 48)}})
def encoding_scan(
    key: Any, *, dims: tuple[int, ...] = (0, 2, 24), kind: Literal["random", "sine"] = "random",
    groups: int = 6, group_dim: int = 4, relevant: int = 2, step_size: float = 0.1,
    steps: int = 375, batch: int = 80, repetitions: int = 32,
) -> xarray.Dataset:
    """Attention and error against the dimension of random encodings, all of the sine encodings'
    mean squared length; dimension 0 has no encoding at all (`kind` sine: the paper's encodings at
    every dimension but 0)."""
    require(all(dim >= 0 for dim in dims), "dims", dims, "must all be at least 0")
    task, rows = group_sparse_task(groups, group_dim, relevant=relevant), max(*dims, groups)
    ends = []
    for number, dim in enumerate(dims):
        encoding_key, run_key = jax.random.split(jax.random.fold_in(key, number))
        made = [
            _padded(one, kind, groups, dim, rows)
            for one in jax.random.split(encoding_key, repetitions)]
        ends.append(_ends(run_key, task, jnp.stack(made), step_size, steps, batch))
    found = np.array(ends)
    axes = ("dim", "repetition")
    return xarray.Dataset(
        {"attention": (axes, found[:, 0]), "error": (axes, found[:, 1])}, {"dim": list(dims)})


@experiment("group-sparse.correlation-scan")
def correlation_scan(
    key: Any, *, correlations: tuple[float, ...] = (0.2, 0.5, 0.8, 0.95, 0.99), groups: int = 6,
    group_dim: int = 4, relevant: int = 2, step_size: float = 0.25, steps: int = 150,
    batch: int = 80, repetitions: int = 24, attention_speed: float = 1.0,
) -> xarray.Dataset:
    """Attention and error after `steps` steps against the common correlation of the groups;
    `attention_speed` 0 freezes attention."""
    matrices = jnp.broadcast_to(encoding("sine", groups).matrix, (repetitions, groups, groups))
    ends = []
    for number, correlation in enumerate(correlations):
        task = group_sparse_task(groups, group_dim, relevant=relevant, correlation=correlation)
        ends.append(_ends(
            jax.random.fold_in(key, number), task, matrices, step_size, steps, batch,
            attention_speed))
    found = np.array(ends)
    axes = ("correlation", "repetition")
    return xarray.Dataset(
        {"attention": (axes, found[:, 0]), "error": (axes, found[:, 1])},
        {"correlation": list(correlations)})
