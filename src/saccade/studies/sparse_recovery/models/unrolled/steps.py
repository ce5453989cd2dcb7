"""One step of each algorithm. All take (problem, state, layer) and return the next state; the batch
is the leading axis.

    F(b) = 1/2 |y - X b|^2 + lam |b|_1  is what ISTA, FISTA and coordinate descent minimise; the
    learned ones have no lam.
S_t is the soft threshold, L = ||X||_2^2, n the number of rows that count. `layer` is a dictionary
of what the layer knows.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Bool, Float

from saccade.studies.sparse_recovery.models.unrolled.weights import alista_weight, squared_norm

Vectors = Float[Array, "sample dim"]
Layer = dict[str, Array]


class Problem(NamedTuple):
    """A batch of problems with what the steps need: `mask` says which coordinates may be non-zero,
    `count` is n."""

    X: Float[Array, "sample row dim"]
    y: Float[Array, "sample row"]
    mask: Bool[Array, "sample dim"]
    count: Float[Array, " sample"]
    squared_norm: Float[Array, " sample"]
    weight: Float[Array, "sample row dim"] | None


class State(NamedTuple):
    """The estimate `b`, the point `z` at which FISTA takes its gradient, and FISTA's momentum
    number t."""

    b: Vectors
    z: Vectors
    momentum: Float[Array, ""]


def soft_threshold(u: Float[Array, "..."], threshold: ArrayLike) -> Float[Array, "..."]:
    """S_t(u) = sign(u) max(|u| - t, 0), coordinate by coordinate; not a number stays so. Exact."""
    return jnp.where(jnp.abs(u) <= threshold, jnp.zeros((), u.dtype), u - jnp.sign(u) * threshold)


def problem(X, y, mask=None, count=None, weight: bool = False) -> Problem:
    """Prepare a batch: told a `mask`, columns outside it are zero, so that L and ALISTA's weight
    are those of the restricted problem."""
    X, y = jnp.asarray(X), jnp.asarray(y)
    allowed = jnp.broadcast_to(
        True if mask is None else jnp.asarray(mask, bool), (X.shape[0], X.shape[2]))
    X = X if mask is None else jnp.where(allowed[:, None, :], X, 0)
    rows = jnp.broadcast_to(
        jnp.asarray(X.shape[1] if count is None else count, X.dtype), X.shape[:1])
    return Problem(X, y, allowed, rows, squared_norm(X), alista_weight(X) if weight else None)


def begin(given: Problem) -> State:
    """b = 0 for every algorithm."""
    zero = jnp.zeros(given.mask.shape, given.X.dtype)
    return State(zero, zero, jnp.ones((), given.X.dtype))


def residual(given: Problem, b: Vectors) -> Float[Array, "sample row"]:
    """X b - y."""
    return jnp.einsum("bnd,bd->bn", given.X, b) - given.y


def gradient(given: Problem, b: Vectors) -> Vectors:
    """X^T (X b - y)."""
    return jnp.einsum("bnd,bn->bd", given.X, residual(given, b))


def _per_norm(given: Problem) -> Float[Array, "sample 1"]:
    """1/L, and 0 where X is zero: there nothing is to be learned and the estimate stays 0."""
    norm = given.squared_norm
    return jnp.where(norm > 0, 1 / jnp.where(norm > 0, norm, 1), 0)[:, None]


def _moved(given: Problem, state: State, u: Vectors, threshold: ArrayLike) -> State:
    """The state after a plain step to S_t(u), inside the mask."""
    b = jnp.where(given.mask, soft_threshold(u, threshold), 0)
    return State(b, b, state.momentum)


def ista(given: Problem, state: State, layer: Layer) -> State:
    """b <- S_{lam/L}(b - X^T (X b - y)/L)."""
    inverse = _per_norm(given)
    return _moved(
        given, state, state.b - inverse * gradient(given, state.b), inverse * layer["lam"])


def fista(given: Problem, state: State, layer: Layer) -> State:
    """b+ = S_{lam/L}(z - X^T (X z - y)/L);  t+ = (1 + sqrt(1 + 4 t^2))/2;  z = b+ + (t - 1)/t+ (b+
    - b)."""
    inverse = _per_norm(given)
    b = _moved(given, state, state.z - inverse * gradient(given, state.z), inverse * layer["lam"]).b
    momentum = (1 + jnp.sqrt(1 + 4 * state.momentum**2)) / 2
    return State(b, b + (state.momentum - 1) / momentum * (b - state.b), momentum)


def coordinate_descent(given: Problem, state: State, layer: Layer) -> State:
    """One cyclic sweep: b_j <- S_lam(x_j^T r + |x_j|^2 b_j)/|x_j|^2, skipping zero columns. r = y -
    X b is kept up to date."""
    squares = (given.X**2).sum(1)

    def coordinate(carry, j):
        b, r = carry
        column, square = given.X[:, :, j], squares[:, j]
        pull = (column * r).sum(1) + square * b[:, j]
        there = jnp.where(
            square > 0, soft_threshold(pull, layer["lam"]) / jnp.where(square > 0, square, 1), 0)
        r = r - column * (there - b[:, j])[:, None]
        return (b.at[:, j].set(there), r), None

    (b, _), _ = jax.lax.scan(
        coordinate, (state.b, -residual(given, state.b)), jnp.arange(given.X.shape[2]))
    return State(b, b, state.momentum)


def lista(given: Problem, state: State, layer: Layer) -> State:
    """b <- S_theta(W1 y + W2 b): the weights know one matrix, the step sees only y."""
    u = jnp.einsum("dn,bn->bd", layer["W1"], given.y) + jnp.einsum(
        "de,be->bd", layer["W2"], state.b)
    return _moved(given, state, u, layer["theta"])


def lista_cp(given: Problem, state: State, layer: Layer) -> State:
    """b <- S_theta(b + W^T (y - X b)): the weight knows one matrix, the residual sees the matrix at
    hand."""
    u = state.b - jnp.einsum("nd,bn->bd", layer["W"], residual(given, state.b))
    return _moved(given, state, u, layer["theta"])


def alista(given: Problem, state: State, layer: Layer) -> State:
    """b <- S_theta(b + gamma W(X)^T (y - X b)) with the closed-form weight of the matrix at hand,
    or a frozen one in the layer."""
    weight = jnp.broadcast_to(layer["W"], given.X.shape) if "W" in layer else given.weight
    assert weight is not None, "prepare the problem with weight=True"
    u = state.b - layer["gamma"] * jnp.einsum("bnd,bn->bd", weight, residual(given, state.b))
    return _moved(given, state, u, layer["theta"])


def lista_vm(given: Problem, state: State, layer: Layer) -> State:
    """b <- S_theta(b - M X^T (X b - y)/(2n + 1)), M a matrix or a number times the identity; rows
    of M outside the mask are zero."""
    slope = gradient(given, state.b) / (2 * given.count + 1)[:, None]
    M = layer["M"]
    turned = M * slope if M.ndim == 0 else jnp.einsum("de,be->bd", M, slope)
    return _moved(given, state, state.b - turned, layer["theta"])


def lista_block(given: Problem, state: State, layer: Layer) -> State:
    """LISTA-VM with a threshold on the length of whole blocks, as one would who is told the blocks
    (not in the paper).

    `layer["groups"]` is d x blocks with a one where a coordinate belongs to a block; u_g <- u_g
    max(1 - theta/|u_g|, 0).
    """
    u = state.b - layer["M"] * gradient(given, state.b) / (2 * given.count + 1)[:, None]
    groups = layer["groups"]
    length = jnp.sqrt(jnp.maximum(u**2 @ groups, 1e-30))
    b = jnp.where(given.mask, u * (jnp.maximum(1 - layer["theta"] / length, 0) @ groups.T), 0)
    return State(b, b, state.momentum)


def lista_adaptive(given: Problem, state: State, layer: Layer) -> State:
    """b <- S_theta(b - gamma X^T (X b - y)/L): LISTA-VM whose step knows the norm of the matrix at
    hand (not in the paper)."""
    return _moved(
        given, state, state.b - layer["gamma"] * _per_norm(given) * gradient(given, state.b),
        layer["theta"])
