"""Large steps of the full layer over the number of groups: its attention after the second step, and
where the six-number map ends."""

import warnings
from functools import partial
from typing import Any

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.group_sparse import dynamics, models
from saccade.studies.group_sparse.dynamics import reduced_map
from saccade.studies.group_sparse.dynamics.reduced_gradient import parameters_of
from saccade.studies.group_sparse.experiments.common import along, each_key
from saccade.studies.group_sparse.experiments.schedules import plan
from saccade.studies.group_sparse.task import GroupSparseTask, group_sparse_task


@partial(jax.jit, static_argnames=("count",))
def _looks(key: Any, layer: models.Transformer, task: GroupSparseTask, count: int) -> Any:
    """Attention on the relevant group, averaged over queries, sample by sample."""
    return layer.attention(task.sample(key, count).X)[:, task.relevant]


@experiment("group-sparse.second-step-attention")
def second_step_attention(
    key: Any, *, groups: tuple[int, ...] = (4, 16, 64), group_dim: int = 3, step_size: float = 60.0,
    scores: int = 100_000, replicates: int = 32, feature_speed: float = 1.0,
) -> xarray.Dataset:
    """Mean 1 - S of the layer on samples after two population steps, D by D, from `scores` scores a
    replicate. `feature_speed` multiplies what the steps did to W11 (0: nothing)."""
    columns = []
    for number, size in enumerate(groups):
        task, matrix = group_sparse_task(size, group_dim, relevant=1), models.encoding("sine", size)
        state = reduced_map.exact_starts(size, step_size, 1.0, (size + 1) / 2)[1]
        layer = models.Transformer(
            parameters_of(state.at[1].multiply(feature_speed), task, matrix), matrix)
        count = max(1, scores // size**2)
        looks = _looks(jax.random.fold_in(key, number), layer, task, replicates * count)
        columns.append(1 - np.asarray(looks).reshape(replicates, count).mean(1))
    return xarray.Dataset(
        along(("groups", "replicate"), one_minus_attention=columns), {"groups": list(groups)})


@experiment("group-sparse.full-large-steps", scales={"standard": {"groups": (4, 8, 12, 16)}})
def full_large_steps(
    key: Any, *, powers: tuple[float, ...] = (-0.25, 0.0, 0.5), groups: tuple[int, ...] = (4, 8),
    group_dim: int = 4, step_size: float = 5.0, steps: int = 200, repetitions: int = 18,
    repeats: int = 1, feature_speed: float = 1.0,
) -> xarray.Dataset:
    """1 - S of the full layer by the six-number map after `steps` steps of size eta ~ D^p, for each
    p in `powers` (`step_size` at the smallest D); 1 where a run diverged. `feature_speed` 0 freezes
    W11."""
    rows = np.empty((len(powers), len(groups), repetitions))
    etas = np.array([plan(groups, (p, 0.0), step_size, steps, 0.0)[0] for p in powers])
    with warnings.catch_warnings():
        # Steps above the rule are what is measured here.
        warnings.simplefilter("ignore", dynamics.StepSizeWarning)
        for (i, j), eta in np.ndenumerate(etas):
            one_key = jax.random.fold_in(jax.random.fold_in(key, i), j)
            for number, one in enumerate(each_key(one_key, repetitions)):
                run = reduced_map.reduced_trajectory(
                    one, groups[j], group_dim, float(eta), steps, repeats=repeats,
                    feature_speed=feature_speed)
                rows[i, j, number] = 1 - np.nan_to_num(run.attention[-1], nan=0.0)
    axes = ("power", "groups", "repetition")
    return xarray.Dataset(
        along(axes, one_minus_attention=rows) | along(axes[:2], step_size=etas),
        {"power": list(powers), "groups": list(groups)})
