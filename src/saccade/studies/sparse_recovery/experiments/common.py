"""What the experiments on learned algorithms share: trained networks, made once a process, and
baselines with their best penalty."""

from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from saccade.studies.sparse_recovery import dynamics
from saccade.studies.sparse_recovery.models.unrolled import unroll
from saccade.studies.sparse_recovery.task import SparseRecovery

LAYERS = 12
PENALTIES = (0.5, 1.0, 2.0, 3.0)
RECIPES = {
    "lista": dynamics.Recipe(600, 64, 1e-3, 1.0), "lista-cp": dynamics.Recipe(600, 64, 1e-3, 1.0),
    "alista": dynamics.Recipe(200, 128, 1e-2, 1.0),
    "lista-vm": dynamics.Recipe(400, 128, 1e-2, 1.0),
    "lista-block": dynamics.Recipe(400, 128, 1e-2, 1.0),
    "lista-adaptive": dynamics.Recipe(300, 128, 1e-2, 1.0)}
"""Chosen on learning curves (docs): at these every method has left its steep part; longer runs
change errors by a few per cent."""


FIRST_STEP = {"gaussian": 0.4, "orthonormal": 1.2}
"""LISTA-VM starts with M = this I: with orthonormal rows every matrix is stable below 2.1, with
Gaussian ones some are not above 0.6."""


@lru_cache(maxsize=64)
def trained(
    name: str, task: SparseRecovery, training_seed: int, seeds: int, one_matrix: bool = False,
    steps: int = 0, record: tuple[int, ...] = (),
) -> tuple[dynamics.Trained, np.ndarray]:
    """Networks of `seeds` seeds and the matrix each was started from (and, with `one_matrix`, only
    trained on).

    The seeds are parameters, not the key of the run: the blocks of a claim test the same networks
    on fresh problems.
    """
    matrix_key, train_key = jax.random.split(jax.random.key(training_seed))
    X = task.matrices(matrix_key, seeds, jnp.float32)
    recipe = RECIPES[name]._replace(steps=steps or RECIPES[name].steps)
    needs_matrix = name in ("lista", "lista-cp")
    options = {"step": FIRST_STEP[task.design]} if name in ("lista-vm", "lista-block") else {}
    start = dynamics.start_layers(name, LAYERS, seeds, X if needs_matrix else None, **options)
    fixed = (
        {"groups": jnp.broadcast_to(groups(task), (LAYERS, *groups(task).shape))}
        if name == "lista-block" else None)
    keys = jax.random.split(train_key, seeds)
    made = dynamics.train(name, task, keys, start, recipe, X if one_matrix else None, record, fixed)
    if fixed is not None:
        wide = np.broadcast_to(
            np.asarray(fixed["groups"]), (len(made.steps), seeds, *fixed["groups"].shape))
        made = made._replace(layers={**made.layers, "groups": wide})
    return made, np.asarray(X, float)


def groups(task: SparseRecovery) -> Any:
    """d x blocks, one where a coordinate belongs to a block."""
    return jnp.repeat(jnp.eye(task.dim // task.block, dtype=jnp.float32), task.block, axis=0)


def errors_of(
    name: str, layers: Any, sample: Any, mask: Any = None, repeat_last: int = 0, X: Any = None
) -> np.ndarray:
    """|b - beta|^2 after every layer, [layer][sample]; `X` replaces the matrices shown to the
    algorithm."""
    shown = sample.X if X is None else X
    return dynamics.squared_errors(
        unroll(name, layers, shown, sample.y, mask, sample.count, repeat_last), sample.beta)


def classical(
    name: str, sample: Any, layers: int = LAYERS, mask: Any = None,
    penalties: tuple[float, ...] = PENALTIES,
) -> np.ndarray:
    """Errors of ISTA or FISTA after every step with the penalty that is best on these very
    problems: the choice favours them."""
    tried = [errors_of(name, {"lam": jnp.full(layers, lam)}, sample, mask) for lam in penalties]
    return min(tried, key=lambda errors: float(errors[-1].mean()))


def converged(sample: Any, penalties: tuple[float, ...] = (0.01, 0.03, 0.1)) -> np.ndarray:
    """Errors of the minimiser of the LASSO, with the best of a few penalties."""
    X, y = np.asarray(sample.X), np.asarray(sample.y)
    tried = [
        dynamics.squared_errors(dynamics.solve_lasso(X, y, lam).coefficients, sample.beta)
        for lam in penalties]
    return min(tried, key=lambda errors: float(errors.mean()))
