"""One step of ISTA, FISTA, coordinate descent, which minimise F(b) = 1/2 |y - X b|^2 + lam |b|_1,
and of each of the LISTA family, which have no lam.

S_t is the soft threshold, L = ||X||_2^2, n the number of rows that count. A step takes (problem,
state, layer) and returns the next state; `layer` says by name what the layer knows, the batch is
the leading axis. All problems of a batch may share one matrix: then it has no leading axis, L and
ALISTA's weight are computed once, and every product is that of two matrices.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Bool, Float

Matrix = Float[Array, "*batch row dim"]
CUT = 1e-12  # eigenvalues of X X^T below this share of the largest count as zero
Vectors = Float[Array, "sample dim"]
Rows = Float[Array, "sample row"]
Layer = dict[str, Array]


def squared_norm(X: Matrix) -> Float[Array, "*batch"]:
    """L = ||X||_2^2, from the smaller Gram matrix; zero for a matrix without rows. Exact."""
    rows, dim = X.shape[-2:]
    if rows == 0:
        return jnp.zeros(X.shape[:-2], X.dtype)
    gram = X @ X.swapaxes(-1, -2) if rows <= dim else X.swapaxes(-1, -2) @ X
    return jnp.maximum(jnp.linalg.eigvalsh(gram)[..., -1], 0)


def alista_weight(X: Matrix) -> Matrix:
    """ALISTA's weight: argmin ||W^T X||_F^2 with diag(W^T X) = 1, which is w_j = P x_j/(x_j^T P
    x_j), P = pinv(X X^T). From the singular vectors: W = U S^{-1} V^T with column j divided by the
    leverage sum_i V_ji^2. A zero column of X has no such weight and gets a zero one. With N >= d
    and full rank W = X (X^T X)^{-1}. Status: exact (closed form by saccade, any N and d)."""
    if X.shape[-2] == 0:
        return jnp.zeros_like(X)
    u, s, vt = jnp.linalg.svd(X, full_matrices=False)
    kept = s**2 > CUT * s[..., :1] ** 2
    vt = jnp.where(kept[..., None], vt, 0)
    leverage = (vt**2).sum(-2)
    inverse = jnp.where(kept, 1 / jnp.where(kept, s, 1), 0)
    weight = (u * inverse[..., None, :]) @ vt
    present = (X != 0).any(-2) & (leverage > CUT)
    return jnp.where(
        present[..., None, :], weight / jnp.where(present, leverage, 1)[..., None, :], 0)


class Problem(NamedTuple):
    """A batch of problems with a matrix each (`*batch` is `sample`) or one for all (`*batch` is
    empty); `mask`: which coordinates may be non-zero, `count`: n, `per_norm`: 1/L, and 0 where X is
    zero: there nothing is to be learned and the estimate stays 0."""

    X: Matrix
    y: Rows
    mask: Bool[Array, "sample dim"]
    count: Float[Array, " sample"]
    per_norm: Float[Array, "*batch 1"]
    weight: Matrix | None


class State(NamedTuple):
    """The estimate `b`, FISTA's point `z` of the gradient and its momentum number t."""

    b: Vectors
    z: Vectors
    momentum: Float[Array, ""]


def soft_threshold(u: Float[Array, "..."], threshold: ArrayLike) -> Float[Array, "..."]:
    """S_t(u) = sign(u) max(|u| - t, 0), coordinate by coordinate; not a number stays so. Exact."""
    return jnp.where(jnp.abs(u) <= threshold, jnp.zeros((), u.dtype), u - jnp.sign(u) * threshold)


def prepare(X, y, mask=None, count=None, weight: bool = False) -> Problem:
    """Prepare a batch with a matrix for each problem, or one (row, dim) for all; columns outside a
    `mask` are zero, in L and in ALISTA's weight too, so masks that differ make matrices differ."""
    X, y = jnp.asarray(X), jnp.asarray(y)
    n, rows, dim = len(y), *X.shape[-2:]
    allowed = jnp.asarray(True if mask is None else mask, bool)
    X = X if mask is None else jnp.where(allowed[..., None, :], X, 0)
    counts = jnp.broadcast_to(jnp.asarray(rows if count is None else count, X.dtype), (n,))
    norm = squared_norm(X)[..., None]
    per_norm = jnp.where(norm > 0, 1 / jnp.where(norm > 0, norm, 1), 0)
    allowed = jnp.broadcast_to(allowed, (n, dim))
    return Problem(X, y, allowed, counts, per_norm, alista_weight(X) if weight else None)


def begin(problem: Problem) -> State:
    """b = 0 for every algorithm."""
    zero = jnp.zeros(problem.mask.shape, problem.X.dtype)
    return State(zero, zero, jnp.ones((), problem.X.dtype))


def times(X: Matrix, b: Vectors) -> Rows:
    """X b of every problem."""
    return b @ X.T if X.ndim == 2 else jnp.einsum("bnd,bd->bn", X, b)


def back(X: Matrix, r: Rows) -> Vectors:
    """X^T r of every problem."""
    return r @ X if X.ndim == 2 else jnp.einsum("bnd,bn->bd", X, r)


