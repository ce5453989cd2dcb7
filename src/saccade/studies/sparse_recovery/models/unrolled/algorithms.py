"""The algorithms by name, each with the layers it starts training from, and the one loop that runs
them all."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from saccade.errors import unknown
from saccade.studies.sparse_recovery.models.unrolled import steps
from saccade.studies.sparse_recovery.models.unrolled.steps import (
    Layer,
    Problem,
    State,
    begin,
    problem,
)
from saccade.studies.sparse_recovery.models.unrolled.weights import squared_norm

Layers = dict[str, Array]
"""What all layers know, stacked: the leading axis of every array is the layer."""


@dataclass(frozen=True)
class Algorithm:
    """`step(problem, state, layer) -> state`; `start(...)` gives the layers training begins with."""

    name: str
    step: Callable[[Problem, State, Layer], State]
    start: Callable[..., Layers]
    weight: bool = False
    """whether the problem must be prepared with ALISTA's weight"""


def _penalised(layers: int, lam: float = 0.1, dtype=jnp.float64, **_) -> Layers:
    return {"lam": jnp.full(layers, lam, dtype)}


def _lista_start(layers: int, X, threshold: float = 0.1, dtype=jnp.float64, **_) -> Layers:
    """ISTA on the training matrix: W1 = X^T/L, W2 = I - X^T X/L."""
    X = jnp.asarray(X, dtype)
    step = X.T / squared_norm(X)
    stacked = {
        "W1": step, "W2": jnp.eye(X.shape[1], dtype=dtype) - step @ X,
        "theta": jnp.asarray(threshold, dtype)}
    return {
        name: jnp.broadcast_to(value, (layers, *value.shape)) for name, value in stacked.items()}


def _lista_cp_start(layers: int, X, threshold: float = 0.1, dtype=jnp.float64, **_) -> Layers:
    """ISTA on the training matrix: W = X/L."""
    X = jnp.asarray(X, dtype)
    weight = jnp.broadcast_to(X / squared_norm(X), (layers, *X.shape))
    return {"W": weight, "theta": jnp.full(layers, threshold, dtype)}


def _scalars(
    layers: int, step: float = 1.0, threshold: float = 0.1, dtype=jnp.float64, **_
) -> Layers:
    return {"gamma": jnp.full(layers, step, dtype), "theta": jnp.full(layers, threshold, dtype)}


def _lista_vm_start(
    layers: int, step: float = 0.4, threshold: float = 0.1, dtype=jnp.float64, **_
) -> Layers:
    """M = step I, kept as a number: by the symmetry of the task a full matrix brings nothing."""
    return {"M": jnp.full(layers, step, dtype), "theta": jnp.full(layers, threshold, dtype)}


ALGORITHMS: dict[str, Algorithm] = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm("ista", steps.ista, _penalised), Algorithm("fista", steps.fista, _penalised),
        Algorithm("cd", steps.coordinate_descent, _penalised),
        Algorithm("lista", steps.lista, _lista_start),
        Algorithm("lista-cp", steps.lista_cp, _lista_cp_start),
        Algorithm("alista", steps.alista, _scalars, weight=True),
        Algorithm("lista-vm", steps.lista_vm, _lista_vm_start),
        Algorithm("lista-block", steps.lista_block, _lista_vm_start),
        Algorithm("lista-adaptive", steps.lista_adaptive, _scalars))}


def algorithm_named(name: str) -> Algorithm:
    """The algorithm called `name`, or a refusal with the nearest name."""
    if name not in ALGORITHMS:
        raise unknown("algorithm", name, ALGORITHMS)
    return ALGORITHMS[name]


def unroll(
    name: str, layers: Layers, X, y, mask=None, count=None, repeat_last: int = 0
) -> Float[np.ndarray, "layer sample dim"]:
    """All iterates 1..K (+ `repeat_last` further uses of the last layer) on a batch of problems,
    compiled once a shape."""
    algorithm = algorithm_named(name)
    return np.asarray(
        iterates(algorithm.name, layers, jnp.asarray(X), jnp.asarray(y), mask, count, repeat_last))


@partial(jax.jit, static_argnames=("name", "repeat_last"))
def iterates(
    name: str, layers: Layers, X, y, mask=None, count=None, repeat_last: int = 0
) -> Float[Array, "layer sample dim"]:
    """The same as an array of JAX, for a name that is known."""
    longer = jax.tree.map(
        lambda leaf: jnp.concatenate([leaf, jnp.repeat(leaf[-1:], repeat_last, 0)]), layers)
    return traced_iterates(
        ALGORITHMS[name], longer, problem(X, y, mask, count, ALGORITHMS[name].weight))


def traced_iterates(
    algorithm: Algorithm, layers: Layers, given: Problem
) -> Float[Array, "layer sample dim"]:
    """The same inside a compiled function: a scan over layers."""

    def step(state: State, layer: Layer):
        state = algorithm.step(given, state, layer)
        return state, state.b

    return jax.lax.scan(step, begin(given), layers)[1]


@jax.jit
def lista_vm_prefixes(X, y, M, thresholds, mask=None) -> Float[Array, "layer prefix dim"]:
    """LISTA-VM for all prefixes of a prompt at once, which is what the constructed transformer runs:
    iterates 1..K for n = 0..N. X is (N, d), M (K, d, d), thresholds (K, d) or (K,). Exact.

    b_n <- S_theta(b_n - M X_[n]^T (X_[n] b_n - y_[n])/(2n + 1)), X_[n] the first n rows; prefix 0
    knows nothing and stays 0.
    """
    rows, dim = X.shape
    count = jnp.arange(rows + 1)
    seen = jnp.arange(rows)[None, :] < count[:, None]
    given = problem(jnp.where(seen[:, :, None], X, 0), jnp.where(seen, y, 0), None, count)
    if mask is not None:  # rows of M outside the pool are zero, the columns of X are not
        given = given._replace(mask=jnp.broadcast_to(mask, (rows + 1, dim)))
    return traced_iterates(ALGORITHMS["lista-vm"], {"M": M, "theta": thresholds}, given)
