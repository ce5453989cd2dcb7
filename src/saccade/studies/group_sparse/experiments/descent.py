"""Descent of every weight with fresh batches: encodings, starts, split and correlated signals,
variants of the layer, and pictures of attention and W."""

from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.errors import require, unknown
from saccade.lab.experiment import experiment
from saccade.studies.group_sparse import models
from saccade.studies.group_sparse.dynamics import full, plan_record
from saccade.studies.group_sparse.experiments.common import along, each_key, spaced
from saccade.studies.group_sparse.models import Architecture, Transformer, encoding
from saccade.studies.group_sparse.task import GroupSparseTask, group_sparse_task

Kind = Literal["sine", "one-hot", "random", "equal", "none"]
BLOCKS = ("W11", "W12", "W21", "W22")
VARIANTS = {
    "paper": Architecture(), "residual": Architecture(residual=True),
    "layer norm": Architecture(layer_norm=True), "MLP": Architecture(hidden=16),
    "two layers": Architecture(layers=2, residual=True)}
DEEP = {
    "two layers": VARIANTS["two layers"], "no residual path": Architecture(layers=2),
    "with layer norm": Architecture(layers=2, residual=True, layer_norm=True),
    "with MLP": Architecture(layers=2, residual=True, hidden=16),
    "with both": Architecture(layers=2, residual=True, layer_norm=True, hidden=16)}


@partial(jax.jit, static_argnames=("batch", "held_out"))
def many_runs(
    keys: Any, task: GroupSparseTask, starts: Transformer, step_sizes: Any, stops: Any,
    attention_speed: Any, batch: int, held_out: int = 500,
) -> Any:
    """One run for each key and start (and step size, if there are many); everything but shapes is
    an argument, so that one compiled program serves all settings of the same size."""

    def one(run_key: Any, start: Transformer, step_size: Any) -> Any:
        ended, watched = full.full_run(
            run_key, task, start, step_size, stops, None, batch, held_out, attention_speed)
        return watched, ended.diverged_at

    etas = jnp.broadcast_to(jnp.asarray(step_sizes, float), keys.shape)
    return jax.vmap(one)(keys, starts, etas)


@partial(jax.jit, static_argnames=("batch", "held_out"))
def _runs_from_xavier(
    run_key: Any, start_key: Any, task: GroupSparseTask, matrices: Any, factor: Any, step_size: Any,
    stops: Any, attention_speed: Any, batch: int, held_out: int = 500,
) -> Any:
    """`many_runs`, one for each matrix, from Xavier's start times `factor` (0: the zero start)."""
    count, start = len(matrices), partial(models.xavier, group_dim=task.dim, factor=factor)
    starts = jax.vmap(lambda one, matrix: start(one, matrix=matrix))(
        jax.random.split(start_key, count), matrices)
    keys = jax.random.split(run_key, count)
    return many_runs(keys, task, starts, step_size, stops, attention_speed, batch, held_out)


@partial(jax.jit, static_argnames=("count", "groups", "dim", "norm_squared"))
def _random_encodings(
    key: Any, count: int, groups: int, dim: int | None, norm_squared: float | None
) -> Any:
    return jax.vmap(lambda one: encoding("random", groups, dim, norm_squared, one))(
        jax.random.split(key, count))


def encodings_of(
    key: Any, count: int, kind: str, groups: int, dim: int | None = None,
    norm_squared: float | None = None,
) -> np.ndarray:
    """An encoding for each repetition; only random ones differ."""
    if kind == "random":
        return np.asarray(_random_encodings(key, count, groups, dim, norm_squared))
    matrix = np.asarray(encoding(kind, groups, dim, norm_squared))
    return np.broadcast_to(matrix, (count, *matrix.shape))


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
    encoding_key, start_key, run_key = each_key(key, 3)
    task = group_sparse_task(
        groups, group_dim, relevant=relevant, correlation=correlation, split=split,
        split_weight=split_weight)
    matrices = encodings_of(
        encoding_key, repetitions, encodings, groups, encoding_dim, norm_squared)
    times = spaced(1, steps, points)
    # The last stop is repeated where rounding left fewer: one program, whatever the steps.
    stops = np.pad(times, (0, points - len(times)), "edge")
    every, diverged = _runs_from_xavier(
        run_key, start_key, task, matrices, start_factor, step_size, stops, attention_speed, batch,
        held_out)
    watched = jax.tree.map(lambda rows: np.asarray(rows)[:, : len(times)], every)
    axes = ("repetition", "step")
    names = ("loss", "error", "alignment", "value_norm", "value_position_norm")
    return xarray.Dataset(
        along(axes, **{name: getattr(watched, name) for name in names})
        | along((*axes, "group"), attention=watched.attention[:, :, 0])
        | along((*axes, "block"), block_norm=watched.block_norms[:, :, 0])
        | along("repetition", diverged_at=diverged), {"step": times, "block": list(BLOCKS)})


