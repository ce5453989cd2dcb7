"""Step sizes and times that change with the number of groups: how 1 - S falls with D in the
position-only layer and in the full one."""

import warnings
from typing import Any

import jax
import numpy as np
import xarray

from saccade.errors import require
from saccade.lab.experiment import experiment
from saccade.studies.group_sparse import dynamics
from saccade.studies.group_sparse.dynamics import position_map, reduced_map
from saccade.studies.group_sparse.experiments.common import along, each_key

Powers = tuple[float, float]
POWERS: tuple[Powers, ...] = ((0.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (-1.0, 2.0), (0.0, 3.0))


def plan(
    groups: tuple[int, ...], powers: Powers, step_size: float, steps: int, rate: float
) -> tuple[np.ndarray, np.ndarray]:
    """eta = step_size (D/D_1)^p and t = steps (D/D_n)^q e^(rate (D - D_n)): the first step size
    belongs to the smallest D and the number of steps to the largest."""
    require(len(groups) > 1, "groups", groups, "must be at least two numbers")
    sizes = np.array(groups, float)
    etas = step_size * (sizes / sizes.min()) ** powers[0]
    times = steps * (sizes / sizes.max()) ** powers[1] * np.exp(rate * (sizes - sizes.max()))
    return etas, np.maximum(1, np.rint(times)).astype(int)


@experiment(
    "group-sparse.schedules",
    scales={"standard": {"groups": (64, 128, 256), "steps": 200_000, "step_size": 0.05}})
def schedules(
    key: Any, *, powers: tuple[Powers, ...] = POWERS, groups: tuple[int, ...] = (32, 64, 128),
    step_size: float = 0.1, steps: int = 32_000, rate: float = 0.0, encoding_factor: float = 1.0,
) -> xarray.Dataset:
    """1 - S, A and alpha of the position-only layer after t(D) steps of size eta(D), for the powers
    (p, q) of D in them; `rate` lets the time grow as e^(rate D) besides. `encoding_factor`
    multiplies c of P^T P = c I, and 0 freezes attention."""
    plans = [plan(groups, pair, step_size, steps, rate) for pair in powers]
    etas, times = (np.concatenate(parts) for parts in zip(*plans, strict=True))
    sizes, stops = np.tile(np.array(groups, float), len(powers)), np.unique(times)
    rows, _ = position_map.position_runs(
        sizes, etas, np.ones(len(sizes)), encoding_factor * (sizes + 1) / 2, stops)
    place = np.arange(len(times)), np.searchsorted(stops, times)
    shape = len(powers), len(groups)
    names = ("one_minus_attention", "gap", "alpha", "loss")
    axes = ("schedule", "groups")
    return xarray.Dataset(
        along(
            axes, **{name: np.asarray(getattr(rows, name))[place].reshape(shape) for name in names})
        | along(axes, step_size=etas.reshape(shape), step=times.reshape(shape)),
        {
            "groups": list(groups),
            **along("schedule", p=[p for p, _ in powers], q=[q for _, q in powers])})


@experiment(
    "group-sparse.full-schedules", scales={"standard": {"groups": (4, 8, 12), "steps": 600}})
def full_schedules(
    key: Any, *, powers: Powers = (-1.0, 0.0), groups: tuple[int, ...] = (4, 8), group_dim: int = 4,
    step_size: float = 0.4, steps: int = 200, repetitions: int = 18, feature_speed: float = 1.0,
) -> xarray.Dataset:
    """1 - S of the full layer by the six-number map after t(D) steps of size eta(D), and at a
    quarter of the time; `feature_speed` 0 freezes W11."""
    etas, times = plan(groups, powers, step_size, steps, 0.0)
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dynamics.StepSizeWarning)
        for number, (size, eta, time) in enumerate(zip(groups, etas, times, strict=True)):
            runs = [
                reduced_map.reduced_trajectory(
                    one, size, group_dim, float(eta), int(time), [int(time) // 4, int(time)],
                    feature_speed=feature_speed)
                for one in each_key(jax.random.fold_in(key, number), repetitions)]
            rows.append([1 - run.attention for run in runs])
    return xarray.Dataset(
        along(("groups", "repetition", "time"), one_minus_attention=rows)
        | along("groups", step_size=etas, step=times),
        {"groups": list(groups), "time": [0.25, 1.0]})