def residual(problem: Problem, b: Vectors) -> Rows:
    """X b - y."""
    return times(problem.X, b) - problem.y


def gradient(problem: Problem, b: Vectors) -> Vectors:
    """X^T (X b - y)."""
    return back(problem.X, residual(problem, b))


def _moved(problem: Problem, state: State, u: Vectors, threshold: ArrayLike) -> State:
    """The state after a plain step to S_t(u), inside the mask."""
    b = jnp.where(problem.mask, soft_threshold(u, threshold), 0)
    return State(b, b, state.momentum)


def ista(problem: Problem, state: State, layer: Layer) -> State:
    """b <- S_{lam/L}(b - X^T (X b - y)/L)."""
    u = state.b - problem.per_norm * gradient(problem, state.b)
    return _moved(problem, state, u, problem.per_norm * layer["lam"])


def fista(problem: Problem, state: State, layer: Layer) -> State:
    """b+ = S_{lam/L}(z - X^T (X z - y)/L);  t+ = (1 + sqrt(1 + 4 t^2))/2;
    z = b+ + (t - 1)/t+ (b+ - b)."""
    u = state.z - problem.per_norm * gradient(problem, state.z)
    b = _moved(problem, state, u, problem.per_norm * layer["lam"]).b
    momentum = (1 + jnp.sqrt(1 + 4 * state.momentum**2)) / 2
    return State(b, b + (state.momentum - 1) / momentum * (b - state.b), momentum)


def coordinate_descent(problem: Problem, state: State, layer: Layer) -> State:
    """One sweep: b_j <- S_lam(x_j^T r + |x_j|^2 b_j)/|x_j|^2, r = y - X b; no zero columns."""
    squares = (problem.X**2).sum(-2)

    def coordinate(carry, j):
        b, r = carry
        column, square = problem.X[..., j], squares[..., j]
        pull = (column * r).sum(-1) + square * b[:, j]
        there = jnp.where(
            square > 0, soft_threshold(pull, layer["lam"]) / jnp.where(square > 0, square, 1), 0)
        r = r - column * (there - b[:, j])[:, None]
        return (b.at[:, j].set(there), r), None

    (b, _), _ = jax.lax.scan(
        coordinate, (state.b, -residual(problem, state.b)), jnp.arange(problem.X.shape[-1]))
    return State(b, b, state.momentum)


def lista(problem: Problem, state: State, layer: Layer) -> State:
    """b <- S_theta(W1 y + W2 b): the weights know one matrix, the step sees only y."""
    u = times(layer["W1"], problem.y) + times(layer["W2"], state.b)
    return _moved(problem, state, u, layer["theta"])


def lista_cp(problem: Problem, state: State, layer: Layer) -> State:
    """b <- S_theta(b + W^T (y - X b)): the weight knows one matrix, the residual this one."""
    u = state.b - back(layer["W"], residual(problem, state.b))
    return _moved(problem, state, u, layer["theta"])


def alista(problem: Problem, state: State, layer: Layer) -> State:
    """b <- S_theta(b + gamma W(X)^T (y - X b)) with the closed-form weight of the matrix at hand,
    or a frozen one in the layer."""
    weight = layer.get("W", problem.weight)
    assert weight is not None, "prepare the problem with weight=True"
    u = state.b - layer["gamma"] * back(weight, residual(problem, state.b))
    return _moved(problem, state, u, layer["theta"])


def lista_vm(problem: Problem, state: State, layer: Layer) -> State:
    """b <- S_theta(b - M X^T (X b - y)/(2n + 1)), M a matrix or a number times the identity; rows
    of M outside the mask are zero."""
    uphill = gradient(problem, state.b) / (2 * problem.count + 1)[:, None]
    M = layer["M"]
    turned = M * uphill if M.ndim == 0 else times(M, uphill)
    return _moved(problem, state, state.b - turned, layer["theta"])


def lista_block(problem: Problem, state: State, layer: Layer) -> State:
    """LISTA-VM with a threshold on the length of whole blocks, as one would who is told them (not
    in the paper): u_g <- u_g max(1 - theta/|u_g|, 0). `layer["groups"]` is d x blocks with a one
    where a coordinate belongs to a block."""
    u = state.b - layer["M"] * gradient(problem, state.b) / (2 * problem.count + 1)[:, None]
    groups = layer["groups"]
    length = jnp.sqrt(jnp.maximum(u**2 @ groups, 1e-30))
    b = jnp.where(problem.mask, u * (jnp.maximum(1 - layer["theta"] / length, 0) @ groups.T), 0)
    return State(b, b, state.momentum)


def lista_adaptive(problem: Problem, state: State, layer: Layer) -> State:
    """b <- S_theta(b - gamma X^T (X b - y)/L): LISTA-VM whose step knows the norm of the matrix at
    hand (not in the paper)."""
    u = state.b - layer["gamma"] * problem.per_norm * gradient(problem, state.b)
    return _moved(problem, state, u, layer["theta"])
