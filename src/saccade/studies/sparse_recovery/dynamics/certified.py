"""The iteration that a certificate speaks of, run on the problem it was made for."""

import numpy as np
from jaxtyping import Float

from saccade.studies.sparse_recovery.theory import Certificate, certificate

__all__ = ["Certificate", "certificate", "certified_errors", "certified_iterates"]


def certified_iterates(
    X: np.ndarray, y: np.ndarray, made: Certificate
) -> Float[np.ndarray, "steps+1 dim"]:
    """b_0 = 0 and the K iterates b <- S_{theta_k}(b - M X^T (X b - y)/(2n + 1)) with the
    certificate's matrix and thresholds."""
    b = np.zeros(X.shape[1])
    found = [b]
    for threshold in made.thresholds:
        u = b - made.matrix @ (X.T @ (X @ b - y)) / (2 * len(X) + 1)
        b = np.sign(u) * np.maximum(np.abs(u) - threshold, 0.0)
        found.append(b)
    return np.stack(found)


def certified_errors(
    X: np.ndarray, beta: np.ndarray, noise: np.ndarray, made: Certificate
) -> np.ndarray:
    """|b_k - beta|_1 for k = 0..K, with y = X beta + noise."""
    return np.abs(certified_iterates(X, X @ beta + noise, made) - beta).sum(1)
