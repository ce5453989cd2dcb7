"""LISTA-VM as the paper defines it, with a full matrix M and a threshold for each coordinate a
layer, on tasks with and without a structure that such a layer could learn.

A full network starts from the trained network with one number and one threshold a layer, of which
it is a generalisation; the other goes on training for as many steps.
"""

from functools import lru_cache
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.sparse_recovery.dynamics import learning
from saccade.studies.sparse_recovery.dynamics.learning import Recipe
from saccade.studies.sparse_recovery.experiments import common
from saccade.studies.sparse_recovery.task import SparseRecovery

TASKS: dict[str, dict[str, Any]] = {
    "gaussian": {}, "correlated": {"design": "correlated", "correlation": 0.8},
    "pool": {"pool": range(10)}, "other pool": {"pool": range(10, 20)},
    "blocks": {"sparsity": 4, "block": 4, "design": "orthonormal"}}
FIRST_STEP = {"correlated": 0.15, "orthonormal": 1.2}
"""Where the first scalars start: below what most matrices of the law allow."""
FIRST, THEN = Recipe(400, 128, 1e-2), Recipe(400, 128, 3e-3)
NUMBERS, MATRIX, TOLD = "lista-vm", "lista-vm, full", "lista-vm, told"
RIVALS = ("alista", "lista", "lista-cp")
Task = Literal["gaussian", "correlated", "pool", "other pool", "blocks"]


@lru_cache(maxsize=32)
def trained_vm(
    task: SparseRecovery, full: bool, seed: int = 0, seeds: int = 1, steps: int = 0,
    layers: int = common.LAYERS,
) -> learning.Trained:
    """LISTA-VM trained on ever new matrices: a first stage with one number and one threshold a
    layer, and a second one from its end, `full` or as before."""
    keys = jax.random.split(jax.random.key(seed), seeds)
    start = _first_stage(task, seed, seeds, steps, layers).layers
    start = {name: jnp.asarray(leaf[-1], jnp.float32) for name, leaf in start.items()}
    if full:
        eye = jnp.eye(task.dim, dtype=jnp.float32)
        start = {
            "M": start["M"][..., None, None] * eye,
            "theta": start["theta"][..., None] * jnp.ones_like(eye[0])}
    later = jax.vmap(jax.random.fold_in, (0, None))(keys, 1)
    return learning.train("lista-vm", task, later, start, _steps(THEN, steps))


@lru_cache(maxsize=32)
def _first_stage(
    task: SparseRecovery, seed: int, seeds: int, steps: int, layers: int
) -> learning.Trained:
    first = FIRST_STEP.get(task.design, 0.4)
    start = learning.start_layers("lista-vm", layers, seeds, step=first)
    keys = jax.random.split(jax.random.key(seed), seeds)
    return learning.train("lista-vm", task, keys, start, _steps(FIRST, steps))


def _steps(recipe: Recipe, steps: int) -> Recipe:
    return recipe._replace(steps=steps or recipe.steps)


def _rival(name: str, task: SparseRecovery, seed: int, seeds: int) -> learning.Trained:
    """ALISTA, LISTA or LISTA-CP trained on ever new matrices of the task."""
    X = None if name == "alista" else task.matrices(jax.random.key(seed), seeds, jnp.float32)
    start = learning.start_layers(name, common.LAYERS, seeds, X)
    keys = jax.random.split(jax.random.key(seed), seeds)
    return learning.train(name, task, keys, start, common.RECIPES[name])


@experiment(
    "sparse-recovery.full-matrix",
    scales={"standard": {"tests": 4000, "seeds": 3, "steps": 1500, "rivals": RIVALS}})
def full_matrix(
    key: Any, *, task: Task = "pool", tested: Task | None = None, tests: int = 1000, seeds: int = 2,
    training_seed: int = 0, steps: int = 0, rivals: tuple[str, ...] = (),
) -> xarray.Dataset:
    """Errors after the last layer on new matrices of the task (or of another one that is `tested`):
    LISTA-VM with scalars, with scalars and told the task's pool, and full, FISTA, and other learned
    algorithms. Also the learned matrices and thresholds of the full networks."""
    given = SparseRecovery.create(**TASKS[task])
    sample = SparseRecovery.create(**TASKS[tested or task]).sample(key, tests)
    numbers, matrices = (
        trained_vm(given, full, training_seed, seeds, steps) for full in (False, True))
    networks = {NUMBERS: numbers, TOLD: numbers, MATRIX: matrices} | {
        name: _rival(name, given, training_seed, seeds) for name in rivals}
    pool = np.isin(np.arange(given.dim), given.pool)
    errors = {
        label: [
            common.errors_of(
                label.split(",")[0], one.at(-1, seed), sample, pool if label == TOLD else None)[-1]
            for seed in range(seeds)]
        for label, one in networks.items()}
    errors["fista"] = [common.classical("fista", sample)[-1]] * seeds
    learned = [matrices.at(-1, seed) for seed in range(seeds)]
    return common.by_algorithm(errors, ("seed", "test")).assign(
        M=(("seed", "layer", "row", "column"), [one["M"] for one in learned]),
        theta=(("seed", "layer", "row"), [one["theta"] for one in learned]))
