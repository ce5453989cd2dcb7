"""What is known of sparse recovery: the LASSO and its gap, bounds of ISTA and FISTA, coherence, and
a certificate of a linear rate.

The LASSO is F(b) = 1/2 |y - X b|^2 + lam |b|_1 (no 1/N; scikit-learn's alpha is lam/N). NumPy:
on small problems compiling would dominate. Leading axes are a batch.

The certificate: numbers computed from one matrix that guarantee how fast LISTA-VM converges on it.
With G = Sigma^{-1} X^T X/n, mu = max_{i != j} |G_ij|, delta = max_i |1 - g G_ii| and nu =
|Sigma^{-1} X^T eps/n|_inf, the iteration
    b <- S_{theta_k}(b - (g/n) Sigma^{-1} X^T (X b - y)),
    theta_k = g (mu E_k + nu),   E_{k+1} = q E_k + 2 S g nu,   q = delta + g mu (2S - 1)
from E_0 = |beta|_1 keeps supp(b_k) inside supp(beta) and |b_k - beta|_1 <= E_k.
Why: off the support the update is at most g (mu |e|_1 + nu) <= theta_k, hence cut to zero; on it
an error becomes at most |1 - g G_ii| |e_i| + g mu (|e|_1 - |e_i|) + g nu + theta_k; sum over the S
coordinates. Status: bound (by saccade; it implies the paper's form).
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import ArrayLike, Float
from scipy.optimize import linprog

from saccade.errors import require

Batch = Float[np.ndarray, "*batch"]
Matrix = Float[np.ndarray, "*batch row dim"]
Values = Float[np.ndarray, "*batch row"]
Vector = Float[np.ndarray, "*batch dim"]


def lasso_objective(X: Matrix, y: Values, b: Vector, lam) -> Batch:
    """F(b). Exact."""
    return 0.5 * ((y - _times(X, b)) ** 2).sum(-1) + lam * np.abs(b).sum(-1)


def lam_max(X: Matrix, y: Values) -> Batch:
    """||X^T y||_inf: from this lam on the solution is exactly zero."""
    return np.abs(_back(X, y)).max(-1, initial=0.0)


def duality_gap(X: Matrix, y: Values, b: Vector, lam) -> Batch:
    """F(b) - D(s) >= F(b) - F*, with D(s) = 1/2 |y|^2 - 1/2 |y - s|^2 at the scaled residual s = r
    min(1, lam/||X^T r||_inf). Written as 1/2 |r - s|^2 + (lam |b|_1 - s.X b), in which no large
    numbers cancel. For lam = 0 the residual is made feasible by projection onto the kernel of X^T
    instead, since scaling would leave only s = 0. Status: exact (weak duality)."""
    lam = np.asarray(lam, float)
    fitted = _times(X, b)
    r = y - fitted
    pull = np.abs(_back(X, r)).max(-1, initial=0.0)
    share = np.where(pull > lam, lam / np.where(pull > 0, pull, 1.0), 1.0)
    s = np.where(
        (lam > 0)[..., None], share[..., None] * r, _off_the_range(X, r) if np.any(lam == 0) else r)
    gap = 0.5 * ((r - s) ** 2).sum(-1) + lam * np.abs(b).sum(-1) - (s * fitted).sum(-1)
    return np.maximum(gap, 0.0)


def _off_the_range(X: Matrix, r: Values) -> Values:
    """The part of r orthogonal to every column of X."""
    return r - _times(X, _times(np.linalg.pinv(X), r)) if X.size else r


def _times(X: Matrix, b: Vector) -> Values:
    return np.einsum("...nd,...d->...n", X, b)


def _back(X: Matrix, r: Values) -> Vector:
    return np.einsum("...nd,...n->...d", X, r)


def ista_bound(step: ArrayLike, lipschitz: ArrayLike, distance: ArrayLike) -> Batch:
    """F(b_k) - F* <= L |b_0 - b*|^2/(2 k), k > 0. Bound (Beck and Teboulle 2009, Theorem 3.1)."""
    k = np.asarray(step, float)
    bound = np.asarray(lipschitz) * np.asarray(distance) ** 2 / np.where(k > 0, 2 * k, 1)
    return np.where(k > 0, bound, np.inf)


def fista_bound(step: ArrayLike, lipschitz: ArrayLike, distance: ArrayLike) -> Batch:
    """F(b_k) - F* <= 2 L |b_0 - b*|^2/(k + 1)^2. Bound (the same, Theorem 4.4; k = 0: b_0 = 0)."""
    k = np.asarray(step, float)
    return 2 * np.asarray(lipschitz) * np.asarray(distance) ** 2 / (k + 1) ** 2


def coherence(W: Matrix, X: Matrix) -> float:
    """max over i != j of |w_i^T x_j|; 0 for a single column. Exact."""
    product = np.abs(W.T @ X)
    np.fill_diagonal(product, 0.0)
    return float(product.max(initial=0.0))


def normalised_coherence(X: Matrix) -> float:
    """The coherence through W = X, columns divided by squared norms: w_i^T x_i = 1. Exact."""
    squares = (X**2).sum(0)
    return coherence(X / np.where(squares > 0, squares, 1.0), X)


def frobenius_objective(W: Matrix, X: Matrix) -> float:
    """||W^T X||_F^2, which ALISTA's weight minimises."""
    return float(((W.T @ X) ** 2).sum())


