"""The algorithms by name, each with the layers it starts training from, the one loop that runs them
all, and the form in which they are models of the contract."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from saccade.contracts import Mask, Tokens
from saccade.errors import unknown
from saccade.studies.sparse_recovery.models import steps
from saccade.studies.sparse_recovery.models.steps import Layer, Problem, State
from saccade.studies.sparse_recovery.task import read_columns

Layers = dict[str, Any]
"""What all layers know, stacked: the leading axis of every array is the layer."""
Iterates = Float[Array, "layer sample dim"]


class Algorithm(NamedTuple):
    """`step(problem, state, layer) -> state`; `start(...)`: the layers training begins with."""

    step: Callable[[Problem, State, Layer], State]
    start: Callable[..., Layers]
    weight: bool = False
    """whether the problem must be prepared with ALISTA's weight"""


def _penalised(layers: int, lam: float = 0.1, dtype=jnp.float64, **_) -> Layers:
    return {"lam": np.full(layers, lam, dtype)}


def _as_ista(names, layers: int, X, threshold=0.1, dtype=jnp.float64, **_) -> Layers:
    """ISTA on the training matrix: W1 = X^T/L and W2 = I - X^T X/L, or W = X/L."""
    X = np.asarray(X, dtype)
    W = X / np.linalg.norm(X, 2) ** 2
    parts = {"W": W, "W1": W.T, "W2": np.eye(X.shape[1], dtype=dtype) - W.T @ X}
    parts["theta"] = np.asarray(threshold, dtype)
    return {name: np.repeat(parts[name][None], layers, 0) for name in names}


def _numbers(name, usual, layers: int, step=None, threshold=0.1, dtype=jnp.float64, **_) -> Layers:
    """A step and a threshold a layer; M = step I: by symmetry a full matrix brings nothing."""
    first = usual if step is None else step
    return {name: np.full(layers, first, dtype), "theta": np.full(layers, threshold, dtype)}


ALGORITHMS = {
    "ista": Algorithm(steps.ista, _penalised), "fista": Algorithm(steps.fista, _penalised),
    "cd": Algorithm(steps.coordinate_descent, _penalised),
    "lista": Algorithm(steps.lista, partial(_as_ista, ("W1", "W2", "theta"))),
    "lista-cp": Algorithm(steps.lista_cp, partial(_as_ista, ("W", "theta"))),
    "alista": Algorithm(steps.alista, partial(_numbers, "gamma", 1.0), weight=True),
    "lista-vm": Algorithm(steps.lista_vm, partial(_numbers, "M", 0.4)),
    "lista-block": Algorithm(steps.lista_block, partial(_numbers, "M", 0.4)),
    "lista-adaptive": Algorithm(steps.lista_adaptive, partial(_numbers, "gamma", 1.0))}


def algorithm_named(name: str) -> Algorithm:
    """The algorithm called `name`, or a refusal with the nearest name."""
    if name not in ALGORITHMS:
        raise unknown("algorithm", name, ALGORITHMS)
    return ALGORITHMS[name]


@partial(jax.jit, static_argnames="name")
def unroll(name: str, layers: Layers, X, y, mask=None, count=None) -> Iterates:
    """All iterates 1..K on a batch of problems."""
    algorithm = algorithm_named(name)
    return iterates(algorithm, layers, steps.prepare(X, y, mask, count, algorithm.weight))


def iterates(algorithm: Algorithm, layers: Layers, problem: Problem) -> Iterates:
    """The same inside a compiled function: a scan over layers."""

    def step(state: State, layer: Layer):
        state = algorithm.step(problem, state, layer)
        return state, state.b

    return jax.lax.scan(step, steps.begin(problem), layers)[1]


@jax.jit
def lista_vm_prefixes(X, y, M, thresholds, mask=None) -> Float[Array, "layer prefix dim"]:
    """LISTA-VM for all prefixes of a prompt at once, as the constructed transformer runs it:
    iterates 1..K for n = 0..N. X is (N, d), M (K, d, d), thresholds (K, d) or (K,). Exact.
    b_n <- S_theta(b_n - M X_[n]^T (X_[n] b_n - y_[n])/(2n + 1)), X_[n] the first n rows."""
    rows, dim = X.shape
    count = jnp.arange(rows + 1)
    known = jnp.arange(rows)[None, :] < count[:, None]
    problem = steps.prepare(jnp.where(known[:, :, None], X, 0), jnp.where(known, y, 0), None, count)
    if mask is not None:  # rows of M outside the pool are zero, the columns of X are not
        problem = problem._replace(mask=jnp.broadcast_to(mask, (rows + 1, dim)))
    return iterates(ALGORITHMS["lista-vm"], {"M": M, "theta": thresholds}, problem)


class UnrolledRecovery(eqx.Module):
    """K steps of an algorithm on the tokens of `task.ColumnsAsTokens`; predicts b^T query."""

    algorithm: str = eqx.field(static=True)
    layers: Layers

    def coefficients(self, X: Tokens, mask: Mask | None = None) -> Float[Array, "n length"]:
        """b after the last layer; zero at masked columns and at the token of measured values."""
        matrix, y, _, is_column = read_columns(X, mask)
        count = (matrix != 0).any(2).sum(1)
        return unroll(self.algorithm, self.layers, matrix, y, is_column, count)[-1]

    def __call__(self, X: Tokens, mask: Mask | None = None) -> Float[Array, " n"]:
        return (self.coefficients(X, mask) * read_columns(X, mask).query).sum(1)

    def attention(self, X: Tokens, mask: Mask | None = None) -> Float[Array, "n length"]:
        """|b_j|/|b|_1; the same for all columns where b is zero."""
        size = jnp.abs(self.coefficients(X, mask))
        size = jnp.where((size > 0).any(1, keepdims=True), size, read_columns(X, mask).is_column)
        return size / jnp.maximum(size.sum(1, keepdims=True), jnp.finfo(size.dtype).tiny)
