"""LISTA-VM as the paper defines it, with a full matrix M and a threshold for each coordinate a
layer, on tasks with and without a structure that such a layer could learn.

A full network starts from the trained network with one number and one threshold a layer, of which
it is a generalisation; the other goes on training for as many steps.
"""

from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.sparse_recovery.dynamics import learning
from saccade.studies.sparse_recovery.dynamics.learning import Recipe
from saccade.studies.sparse_recovery.experiments import common
from saccade.studies.sparse_recovery.task import RecoverySample, SparseRecovery

TASKS: dict[str, dict[str, Any]] = {
    "gaussian": {}, "correlated": {"design": "correlated", "correlation": 0.8},
    "pool": {"pool": range(10)}, "other pool": {"pool": range(10, 20)},
    "blocks": {"sparsity": 4, "block": 4, "design": "orthonormal"}}
FIRST_STEP = {"correlated": 0.15, "orthonormal": 1.2}
"""Where the first scalars start: below what most matrices of the law allow."""
FIRST, THEN = Recipe(250, 64, 1e-2), Recipe(250, 64, 3e-3)
NUMBERS, MATRIX, TOLD = "lista-vm", "lista-vm, full", "lista-vm, told"
RIVALS = ("alista", "lista", "lista-cp")
OUTSIDE = {"pool": "other pool"}
Task = Literal["gaussian", "correlated", "pool", "blocks"]


def trained_vm(
    task: SparseRecovery, key: Any, networks: int = 1, steps: int = 0, layers: int = common.LAYERS,
    batch: int = 128,
) -> tuple[learning.Trained, learning.Trained]:
    """LISTA-VM trained on ever new matrices: a first stage with one number and one threshold a
    layer, and two second ones from its end, as before and full."""
    first = FIRST_STEP.get(task.design, 0.4)
    start = learning.start_layers("lista-vm", layers, networks, step=first)
    keys = jax.random.split(key, networks)
    recipes = [
        one._replace(steps=steps or one.steps, batch=batch or one.batch) for one in (FIRST, THEN)]
    stage = learning.train("lista-vm", task, keys, start, recipes[0]).layers
    numbers = {name: jnp.asarray(leaf[-1], jnp.float32) for name, leaf in stage.items()}
    eye = jnp.eye(task.dim, dtype=jnp.float32)
    full = {
        "M": numbers["M"][..., None, None] * eye,
        "theta": numbers["theta"][..., None] * jnp.ones_like(eye[0])}
    later = jax.vmap(lambda one: jax.random.fold_in(one, 1))(keys)
    as_before, as_defined = (
        learning.train("lista-vm", task, later, start, recipes[1]) for start in (numbers, full))
    return as_before, as_defined


@experiment(
    "sparse-recovery.full-matrix",
    scales={"standard": {"tests": 1600, "steps": 1500, "rivals": RIVALS}})
def full_matrix(
    key: Any, *, task: Task = "pool", tests: int = 400, networks: int = common.NETWORKS,
    steps: int = 0, batch: int = 0, rivals: tuple[str, ...] = (),
) -> xarray.Dataset:
    """Errors after the last layer on new matrices of the task, each network's own: LISTA-VM with
    scalars, with scalars and told the task's pool, and full, FISTA, and other learned algorithms;
    the first three also on supports outside the pool, if there is one. Also the learned matrices
    and thresholds of the full networks."""
    given, other = (
        SparseRecovery.create(**TASKS[name]) for name in (task, OUTSIDE.get(task, task)))
    train_key, test_key = jax.random.split(key)
    numbers, matrices = trained_vm(given, train_key, networks, steps, batch=batch)
    made = {NUMBERS: numbers, TOLD: numbers, MATRIX: matrices}
    rest = {name: common.trained_on_many(name, given, train_key, networks) for name in rivals}
    pool = np.isin(np.arange(given.dim), given.pool)
    sample, elsewhere = (one.sample(test_key, networks * tests) for one in (given, other))

    def errors_on(sample: RecoverySample, made: dict[str, learning.Trained]) -> dict:
        samples = common.apart(sample, networks)
        return {
            label: common.last_errors(
                label.split(",")[0], one, samples, pool if label == TOLD else None)
            for label, one in made.items()}

    errors = errors_on(sample, made | rest) | {
        "fista": common.by_network(common.classical("fista", sample)[-1], networks)}
    outside = errors_on(elsewhere, made)
    learned = [matrices.at(-1, place) for place in range(networks)]
    return (
        common.by_algorithm(errors, ("network", "test"))
        .assign(
            outside_error=(("variant", "network", "test"), list(outside.values())),
            M=(("network", "layer", "row", "column"), [one["M"] for one in learned]),
            theta=(("network", "layer", "row"), [one["theta"] for one in learned]))
        .assign_coords(variant=list(made)))
