"""Speed: the two-number map against plain quadrature, six numbers against every weight."""

from typing import Any

import jax
import numpy as np
from jax import block_until_ready as finished

from saccade.lab.benchmark import Accuracy, Benchmark, Sides, Target
from saccade.studies.group_sparse.dynamics.full import full_trajectory
from saccade.studies.group_sparse.dynamics.position_map import position_trajectory
from saccade.studies.group_sparse.dynamics.reduced_gradient import coordinates_of
from saccade.studies.group_sparse.dynamics.reduced_map import reduced_trajectory
from saccade.studies.group_sparse.experiments.maps import plain_run
from saccade.studies.group_sparse.models import at_zero, encoding
from saccade.studies.group_sparse.task import group_sparse_task


def position_map(
    groups: int = 8, step_size: float = 0.5, steps: int = 20_000, nodes: int = 40, checked: int = 20
) -> Sides:
    """20,000 steps by the exact map; the peer takes the two-dimensional expectation at every step.
    Both must agree while the peer's nodes still resolve the integrand (the first steps)."""

    def ours(steps: int) -> Any:
        run = position_trajectory(groups, step_size, steps)
        return run.alpha[-1], run.gap[-1]

    def peer(steps: int) -> Any:
        return finished(plain_run(groups, step_size, steps, nodes))

    def check() -> Accuracy:
        apart = np.abs(np.asarray(ours(checked)) - np.asarray(peer(checked)))
        return Accuracy(float(apart.max()), 1e-6)

    return Sides(lambda: ours(steps), lambda: peer(steps), check)


def six_numbers(
    groups: int = 16, group_dim: int = 20, step_size: float = 0.03, steps: int = 60,
    batch: int = 4000, pool: int = 8, checks: int = 3,
) -> Sides:
    """The six-number map against descent of every weight at d = 20, D = 16. The batch is chosen so
    that the peer is still the less accurate of the two: the check compares the spread of alpha and
    A around a reference, relative to it, over independent keys.

    A run ends with a judgement of its loss as dear as `pool` steps, which nobody reads here (the
    peer's is on two samples): eight are few beside 60 steps and, as the check shows, enough.
    """
    task, start = group_sparse_task(groups, group_dim), at_zero(group_dim, encoding("sine", groups))

    def ours(key: Any) -> np.ndarray:
        run = reduced_trajectory(key, groups, group_dim, step_size, steps, pool=pool)
        return np.array([run.coordinates[-1, 0], run.gap[-1]])

    def peer(key: Any) -> np.ndarray:
        run = full_trajectory(key, task, start, step_size, steps, batch=batch, held_out=2)
        point = np.asarray(coordinates_of(run.model.parameters, task, start.matrix))
        return np.array([point[0], point[3] - point[5]])

    def check() -> Accuracy:
        keys = jax.random.split(jax.random.key(1), 8 + checks)
        reference = np.mean([ours(key) for key in keys[:8]], axis=0)
        spread = [
            float(np.sqrt(np.mean([(engine(key) / reference - 1) ** 2 for key in keys[8:]])))
            for engine in (ours, peer)]
        return Accuracy(spread[0], spread[1])

    key = jax.random.key(0)
    return Sides(lambda: ours(key), lambda: peer(key), check)


BENCHMARKS = (
    Benchmark(
        "group-sparse.position-map",
        "20,000 population steps of the position-only layer: exact two-number map against a 40 x 40"
        " quadrature at every step", position_map, Target(">=", 5.0), tiny={"steps": 200}),
    Benchmark(
        "group-sparse.six-numbers",
        "60 population steps of the full layer, d = 20, D = 16: six-number map against every weight"
        " with batches of 4000, which is still the less accurate", six_numbers, Target(">=", 50.0),
        tiny={"groups": 4, "group_dim": 3, "step_size": 0.2, "steps": 20, "batch": 50}))
