"""The LISTA family trained on one matrix or on ever new ones, and tested on matrices it has and has
not seen."""

from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.sparse_recovery.experiments.common import (
    LAYERS,
    RECIPES,
    classical,
    converged,
    errors_of,
    trained,
)
from saccade.studies.sparse_recovery.task import SparseRecovery

Design = Literal["gaussian", "rademacher", "uniform", "orthonormal", "correlated"]
FIXED = ("lista", "lista-cp", "alista", "alista, frozen weight")


def _seeing(
    seeds: int, sample: Any, task: SparseRecovery, key: Any, X: np.ndarray, new: bool
) -> list[Any]:
    """Test problems for each seed: on its own training matrix, or the shared ones on new
    matrices."""
    if new:
        return [sample] * seeds
    count = sample.y.shape[0]
    return [
        task.sample_on(
            jax.random.fold_in(key, seed), jnp.broadcast_to(X[seed], (count, *X[seed].shape)))
        for seed in range(seeds)]


@experiment(
    "sparse-recovery.one-matrix", scales={"standard": {"seeds": 3, "steps": 5000, "tests": 4000}})
def one_matrix(
    key: Any, *, seeds: int = 2, tests: int = 1600, training_seed: int = 0, steps: int = 0,
    dim: int = 20, rows: int = 10, sparsity: int = 3,
) -> xarray.Dataset:
    """Networks trained on one matrix each: errors after every layer on that matrix and on new ones,
    FISTA and ISTA beside them.

    LISTA-CP meets the test matrix in its residual; ALISTA's weight is recomputed for the test
    matrix, or frozen at the training one.
    """
    task = SparseRecovery.create(dim, rows, sparsity)
    sample = task.sample(key, tests)
    errors = np.full((len(FIXED) + 2, 2, seeds, LAYERS, tests), np.nan)
    zero = np.zeros((2, seeds, tests))
    for case, new in enumerate((False, True)):
        for place, label in enumerate(FIXED):
            name = label.split(",")[0]
            made, X = trained(name, task, training_seed, seeds, True, steps)
            seen = _seeing(seeds, sample, task, key, X, new)
            for seed in range(seeds):
                layers = made.at(-1, seed)
                if "frozen" in label:
                    own = trained_weight(X[seed])
                    layers = {**layers, "W": jnp.broadcast_to(own, (LAYERS, *own.shape))}
                errors[place, case, seed] = errors_of(name, layers, seen[seed])
                if place == 0:
                    zero[case, seed] = (np.asarray(seen[seed].beta) ** 2).sum(1)
                    errors[-2, case, seed] = classical("ista", seen[seed])
                    errors[-1, case, seed] = classical("fista", seen[seed])
    return xarray.Dataset(
        {
            "error": (("algorithm", "matrix", "seed", "layer", "test"), errors),
            "zero": (("matrix", "seed", "test"), zero)},
        {
            "algorithm": [*FIXED, "ista", "fista"], "matrix": ["seen", "new"],
            "layer": np.arange(1, LAYERS + 1)})


def trained_weight(X: np.ndarray) -> Any:
    """ALISTA's weight of the training matrix."""
    from saccade.studies.sparse_recovery.models.unrolled import alista_weight

    return alista_weight(jnp.asarray(X))


VARYING = ("lista-vm", "lista-adaptive", "alista")
SHARES = (0.0, 0.0625, 0.125, 0.25, 0.5)
"""When learning curves are recorded, as shares of a method's own number of steps; the end comes on
top."""


@experiment(
    "sparse-recovery.varying-matrices",
    scales={"standard": {"seeds": 3, "tests": 4000, "steps": 1500}})
def varying_matrices(
    key: Any, *, methods: tuple[str, ...] = VARYING, design: Design = "gaussian", seeds: int = 2,
    tests: int = 2000, training_seed: int = 0, steps: int = 0, shares: tuple[float, ...] = SHARES,
    dim: int = 20, rows: int = 10, sparsity: int = 3, threshold_share: float = 1.0,
) -> xarray.Dataset:
    """Networks trained on ever new matrices, tested on new ones: errors after every layer, learning
    curves (errors after the last layer along training), and ISTA, FISTA and the converged LASSO on
    the same problems. `threshold_share` scales learned thresholds.
    """
    task = SparseRecovery.create(dim, rows, sparsity, design=design)
    sample = task.sample(key, tests)
    errors = np.full((len(methods) + 2, seeds, LAYERS, tests), np.nan)
    steps_of, curves = [], []
    for place, name in enumerate(methods):
        stops = tuple(round(share * (steps or RECIPES[name].steps)) for share in shares)
        made, _ = trained(name, task, training_seed, seeds, False, steps, stops)
        rows_of = []
        for seed in range(seeds):
            for point in range(len(made.steps)):
                layers = made.at(point, seed)
                layers["theta"] = threshold_share * layers["theta"]
                found = errors_of(name, layers, sample)
                rows_of.append(found[-1])
            errors[place, seed] = found
        curves.append(np.array(rows_of).reshape(seeds, len(made.steps), tests))
        steps_of.append(made.steps)
    errors[-2], errors[-1] = classical("ista", sample), classical("fista", sample)
    return xarray.Dataset(
        {
            "error": (("algorithm", "seed", "layer", "test"), errors),
            "curve": (("network", "seed", "point", "test"), np.array(curves)),
            "steps": (("network", "point"), np.array(steps_of)),
            "lasso": ("test", converged(sample)),
            "zero": ("test", (np.asarray(sample.beta) ** 2).sum(1))},
        {
            "algorithm": [*methods, "ista", "fista"], "network": list(methods),
            "layer": np.arange(1, LAYERS + 1)})