@experiment("group-sparse.batch-noise")
def batch_noise(
    key: Any, *, batches: tuple[int, ...] = (40, 120, 360), groups: int = 4, group_dim: int = 6,
    step_size: float = 0.3, steps: int = 40, start_factor: float = 0.0, repetitions: int = 96,
) -> xarray.Dataset:
    """What batches of several sizes leave after `steps` steps: 1 - cos(v1, v*) and |v2|/|v1|."""
    task = group_sparse_task(groups, group_dim, relevant=1)
    matrices, rows = encodings_of(key, repetitions, "sine", groups), []
    for number, batch in enumerate(batches):
        run_key, start_key = each_key(jax.random.fold_in(key, number), 2)
        watched, _ = _runs_from_xavier(
            run_key, start_key, task, matrices, start_factor, step_size, plan_record(steps).stops,
            1.0, batch, 2)
        rows.append((
            1 - np.asarray(watched.alignment)[:, -1],
            np.asarray(watched.value_position_norm / watched.value_norm)[:, -1]))
    off, position = zip(*rows, strict=True)
    return xarray.Dataset(
        along(("batch", "repetition"), off=off, position=position), {"batch": list(batches)})


@experiment("group-sparse.attention-pictures", scales={"standard": {"batch": 1000}})
def attention_pictures(
    key: Any, *, groups: int = 8, group_dim: int = 6, relevant: int = 3, step_size: float = 0.2,
    times: tuple[int, ...] = (5, 20, 60, 300), batch: int = 200, held_out: int = 500,
) -> xarray.Dataset:
    """The mean attention map S[key][query] and the matrix W of one run at several times."""
    task = group_sparse_task(groups, group_dim, relevant=relevant)
    start = models.at_zero(group_dim, encoding("sine", groups))
    run_key, look_key = each_key(key, 2)
    X = task.sample(look_key, held_out).X
    look = jax.jit(lambda end: end.maps(X)[0].mean(axis=0))
    # The same key walks the same path, so a later time continues the earlier one.
    ends = [
        full.full_trajectory(
            run_key, task, start, step_size, time, batch=batch, held_out=held_out).model
        for time in times]
    return xarray.Dataset(
        along(("step", "key_group", "query_group"), attention=[look(end) for end in ends])
        | along(("step", "row", "column"), W=[end.parameters.attention[0] for end in ends])
        | along(("step", "row"), v=[end.parameters.value for end in ends]), {"step": list(times)})


# Scans of two departures: dimensions of random encodings, and correlation between groups.


