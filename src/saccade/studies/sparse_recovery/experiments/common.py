"""What the experiments on learned algorithms share: trained networks, made once a process, baselines
with their best penalty, and datasets of errors by algorithm."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.studies.sparse_recovery.dynamics import learning
from saccade.studies.sparse_recovery.dynamics.learning import Recipe
from saccade.studies.sparse_recovery.dynamics.solvers import solve_lasso, squared_errors
from saccade.studies.sparse_recovery.models.unrolled import Layers, unroll
from saccade.studies.sparse_recovery.task import RecoverySample, SparseRecovery

LAYERS = 12
PENALTIES = (0.5, 1.0, 2.0, 3.0)
LASSO_PENALTIES = (0.01, 0.03, 0.1)
RECIPES = {
    "lista": Recipe(600, 64, 1e-3), "lista-cp": Recipe(600, 64, 1e-3),
    "alista": Recipe(200, 128, 1e-2), "lista-vm": Recipe(400, 128, 1e-2),
    "lista-block": Recipe(400, 128, 1e-2), "lista-adaptive": Recipe(300, 128, 1e-2)}
"""Chosen on learning curves (docs): at these every method has left its steep part; longer runs
change errors by a few per cent."""

FIRST_STEP = {"gaussian": 0.4, "orthonormal": 1.2}
"""LISTA-VM starts with M = this I: with orthonormal rows every matrix is stable below 2.1, with
Gaussian ones some are not above 0.6."""


@lru_cache(maxsize=64)
def trained(
    name: str, task: SparseRecovery, training_seed: int, seeds: int, one_matrix: bool = False,
    steps: int = 0, record: tuple[int, ...] = (),
) -> tuple[learning.Trained, np.ndarray]:
    """Networks of `seeds` seeds and the matrix each was started from (and, with `one_matrix`, only
    trained on).

    The seeds are parameters, not the key of the run: the repetitions of a claim test the same
    networks on fresh problems.
    """
    matrix_key, train_key = jax.random.split(jax.random.key(training_seed))
    X = task.matrices(matrix_key, seeds, jnp.float32)
    recipe = RECIPES[name]._replace(steps=steps or RECIPES[name].steps)
    options = {"step": FIRST_STEP[task.design]} if name in ("lista-vm", "lista-block") else {}
    matrix = X if name in ("lista", "lista-cp") else None
    start = learning.start_layers(name, LAYERS, seeds, matrix, **options)
    members = groups(task)
    fixed = (
        {"groups": jnp.broadcast_to(members, (LAYERS, *members.shape))} if name == "lista-block"
        else None)
    networks = learning.train(
        name, task, jax.random.split(train_key, seeds), start, recipe, X if one_matrix else None,
        record, fixed)
    return networks, np.asarray(X, float)


def network(name: str, training_seed: int, task: SparseRecovery | None = None) -> Layers:
    """The first of two networks trained on ever new matrices of a task (the default one)."""
    return trained(name, task or SparseRecovery.create(), training_seed, 2)[0].at()


def groups(task: SparseRecovery) -> Any:
    """d x blocks, one where a coordinate belongs to a block."""
    return jnp.repeat(jnp.eye(task.dim // task.block, dtype=jnp.float32), task.block, axis=0)


def errors_of(
    name: str, layers: Layers, sample: RecoverySample, mask: Any = None, repeat_last: int = 0
) -> np.ndarray:
    """|b - beta|^2 after every layer, [layer][sample]."""
    b = unroll(name, layers, sample.X, sample.y, mask, sample.count, repeat_last)
    return squared_errors(b, sample.beta)


def classical(
    name: str, sample: RecoverySample, layers: int = LAYERS, mask: Any = None,
    penalties: tuple[float, ...] = PENALTIES,
) -> np.ndarray:
    """Errors of ISTA or FISTA after every step with the penalty that is best on these very
    problems: the choice favours them."""
    tried = [errors_of(name, {"lam": jnp.full(layers, lam)}, sample, mask) for lam in penalties]
    return min(tried, key=lambda errors: float(errors[-1].mean()))


def converged(sample: RecoverySample) -> np.ndarray:
    """Errors of the minimiser of the LASSO, with the best of a few penalties."""
    tried = [
        squared_errors(solve_lasso(sample.X, sample.y, lam).coefficients, sample.beta)
        for lam in LASSO_PENALTIES]
    return min(tried, key=lambda errors: float(errors.mean()))


def by_algorithm(
    errors: Mapping[str, Any], axes: tuple[str, ...], **coordinates: Any
) -> xarray.Dataset:
    """Errors as a dataset, one algorithm after the other."""
    values = np.array(list(errors.values()))
    return xarray.Dataset(
        {"error": (("algorithm", *axes), values)}, {"algorithm": list(errors), **coordinates})
