"""What experiments on learned algorithms share: networks from the key of a run, and baselines."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray
from jaxtyping import Array, Float

from saccade.studies.sparse_recovery.dynamics import learning
from saccade.studies.sparse_recovery.dynamics.learning import Recipe
from saccade.studies.sparse_recovery.dynamics.solvers import solve_lasso, squared_errors
from saccade.studies.sparse_recovery.models.steps import prepare
from saccade.studies.sparse_recovery.models.unrolled import (
    Layers,
    algorithm_named,
    iterates,
    unroll,
)
from saccade.studies.sparse_recovery.task import RecoverySample, SparseRecovery

LAYERS = 12
PENALTIES = (0.5, 1.0, 2.0, 3.0)
LASSO_PENALTIES = (0.01, 0.03, 0.1)
METHODS = ("zero", "least squares", "ISTA", "FISTA", "FISTA, twice the steps", "LASSO")
TOGETHER = 200
"""Problems that are run at once: tests of all experiments share the programs of one shape."""
PREFIX_PENALTIES = (0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5)
PREFIX_LASSO_PENALTIES = (1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0)
NETWORKS = 20
"""Networks that are trained at once, each a replicate: trained and tested on its own problems."""
RECIPES = {
    "lista": Recipe(600, 16, 1e-3), "lista-cp": Recipe(600, 16, 1e-3),
    "alista": Recipe(200, 8, 1e-2), "lista-vm": Recipe(400, 16, 1e-2),
    "lista-block": Recipe(400, 16, 1e-2), "lista-adaptive": Recipe(300, 16, 1e-2)}
"""Steps chosen on learning curves (docs): at these every method has left its steep part; longer
runs change errors by a few per cent. With batches of 128 the median errors of LISTA-VM and ALISTA
are the same to a few per cent, too."""

SHARES = (0.0, 0.0625, 0.125, 0.25, 0.5)
"""When learning curves are recorded, as shares of a method's number of steps; the end is added."""

FIRST_STEP = {"gaussian": 0.4, "orthonormal": 1.2}
"""LISTA-VM starts with M = this I: stable below 2.1 for orthonormal rows, mostly below 0.6 else."""


def trained(
    name: str, task: SparseRecovery, key: Any, networks: int = NETWORKS, one_matrix: bool = False,
    steps: int = 0, record: tuple[int, ...] = (), batch: int = 0,
) -> tuple[learning.Trained, np.ndarray]:
    """Networks and the matrix each started from (with `one_matrix`, trained on), all from the key
    of the run: another seed or repetition of a claim has other networks."""
    matrix_key, train_key = jax.random.split(key)
    X = task.matrices(matrix_key, networks, jnp.float32)
    recipe = RECIPES[name]
    recipe = recipe._replace(steps=steps or recipe.steps, batch=batch or recipe.batch)
    options = {"step": FIRST_STEP[task.design]} if name in ("lista-vm", "lista-block") else {}
    matrix = X if name in ("lista", "lista-cp") else None
    start = learning.start_layers(name, LAYERS, networks, matrix, **options)
    fixed = {"groups": np.stack([groups(task)] * LAYERS)} if name == "lista-block" else None
    made = learning.train(
        name, task, jax.random.split(train_key, networks), start, recipe, X if one_matrix else None,
        record, fixed)
    return made, np.asarray(X, float)


def trained_on_many(
    name: str, task: SparseRecovery, key: Any, networks: int = NETWORKS, steps: int = 0,
    shares: tuple[float, ...] = (),
) -> learning.Trained:
    """Networks trained on ever new matrices of a task, recorded at shares of their steps."""
    stops = tuple(round(share * (steps or RECIPES[name].steps)) for share in shares)
    return trained(name, task, key, networks, False, steps, stops)[0]


def network(name: str, key: Any, task: SparseRecovery) -> Layers:
    """One network, trained on ever new matrices of a task with larger batches."""
    return trained(name, task, key, 1, batch=128)[0].at()


def apart(sample: RecoverySample, networks: int) -> list[RecoverySample]:
    """As many problems for each network, of its own."""
    parts = (np.split(np.asarray(leaf), networks) for leaf in sample)
    return [RecoverySample(*one) for one in zip(*parts, strict=True)]


def by_network(errors: np.ndarray, networks: int) -> np.ndarray:
    """Errors [...][test] of all problems as [network][...][test], the problems as in `apart`."""
    return np.stack(np.split(errors, networks, axis=-1))


def last_errors(
    name: str, trained: learning.Trained, samples: list[RecoverySample], mask: Any = None,
    threshold_share: float = 1.0, step_share: float = 1.0,
) -> np.ndarray:
    """Errors of each network on its own problems after the last layer, [network][test]; thresholds
    and the matrices M may be scaled."""
    scaled = [
        with_shares(trained.at(-1, place), threshold_share, step_share)
        for place in range(len(samples))]
    return np.stack([
        errors_of(name, layers, sample, mask)[-1]
        for layers, sample in zip(scaled, samples, strict=True)])


def with_shares(layers: Layers, threshold_share: float = 1.0, step_share: float = 1.0) -> Layers:
    """Layers with all thresholds times a number, and all M, if they have one, times another."""
    shares = {"theta": threshold_share, "M": step_share}
    return {name: shares.get(name, 1.0) * value for name, value in layers.items()}


