"""Descent of every weight, and what is watched on the way, beside a plain loop that differentiates
the loss of the layer as it is defined."""

from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.group_sparse import models
from saccade.studies.group_sparse.dynamics import full
from saccade.studies.group_sparse.experiments.common import along, each_key
from saccade.studies.group_sparse.experiments.descent import BLOCKS, DEEP
from saccade.studies.group_sparse.models import Architecture, encoding
from saccade.studies.group_sparse.task import GroupSparseTask, group_sparse_task

GROUPS, RECORD, HELD_OUT = 3, (4, 0, 2), 400
NAMES = ("loss", "error", "alignment", "|v1|", "|v2|")
LOOKS = tuple(f"attention on {group}" for group in range(GROUPS))
WATCHED = (*NAMES, *LOOKS, *(f"|{block}|" for block in BLOCKS))
DEEPER = (
    *NAMES,
    *(f"{what}, layer {n}" for n in (1, 2) for what in (*LOOKS, *(f"|{one}|" for one in BLOCKS))),
    "W", "v", "U")


def _forward(weights: Any, X: Any, codes: Any, shape: Architecture) -> tuple[Any, list[Any]]:
    """f of every input and the attention of every layer, from their definition."""
    state = jnp.concatenate([X, jnp.tile(codes.T, (len(X), 1, 1))], axis=2)
    maps = []
    for W in weights[0]:
        rows = state
        if shape.layer_norm:
            rows = rows - rows.mean(2, keepdims=True)
            rows = rows / jnp.sqrt((rows**2).mean(2, keepdims=True) + 1e-5)
        odds = jnp.exp(jnp.einsum("nkd,de,nqe->nkq", rows, W, rows))
        maps.append(odds / odds.sum(axis=1, keepdims=True))
        read = jnp.einsum("nkq,nkd->nqd", maps[-1], rows)
        state = state + read if shape.residual else read
    heads = jnp.maximum(state @ weights[2].T, 0.0) if shape.hidden else state
    return (heads @ weights[1]).sum(axis=1), maps


def _watched(weights: Any, task: GroupSparseTask, judge: Any, codes: Any, shape: Any) -> list[Any]:
    """The numbers of `WATCHED`, or the first of `DEEPER`, on held-out samples."""
    f, maps = _forward(weights, judge.X, codes, shape)
    margins = np.asarray(judge.y * f)
    W, v, U = map(np.asarray, weights)
    reads, d = U.T @ v if shape.hidden else v, task.dim
    length = np.sqrt((reads[:d] ** 2).sum())
    along_truth = reads[:d] @ np.asarray(task.direction)
    numbers = [
        np.log1p(np.exp(-margins)).mean(), (margins <= 0).mean(),
        along_truth / length if length else 0.0, length, np.sqrt((reads[d:] ** 2).sum())]
    for S, one in zip(maps, W, strict=True):
        blocks = one[:d, :d], one[:d, d:], one[d:, :d], one[d:, d:]
        numbers += [float(S[:, group].mean()) for group in range(GROUPS)]
        numbers += [np.sqrt((block**2).sum()) for block in blocks]
    return numbers


def _listed(watched: Any) -> list[Any]:
    """The same numbers of `Observables` at one stop."""
    names = "loss", "error", "alignment", "value_norm", "value_position_norm"
    layers = zip(watched.attention, watched.block_norms, strict=True)
    return [getattr(watched, name) for name in names] + [
        number for pair in layers for part in pair for number in part]


def _sums(weights: Any) -> list[float]:
    """One sum of W, of v and of U, every entry with a weight of its own."""
    return [float(np.cos(np.arange(part.size)) @ np.ravel(part)) for part in weights]


def _slope(codes: Any, shape: Architecture) -> Any:
    def loss(weights: Any, X: Any, y: Any) -> Any:
        return jnp.log1p(jnp.exp(-y * _forward(weights, X, codes, shape)[0])).mean()

    return jax.jit(jax.grad(loss))


def _moved(weights: Any, slope: Any, step_size: float, speed: float) -> list[Any]:
    parts = zip(weights, slope, (speed, 1.0, 1.0), strict=True)
    return [old - step_size * fast * part for old, part, fast in parts]


def _on_batches(key: Any, task: Any, codes: Any, step_size: float, batch: int) -> Any:
    """Fresh batches from zero by the loop: [step][what]."""
    batch_key, judge_key = each_key(key, 2)
    shape, size = Architecture(), task.dim + len(codes)
    judge, slope = task.sample(judge_key, HELD_OUT), _slope(codes, shape)
    weights: Any = [np.zeros((1, size, size)), np.zeros(size), np.zeros((0, size))]
    rows = [_watched(weights, task, judge, codes, shape)]
    for number in range(max(RECORD)):
        X, y, _ = task.sample(jax.random.fold_in(batch_key, number), batch)
        weights = _moved(weights, slope(weights, X, y), step_size, 1.0)
        rows.append(_watched(weights, task, judge, codes, shape))
    return np.array(rows, float)


@experiment("group-sparse.weights-by-loop")
def weights_by_loop(
    key: Any, *, group_dim: int = 2, step_size: float = 0.5, batch: int = 6, speed: float = 0.3,
    told_speed: float | None = None, record: tuple[int, ...] = RECORD,
    sample: Literal["the same", "another"] = "the same",
) -> xarray.Dataset:
    """What is watched at the steps of `RECORD` from zero on fresh batches (by the loop: at those of
    `record`), and after three steps of two layers with everything, on one sample, W at `speed` (by
    the loop: at `told_speed`, on `sample`)."""
    data_key, code_key, start_key, run_key = each_key(key, 4)
    task = group_sparse_task(GROUPS, group_dim, 1.2, 1, np.arange(1.0, group_dim + 1))
    codes = encoding("random", GROUPS, 4, key=code_key)
    start = models.at_zero(group_dim, codes)
    run = full.full_trajectory(
        run_key, task, start, step_size, max(RECORD), RECORD, batch, HELD_OUT)
    seen = [
        _listed(jax.tree.map(lambda rows, at=at: rows[at], run.observables))
        for at in range(len(RECORD))]
    plain = _on_batches(run_key, task, codes, step_size, batch)[list(record)]

    shape = DEEP["with both"]._replace(hidden=5)
    deep = models.xavier(start_key, group_dim, codes, shape)
    data = task.sample(data_key, 2 * batch)
    ended, watched = full.full_run(
        run_key, task, deep, step_size, jnp.asarray([3]), data, 1, HELD_OUT, speed)
    deeper = _listed(jax.tree.map(lambda rows: rows[0], watched)) + _sums(ended.state)
    weights: Any = list(deep.parameters)
    told = data if sample == "the same" else task.sample(run_key, 2 * batch)
    slope, judge = _slope(codes, shape), task.sample(each_key(run_key, 2)[1], HELD_OUT)
    for _ in range(3):
        moves = slope(weights, told.X, told.y)
        weights = _moved(weights, moves, step_size, speed if told_speed is None else told_speed)
    by_loop = _watched(weights, task, judge, codes, shape) + _sums(weights)
    return xarray.Dataset(
        along(("step", "what"), run=np.array(seen, float), plain=plain)
        | along("deeper", deep=np.array(deeper, float), deep_plain=np.array(by_loop, float)))
