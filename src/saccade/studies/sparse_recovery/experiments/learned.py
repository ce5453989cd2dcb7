"""The LISTA family trained on one matrix or on ever new ones, tested on seen and new matrices."""

from typing import Any

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.sparse_recovery.experiments import common
from saccade.studies.sparse_recovery.models.steps import alista_weight
from saccade.studies.sparse_recovery.task import Design, SparseRecovery

FIXED = ("lista", "lista-cp", "alista", "alista, frozen weight")
CLASSICAL = ("ista", "fista")


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
    names = {label: label.split(",")[0] for label in FIXED}
    networks = {
        name: common.trained(name, task, training_seed, seeds, True, steps)
        for name in names.values()}
    X = networks["lista"][1]
    own = [task.sample_on(jax.random.fold_in(key, seed), X[seed], tests) for seed in range(seeds)]
    problems = (own, [task.sample(key, tests)] * seeds)

    def measured(label: str, seed: int, sample: Any) -> np.ndarray:
        if label in CLASSICAL:
            return common.classical(label, sample)
        layers = networks[names[label]][0].at(-1, seed)
        if "frozen" in label:
            layers["W"] = np.stack([jax.jit(alista_weight)(X[seed])] * common.LAYERS)
        return common.errors_of(names[label], layers, sample)

    errors = {
        label: [[measured(label, *pair) for pair in enumerate(samples)] for samples in problems]
        for label in (*FIXED, *CLASSICAL)}
    zero = [[(np.asarray(sample.beta) ** 2).sum(1) for sample in samples] for samples in problems]
    return common.by_algorithm(
        errors, ("matrix", "seed", "layer", "test"), matrix=["seen", "new"],
        layer=np.arange(1, common.LAYERS + 1)).assign(zero=(("matrix", "seed", "test"), zero))


VARYING = ("lista-vm", "lista-adaptive", "alista")


@experiment(
    "sparse-recovery.varying-matrices",
    scales={"standard": {"seeds": 3, "tests": 4000, "steps": 1500}})
def varying_matrices(
    key: Any, *, methods: tuple[str, ...] = VARYING, design: Design = "gaussian", seeds: int = 2,
    tests: int = 2000, training_seed: int = 0, steps: int = 0,
    shares: tuple[float, ...] = common.SHARES, dim: int = 20, rows: int = 10, sparsity: int = 3,
    threshold_share: float = 1.0,
) -> xarray.Dataset:
    """Networks trained on ever new matrices, tested on new ones: errors after every layer, learning
    curves (errors after the last layer along training), and ISTA, FISTA and the converged LASSO on
    the same problems. `threshold_share` scales learned thresholds."""
    task = SparseRecovery.create(dim, rows, sparsity, design=design)
    sample = task.sample(key, tests)
    errors, curves, recorded = {}, [], []
    for name in methods:
        networks = common.trained_on_many(name, task, training_seed, seeds, steps, shares)

        def measured(point: int, seed: int, name=name, networks=networks) -> np.ndarray:
            layers = networks.at(point, seed)
            return common.errors_of(
                name, {**layers, "theta": threshold_share * layers["theta"]}, sample)

        along = [
            [measured(point, seed) for point in range(len(networks.steps))] for seed in range(seeds)
        ]
        errors[name] = [points[-1] for points in along]
        curves.append([[error[-1] for error in points] for points in along])
        recorded.append(networks.steps)
    errors |= {name: [common.classical(name, sample)] * seeds for name in CLASSICAL}
    return common.by_algorithm(
        errors, ("seed", "layer", "test"), network=list(methods),
        layer=np.arange(1, common.LAYERS + 1)).assign(
        curve=(("network", "seed", "point", "test"), curves),
        steps=(("network", "point"), recorded), lasso=("test", common.converged(sample)),
        zero=("test", (np.asarray(sample.beta) ** 2).sum(1)))