def groups(task: SparseRecovery) -> Float[np.ndarray, "dim blocks"]:
    """d x blocks, one where a coordinate belongs to a block."""
    return np.repeat(np.eye(task.dim // task.block, dtype=np.float32), task.block, axis=0)


def errors_of(
    name: str, layers: Layers, sample: RecoverySample, mask: Any = None, repeat_last: int = 0
) -> np.ndarray:
    """|b - beta|^2 after every layer, [layer][sample]; TOGETHER problems at a time."""
    X, y, beta, count = map(np.asarray, (sample.X, sample.y, sample.beta, sample.count))
    known = np.ones(X.shape[-1], bool) if mask is None else np.asarray(mask)
    layers = {
        leaf: np.concatenate([value, np.repeat(value[-1:], repeat_last, 0)])
        for leaf, value in layers.items()}
    errors = []
    for start in range(0, len(y), TOGETHER):
        part = slice(start, start + TOGETHER)
        b = unroll(name, layers, X if X.ndim == 2 else X[part], y[part], known, count[part])
        errors.append(squared_errors(b, beta[part]))
    return np.concatenate(errors, axis=1)


def classical(
    name: str, sample: RecoverySample, layers: int = LAYERS, mask: Any = None,
    penalties: tuple[float, ...] = PENALTIES,
) -> np.ndarray:
    """Errors of ISTA or FISTA after every step, with the penalty best on these very problems."""
    X, y, beta = map(np.asarray, (sample.X, sample.y, sample.beta))
    known = np.ones(X.shape[-1], bool) if mask is None else np.asarray(mask)
    lam = np.repeat(np.asarray(penalties)[:, None], layers, axis=1)
    tried = []
    for start in range(0, len(y), TOGETHER):
        part = slice(start, start + TOGETHER)
        b = _with_penalties(name, lam, X if X.ndim == 2 else X[part], y[part], known)
        tried.append(squared_errors(b, beta[part]))
    return min(np.concatenate(tried, axis=-1), key=lambda errors: errors[-1].mean())


@partial(jax.jit, static_argnames="name")
def _with_penalties(name: str, lam, X, y, mask) -> Float[Array, "penalty step sample dim"]:
    """Iterates with each penalty; what is known of the matrices is computed once for all."""
    problem = prepare(X, y, mask)
    return jax.vmap(lambda one: iterates(algorithm_named(name), {"lam": one}, problem))(lam)


def converged(sample: RecoverySample) -> np.ndarray:
    """Errors of the minimiser of the LASSO, with the best of a few penalties."""
    return _best_lasso(sample.X, sample.y, sample.beta, LASSO_PENALTIES)


def _best_lasso(X, y, beta, penalties: tuple[float, ...]) -> np.ndarray:
    return _best([squared_errors(solve_lasso(X, y, lam).coefficients, beta) for lam in penalties])


def by_algorithm(errors: Mapping[str, Any], axes: tuple[str, ...], **at: Any) -> xarray.Dataset:
    """Errors as a dataset, one algorithm after the other; `at` are the coordinates of axes."""
    values = {"error": (("algorithm", *axes), list(errors.values()))}
    return xarray.Dataset(values, {"algorithm": list(errors), **at})


def classical_errors(
    sample: RecoverySample, prefixes: int, depth: int, mask: np.ndarray | None = None
) -> np.ndarray:
    """|b - beta|^2 of the METHODS from the first n = 1..prefixes rows, [method][prefix][task]; told
    a `mask`, they look only at those coordinates. Their penalties are chosen on the test tasks
    themselves, the best mean error for each prefix and depth, which favours them."""
    X, y, beta = (np.asarray(part, float) for part in (sample.X, sample.y, sample.beta))
    X = X if mask is None else X * mask
    return np.stack([_at_prefix(X, y, beta, n, depth) for n in range(1, prefixes + 1)], axis=1)


def _at_prefix(X: np.ndarray, y: np.ndarray, beta: np.ndarray, n: int, depth: int) -> np.ndarray:
    X, y = _first_rows(X, y, n)
    ista, fista = (
        np.stack([squared_errors(b, beta) for b in _penalised(name, X, y, steps)], axis=1)
        for name, steps in (("ista", depth), ("fista", 2 * depth)))
    shortest = np.einsum("pdn,pn->pd", np.linalg.pinv(X[:, :n]), y[:, :n])
    return np.stack([
        (beta**2).sum(1), squared_errors(shortest, beta), _best(ista[-1]),
        _best(fista[depth - 1]), _best(fista[-1]),
        _best_lasso(X[:, :n], y[:, :n], beta, PREFIX_LASSO_PENALTIES)])


def _first_rows(X: np.ndarray, y: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of zeros instead of fewer: no gradient notices, and all prefixes share one program."""
    shown = np.arange(X.shape[1]) < n
    return X * shown[None, :, None], y * shown


def _best(errors: Iterable[np.ndarray]) -> np.ndarray:
    """The errors with the penalty of the smallest mean error, from [penalty][task]."""
    return min(errors, key=lambda tasks: tasks.mean())


def _penalised(name: str, X: np.ndarray, y: np.ndarray, steps: int) -> list[np.ndarray]:
    """The iterates 1..steps of ISTA or FISTA with each penalty, [step][task]."""
    return [
        np.asarray(unroll(name, {"lam": np.full(steps, lam)}, X, y)) for lam in PREFIX_PENALTIES]


def best_iterates(name: str, sample: RecoverySample, rows: int, steps: int) -> np.ndarray:
    """The iterates from the first `rows` rows with the penalty that has the smallest mean error
    after all steps."""
    X, y = _first_rows(np.asarray(sample.X, float), np.asarray(sample.y, float), rows)
    # FISTA was run twice as long before: its first half is the same, and the program is there.
    tried = _penalised(name, X, y, 2 * steps if name == "fista" else steps)
    return min((b[:steps] for b in tried), key=lambda b: squared_errors(b[-1], sample.beta).mean())
