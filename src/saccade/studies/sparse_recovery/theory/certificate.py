"""A certificate of a linear rate: numbers computed from one matrix that guarantee how fast LISTA-VM
converges on it.

With G = Sigma^{-1} X^T X/n, mu = max_{i != j} |G_ij|, delta = max_i |1 - g G_ii| and nu =
|Sigma^{-1} X^T eps/n|_inf, the iteration
    b <- S_{theta_k}(b - (g/n) Sigma^{-1} X^T (X b - y)),
    theta_k = g (mu E_k + nu),   E_{k+1} = q E_k + 2 S g nu,   q = delta + g mu (2S - 1)
from E_0 = |beta|_1 keeps supp(b_k) inside supp(beta) and |b_k - beta|_1 <= E_k.
Why: off the support the update is at most g (mu |e|_1 + nu) <= theta_k, hence cut to zero; on it
each error shrinks to at most
|1 - g G_ii| |e_i| + g mu (|e|_1 - |e_i|) + g nu + theta_k; sum over the S coordinates.
Status: bound (by saccade; it implies the paper's form).
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

Vector = Float[np.ndarray, " dim"]


class Certificate(NamedTuple):
    """The numbers of the guarantee; `bounds` are E_0..E_K, `thresholds` theta_0..theta_{K-1},
    `rate` is q (linear if below 1)."""

    mu: float
    delta: float
    nu: float
    rate: float
    bounds: Float[np.ndarray, " steps+1"]
    thresholds: Float[np.ndarray, " steps"]
    matrix: Float[np.ndarray, "dim dim"]
    """M of the LISTA-VM that runs it: g ((2n + 1)/n) Sigma^{-1}"""


def certificate(
    X: Float[np.ndarray, "row dim"], beta: Vector, noise: Float[np.ndarray, " row"], gamma: float,
    steps: int, covariance: Float[np.ndarray, "dim dim"] | None = None,
) -> Certificate:
    """The certificate of a matrix for a given vector and noise; Sigma is the identity unless
    given."""
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
    """q and E_0..E_K (last axis) from the numbers of one or many matrices; `start` is E_0, at least
    |beta|_1."""
    mu, delta, nu, sparsity, start = (
        np.asarray(value, float) for value in (mu, delta, nu, sparsity, start))
    rate = delta + gamma * mu * (2 * sparsity - 1)
    bounds = [start + 0 * rate]
    for _ in range(steps):
        bounds.append(rate * bounds[-1] + 2 * sparsity * gamma * nu)
    return rate, np.stack(bounds, -1)


def reported_rate(
    rows, dim: int, sparsity: int, gamma: float, failure: float, constant: float = 1.0
):
    """alpha_n = -log(1 - (2/3) g + g (2S - 1) sqrt(log(d/failure)/(c n))): the paper's form as
    reported; c is not known to us.

    NaN where the argument is not positive. Status: heuristic (the constant is ours to choose).
    """
    shrink = (
        1 - 2 / 3 * gamma + gamma * (2 * sparsity - 1)
        * np.sqrt(np.log(dim / failure) / (np.asarray(rows) * constant)))
    return -np.log(np.where(shrink > 0, shrink, np.nan))


def reported_threshold(dim: int, sparsity: int, failure: float, constant: float = 1.0) -> float:
    """N_0 = 8 (4S - 2)^2 log(d S/failure)/c: the number of rows from which the paper's form speaks.
    Heuristic (c as above)."""
    return 8 * (4 * sparsity - 2) ** 2 * float(np.log(dim * sparsity / failure)) / constant
