"""Yardsticks for the estimators.

Sparse tokens: the likelihood ratio, which knows the direction and cannot be beaten. Single-location
regression: attention by erf instead of softmax, fitted by L-BFGS:

    F(X) = sum_l erf(lam X_l . k) X_l . v,  lam k and v free vectors, squared loss with a ridge
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import erf, logsumexp


def likelihood_ratio(X: np.ndarray, signal: float) -> np.ndarray:
    """log sum_l exp(theta X_l . xi), xi = (1, ..., 1)/sqrt d: up to a constant the logarithm of the
    likelihood of a bag with one token shifted by theta xi over that of noise."""
    along = X.sum(axis=2) / np.sqrt(X.shape[2])
    return np.asarray(logsumexp(signal * along, axis=1))


class ErfModel(NamedTuple):
    """`query` is lam k, `value` is v."""

    query: np.ndarray
    value: np.ndarray

    def predict(self, X: np.ndarray) -> np.ndarray:
        return (erf(X @ self.query) * (X @ self.value)).sum(axis=1)

    def attention(self, X: np.ndarray) -> np.ndarray:
        """|erf| of each token, to one; its sign is taken up by the value."""
        weight = np.abs(erf(X @ self.query))
        return weight / weight.sum(axis=1, keepdims=True)


def objective(theta: np.ndarray, X: np.ndarray, y: np.ndarray, ridge: float):
    """Mean squared error/2 + ridge/2 |theta|^2, and its gradient."""
    tokens = X.reshape(-1, X.shape[2])  # all at once: one product instead of one a bag
    scores, values = (theta.reshape(2, -1) @ tokens.T).reshape(2, *X.shape[:2])
    gate = erf(scores)
    wrong = ((gate * values).sum(axis=1) - y) / len(y)
    slope = 2 / np.sqrt(np.pi) * np.exp(-np.square(scores))
    pulls = wrong[:, None] * np.stack([slope * values, gate])
    loss = len(y) * wrong @ wrong / 2 + ridge / 2 * theta @ theta
    return loss, (pulls.reshape(2, -1) @ tokens).ravel() + ridge * theta


def fit_erf(
    X: np.ndarray, y: np.ndarray, random: np.random.Generator, ridge: float = 1e-3, starts: int = 3
) -> ErfModel:
    """The best of `starts` random starts, entries N(0, 1/d)."""
    dim = X.shape[2]
    ends = [
        minimize(
            objective, random.standard_normal(2 * dim) / np.sqrt(dim), (X, y, ridge), "L-BFGS-B",
            jac=True, options={"maxiter": 300})
        for _ in range(starts)]
    best = min(ends, key=lambda end: end.fun)
    return ErfModel(*np.split(best.x, 2))
