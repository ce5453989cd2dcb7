"""Query and key matrices apart: the rank-one descent beside its three numbers, how long it waits at
the saddle, its late law, and random starts of every rank beside the merged layer."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.group_sparse.dynamics import plan_record, unmerged
from saccade.studies.group_sparse.dynamics.reduced_gradient import coordinates_of
from saccade.studies.group_sparse.experiments.common import along, each_key
from saccade.studies.group_sparse.models import encoding
from saccade.studies.group_sparse.task import GroupSparseTask, group_sparse_task


@partial(jax.jit, static_argnames=("batch", "held_out"))
def _runs(
    keys: Any, task: GroupSparseTask, starts: Any, matrix: Any, step_sizes: Any, stops: Any,
    batch: int, held_out: int = 500,
) -> Any:
    """For each key alpha and A at the end, and what is watched at the stops."""

    def one(key: Any, start: Any, step_size: Any) -> Any:
        ended, watched = unmerged.unmerged_run(
            key, task, start, matrix, step_size, stops, batch, held_out)
        point = coordinates_of(unmerged.merged(ended, matrix).parameters, task, matrix)
        return jnp.stack([point[0], point[3] - point[5]]), watched

    return jax.vmap(one)(keys, starts, jnp.broadcast_to(step_sizes, keys.shape))


def _alike(start: Any, count: int) -> Any:
    return jax.tree.map(lambda part: np.broadcast_to(part, (count, *part.shape)), start)


@experiment("group-sparse.unmerged-rank-one")
def unmerged_rank_one(
    key: Any, *, groups: int = 5, group_dim: int = 3, size: float = 0.7, step_size: float = 0.2,
    steps: int = 40, batch: int = 200, scale: float = 1.2, repetitions: int = 32,
    map_size: float | None = None,
) -> xarray.Dataset:
    """alpha and A after `steps` steps of K, Q and v on fresh batches from the rank-one start, and
    by the map of three numbers (from `map_size` instead, if given)."""
    task = group_sparse_task(groups, group_dim, scale, relevant=1)
    matrix, stops = encoding("sine", groups), plan_record(steps).stops
    starts = _alike(unmerged.rank_one(size, task, matrix), repetitions)
    ends, watched = _runs(
        jax.random.split(key, repetitions), task, starts, matrix, step_size, stops, batch)
    by_map = unmerged.rank_one_map(
        float(groups), size if map_size is None else map_size, step_size, (groups + 1) / 2, scale,
        stops)
    return xarray.Dataset(
        along(("repetition", "name"), full=ends)
        | along("repetition", attention=np.asarray(watched.attention)[:, -1, 0, 1])
        | along("name", map=[float(part[0]) for part in by_map]), {"name": ["alpha", "gap"]})


@jax.jit
def _first_above(sizes: Any, groups: Any, step_size: Any, gram: Any, stops: Any) -> Any:
    """The first of the stops after which A is above log(D-1), attention above one half."""
    gaps = jax.vmap(
        lambda size: unmerged.rank_one_map(groups, size, step_size, gram, 1.0, stops)[1])(sizes)
    return stops[jnp.argmax(gaps > jnp.log(groups - 1.0), axis=1)]


@experiment("group-sparse.escape-times")
def escape_times(
    key: Any, *, groups: tuple[int, ...] = (4, 12), step_size: float = 0.1,
    gaps: tuple[float, ...] = (1e-10, 1e-8, 1e-6), steps: int = 4000,
) -> xarray.Dataset:
    """Population steps until half of the attention is on the group, from rank-one starts with the
    gaps A(0) in `gaps`."""
    sizes, stops = np.sqrt(np.array(gaps)), np.arange(0, steps, 4)
    times = [_first_above(sizes, float(size), step_size, (size + 1) / 2, stops) for size in groups]
    return xarray.Dataset(
        along(("groups", "gap"), steps=times), {"groups": list(groups), "gap": list(gaps)})


@experiment("group-sparse.unmerged-late", scales={"standard": {"steps": 2_000_000}})
def unmerged_late(
    key: Any, *, cases: tuple[tuple[int, float], ...] = ((6, 0.5), (16, 0.3)), steps: int = 400_000,
    size: float = 0.5, scale: float = 1.3,
) -> xarray.Dataset:
    """A of the rank-one map at a quarter, a half and the whole of `steps`, for (groups, step size)
    in `cases`."""
    times = [steps // 4, steps // 2, steps]
    stops = plan_record(steps, times).stops
    gaps = [
        unmerged.rank_one_map(float(D), size, eta, (D + 1) / 2, scale, stops)[1] for D, eta in cases
    ]
    sizes, etas = zip(*cases, strict=True)
    return xarray.Dataset(
        along(("case", "step"), gap=gaps) | along("case", groups=sizes, step_size=etas),
        {"step": times})


@partial(jax.jit, static_argnames=("rank", "count"))
def _random_factors(key: Any, width: Any, size: Any, rank: int, count: int) -> Any:
    """K and Q with Gaussian entries such that W = K^T Q has entries of `size`; v = 0."""
    keys, queries = jax.random.normal(key, (2, count, rank, len(width)))
    spread = jnp.sqrt(size) / rank**0.25
    return unmerged.Factors(spread * keys, spread * queries, jnp.zeros((count, len(width))))


@experiment("group-sparse.ranks", scales={"standard": {"ranks": (1, 2, 4, 10), "steps": 300}})
def ranks(
    key: Any, *, ranks: tuple[int, ...] = (1, 10), size: float = 0.01, groups: int = 6,
    group_dim: int = 4, step_sizes: tuple[float, ...] = (0.1, 0.2, 0.4), steps: int = 40,
    batch: int = 80, repetitions: int = 24,
) -> xarray.Dataset:
    """Attention, error and alignment for K and Q of each rank from random starts, every rank at the
    best of the step sizes (chosen by held-out loss on other seeds)."""
    task, matrix = group_sparse_task(groups, group_dim, relevant=2), encoding("sine", groups)
    stops, width = plan_record(steps).stops, np.zeros(group_dim + groups)
    etas = np.resize(step_sizes, repetitions)
    rows = []
    for number, rank in enumerate(ranks):
        start_key, tuning_key, run_key = each_key(jax.random.fold_in(key, number), 3)
        starts = _random_factors(start_key, width, size, rank, repetitions)
        run = partial(_runs, task=task, starts=starts, matrix=matrix, stops=stops, batch=batch)
        tried = run(jax.random.split(tuning_key, repetitions), step_sizes=etas)[1]
        losses = np.asarray(tried.loss)[:, -1]
        means = [np.nan_to_num(losses[etas == eta], nan=np.inf).mean() for eta in step_sizes]
        best = step_sizes[int(np.argmin(means))]
        watched = run(jax.random.split(run_key, repetitions), step_sizes=best)[1]
        rows.append((
            np.asarray(watched.attention)[:, -1, 0, 2], watched.error[:, -1],
            watched.alignment[:, -1], best))
    attention, error, alignment, chosen = zip(*rows, strict=True)
    return xarray.Dataset(
        along(("rank", "repetition"), attention=attention, error=error, alignment=alignment)
        | along("rank", step_size=chosen), {"rank": list(ranks)})
