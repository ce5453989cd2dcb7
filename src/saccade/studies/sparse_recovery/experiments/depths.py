"""The error of every algorithm against its depth, on the same problems: classical ones with so many
steps, and networks trained with so many layers, each a replicate."""

from typing import Any

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.sparse_recovery.dynamics import learning
from saccade.studies.sparse_recovery.experiments import common
from saccade.studies.sparse_recovery.task import RecoverySample, SparseRecovery

PENALTIES = (0.01, 0.03, 0.1, 0.3, 1.0, 2.0, 3.0)
LEARNED = ("lista-vm", "alista")


@experiment(
    "sparse-recovery.depth-rates",
    scales={"standard": {
        "depths": (2, 4, 8, 16), "networks": 21, "tests": 1000, "steps": 400, "batch": 32}})
def depth_rates(
    key: Any, *, rows: tuple[int, ...] = (10, 40), depths: tuple[int, ...] = (2, 4, 8),
    networks: int = 1, tests: int = 400, steps: int = 100, batch: int = 128,
) -> xarray.Dataset:
    """Errors on the same problems, fewer and more rows than coordinates, of ISTA and FISTA with
    each number of steps (penalty best on these problems at that depth) and of networks trained
    with as many layers: at each depth the n-th network has the n-th share of the problems."""
    test_key, train_key = jax.random.split(key)
    keys, recipe = jax.random.split(train_key, networks), {"steps": steps, "batch": batch}
    errors: dict[str, list] = {name: [] for name in ("ista", "fista", *LEARNED)}
    for n in rows:
        task = SparseRecovery.create(measurements=n)
        sample = task.sample(test_key, networks * tests)
        for name, collected in errors.items():
            collected.append(
                [_learned(name, task, sample, K, keys, recipe) for K in depths] if name in LEARNED
                else _classical(name, sample, depths, networks))
    return common.by_algorithm(
        errors, ("rows", "depth", "network", "test"), rows=list(rows), depth=list(depths))


def _classical(
    name: str, sample: RecoverySample, depths: tuple[int, ...], networks: int
) -> list[np.ndarray]:
    """Errors of ISTA or FISTA after each number of steps: the shorter run begins the longest, only
    its best penalty is its own."""
    tried = [
        common.errors_of(name, {"lam": np.full(max(depths), lam)}, sample) for lam in PENALTIES]
    best = [min((errors[K - 1] for errors in tried), key=np.mean) for K in depths]
    return [common.by_network(errors, networks) for errors in best]


def _learned(
    name: str, task: SparseRecovery, sample: RecoverySample, depth: int, keys: Any,
    recipe: dict[str, int],
) -> np.ndarray:
    """Errors of networks with `depth` layers, each on its own share of the problems."""
    start = learning.start_layers(name, depth, len(keys))
    made = learning.train(name, task, keys, start, common.RECIPES[name]._replace(**recipe))
    return common.last_errors(name, made, common.apart(sample, len(keys)))