def lp_coherence(X: Matrix) -> float:
    """min_W max_{i != j} |w_i^T x_j| with w_i^T x_i = 1. Exact (a linear program a column)."""
    require(
        bool((np.abs(X).sum(0) > 0).all()), "X", "a matrix with a zero column",
        "must have no zero column")
    return max((_lp_column(X, i) for i in range(X.shape[1])), default=0.0)


def _lp_column(X: Matrix, i: int) -> float:
    """min over (w, t) of t with |w^T x_j| <= t for j != i and w^T x_i = 1."""
    rows, dim = X.shape
    if dim == 1:
        return 0.0
    others = np.delete(X, i, axis=1).T
    above = -np.ones((dim - 1, 1))
    program = linprog(
        np.append(np.zeros(rows), 1.0), A_ub=np.block([[others, above], [-others, above]]),
        b_ub=np.zeros(2 * (dim - 1)), A_eq=np.append(X[:, i], 0.0)[None, :], b_eq=[1.0],
        bounds=[(None, None)] * rows + [(0, None)])
    return float(program.fun)


def frobenius_by_projection(X: Matrix, steps: int = 2000) -> Matrix:
    """ALISTA's own recipe for its weight: W <- W - X (X^T W - I)/||X||^2, then back onto w_j^T x_j
    = 1, column by column. Slow where N is near d (20 x 20 is still off after 20,000 steps)."""
    squares = (X**2).sum(0)
    rate = 1 / np.linalg.norm(X, 2) ** 2
    W = X / squares
    for _ in range(steps):
        W = W - rate * X @ (X.T @ W - np.eye(X.shape[1]))
        W = W + X * (1 - (X * W).sum(0)) / squares
    return W


class Certificate(NamedTuple):
    """The guarantee: `bounds` E_0..E_K, `thresholds` theta_0..theta_{K-1}, `rate` q."""

    mu: float
    delta: float
    nu: float
    rate: float
    bounds: Float[np.ndarray, " steps+1"]
    thresholds: Float[np.ndarray, " steps"]
    matrix: Float[np.ndarray, "dim dim"]
    """M of the LISTA-VM that runs it: g ((2n + 1)/n) Sigma^{-1}"""


def certificate(X: Matrix, beta: Vector, noise, gamma, steps: int, covariance=None) -> Certificate:
    """The certificate for a given vector and noise; Sigma is the identity unless given."""
    rows, dim = X.shape
    inverse = np.eye(dim) if covariance is None else np.linalg.inv(covariance)
    G = inverse @ (X.T @ X) / rows
    mu = float(np.abs(G - np.diag(np.diag(G))).max(initial=0.0))
    delta = float(np.abs(1 - gamma * np.diag(G)).max())
    nu = float(np.abs(inverse @ (X.T @ noise) / rows).max())
    rate, bounds = error_bounds(
        mu, delta, nu, np.count_nonzero(beta), np.abs(beta).sum(), gamma, steps)
    thresholds = gamma * (mu * bounds[:-1] + nu)
    return Certificate(
        mu, delta, nu, float(rate), bounds, thresholds, gamma * (2 * rows + 1) / rows * inverse)


def error_bounds(mu, delta, nu, sparsity, start, gamma: float, steps: int):
    """q and E_0..E_K (last axis) for one or many matrices; `start` is E_0 >= |beta|_1."""
    mu, delta, nu, sparsity, start = (
        np.asarray(value, float) for value in (mu, delta, nu, sparsity, start))
    rate = delta + gamma * mu * (2 * sparsity - 1)
    bounds = [start + 0 * rate]
    for _ in range(steps):
        bounds.append(rate * bounds[-1] + 2 * sparsity * gamma * nu)
    return rate, np.stack(bounds, -1)


def reported_rate(rows, dim: int, sparsity: int, gamma: float, failure: float, constant=1.0):
    """alpha_n = -log(1 - (2/3) g + g (2S - 1) sqrt(log(d/failure)/(c n))): the paper's form as
    reported; c is not known to us. NaN where nothing is said. Status: heuristic."""
    shrink = (
        1 - 2 / 3 * gamma + gamma * (2 * sparsity - 1)
        * np.sqrt(np.log(dim / failure) / (np.asarray(rows) * constant)))
    return -np.log(np.where(shrink > 0, shrink, np.nan))


def reported_threshold(dim: int, sparsity: int, failure: float, constant: float = 1.0) -> float:
    """N_0 = 8 (4S - 2)^2 log(d S/failure)/c: the number of rows from which the paper's form speaks.
    Heuristic (c as above)."""
    return 8 * (4 * sparsity - 2) ** 2 * float(np.log(dim * sparsity / failure)) / constant