def _ends(
    key: Any, task: GroupSparseTask, matrices: Any, step_size: float, steps: int, batch: int,
    speed: float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Attention on the group and test error, one run a matrix; one that diverged is blind."""
    watched, _ = _runs_from_xavier(
        key, key, task, matrices, 0.0, step_size, plan_record(steps).stops, speed, batch)
    looks = np.asarray(watched.attention)[:, -1, 0, int(task.relevant)]
    error = np.asarray(watched.error)[:, -1]
    return np.nan_to_num(looks, nan=0.0), np.where(np.isfinite(looks), error, 0.5)


def _scanned(name: str, values: tuple[Any, ...], ends: list[Any]) -> xarray.Dataset:
    attention, error = zip(*ends, strict=True)
    return xarray.Dataset(
        along((name, "repetition"), attention=attention, error=error), {name: list(values)})


def _padded(key: Any, count: int, kind: str, groups: int, dim: int, rows: int) -> np.ndarray:
    """Encodings with `dim` rows [0: none], and rows of zeros so that one program serves."""
    if dim == 0:
        return np.zeros((count, rows, groups))
    matrices = encodings_of(key, count, kind, groups, dim)
    return np.pad(matrices, ((0, 0), (0, rows - matrices.shape[1]), (0, 0)))


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
        encoding_key, run_key = each_key(jax.random.fold_in(key, number), 2)
        matrices = _padded(encoding_key, repetitions, kind, groups, dim, rows)
        ends.append(_ends(run_key, task, matrices, step_size, steps, batch))
    return _scanned("dim", dims, ends)


@experiment("group-sparse.correlation-scan")
def correlation_scan(
    key: Any, *, correlations: tuple[float, ...] = (0.2, 0.5, 0.8, 0.95, 0.99), groups: int = 6,
    group_dim: int = 4, relevant: int = 2, step_size: float = 0.25, steps: int = 150,
    batch: int = 80, repetitions: int = 24, attention_speed: float = 1.0,
) -> xarray.Dataset:
    """Attention and error after `steps` steps against the common correlation of the groups;
    `attention_speed` 0 freezes attention."""
    matrices = encodings_of(key, repetitions, "sine", groups)
    ends = []
    for number, correlation in enumerate(correlations):
        task = group_sparse_task(groups, group_dim, relevant=relevant, correlation=correlation)
        one = jax.random.fold_in(key, number)
        ends.append(_ends(one, task, matrices, step_size, steps, batch, attention_speed))
    return _scanned("correlation", correlations, ends)


def _variant_at_its_best(
    key: Any, task: GroupSparseTask, shape: Architecture, step_sizes: tuple[float, ...], steps: int,
    batch: int, tuning: int,
) -> tuple[Any, float]:
    """One variant watched at its best step, and that step, chosen on `tuning` other seeds."""
    tuning_key, run_key, start_key = jax.random.split(key, 3)
    lanes, matrix = tuning * len(step_sizes), encoding("sine", task.length)
    starts = jax.vmap(lambda one: models.at_zero(task.dim, matrix, shape, one))(
        jax.random.split(start_key, lanes))

    def runs(keys: Any, etas: Any) -> Any:
        return many_runs(keys, task, starts, etas, plan_record(steps).stops, 1.0, batch)[0]

    # Step sizes are NumPy's: a constant of JAX is weakly typed, which is another program.
    tried = runs(
        jnp.repeat(jax.random.split(tuning_key, tuning), len(step_sizes)),
        np.tile(step_sizes, tuning))
    losses = np.asarray(tried.loss)[:, -1].reshape(tuning, -1).mean(axis=0)
    best = step_sizes[int(np.argmin(np.where(np.isfinite(losses), losses, np.inf)))]
    return runs(jax.random.split(run_key, lanes), np.full(lanes, best)), best


@experiment(
    "group-sparse.architectures",
    scales={"standard": {"groups": 6, "group_dim": 4, "steps": 300, "repetitions": 24}})
def architectures(
    key: Any, *, variants: tuple[str, ...] = tuple(VARIANTS), groups: int = 4, group_dim: int = 3,
    relevant: int = 1, step_sizes: tuple[float, ...] = (0.03, 0.1, 0.3), steps: int = 100,
    batch: int = 80, repetitions: int = 8,
) -> xarray.Dataset:
    """Attention of each layer on the relevant group, alignment of v1 with v*, error and loss of
    every variant at its best step size; the step is chosen by held-out loss over a third of as many
    seeds, all steps on each. `attention` is that of the layer that looks most."""
    task, known = group_sparse_task(groups, group_dim, relevant=relevant), VARIANTS | DEEP
    for name in variants:
        if name not in known:
            raise unknown("variant", name, tuple(known))
    settings = step_sizes, steps, batch, max(1, repetitions // len(step_sizes))
    runs, chosen = zip(*[
        _variant_at_its_best(jax.random.fold_in(key, number), task, known[name], *settings)
        for number, name in enumerate(variants)])
    looks = [np.asarray(run.attention)[:, -1, :, relevant] for run in runs]
    most = max(rows.shape[1] for rows in looks)
    by_layer = [
        np.pad(rows, ((0, 0), (0, most - rows.shape[1])), constant_values=np.nan) for rows in looks]
    axes = ("variant", "repetition")
    return xarray.Dataset(
        along(
            axes, attention=[rows.max(axis=-1) for rows in looks],
            alignment=[run.alignment[:, -1] for run in runs],
            error=[run.error[:, -1] for run in runs], loss=[run.loss[:, -1] for run in runs])
        | along((*axes, "layer"), by_layer=by_layer) | along("variant", step_size=chosen),
        {"variant": list(variants)})
