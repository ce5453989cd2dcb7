"""ISTA and FISTA on one problem with the steps that were asked for, in NumPy: small problems, any
number of steps, nothing to compile."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from saccade.errors import unknown
from saccade.studies.sparse_recovery.theory import duality_gap, lasso_objective

METHODS = ("ista", "fista")


class Iterates(NamedTuple):
    """What was recorded, in the order asked for; step 0 is the start b = 0."""

    coefficients: Float[np.ndarray, "record dim"]
    objective: Float[np.ndarray, " record"]
    gap: Float[np.ndarray, " record"]
    lipschitz: float


def iterates(
    method: str, X: np.ndarray, y: np.ndarray, lam: float, record: Sequence[int]
) -> Iterates:
    """Run `method` up to the last recorded step. L = ||X||_2^2; for X = 0 the estimate stays 0."""
    if method not in METHODS:
        raise unknown("algorithm", method, METHODS)
    lipschitz = float(np.linalg.norm(X, 2) ** 2) if X.size else 0.0
    wanted, kept = set(record), {0: np.zeros(X.shape[1])}
    b = z = np.zeros(X.shape[1])
    momentum = 1.0
    for k in range(1, max(record) + 1 if lipschitz > 0 else 1):
        at = z if method == "fista" else b
        u = at - X.T @ (X @ at - y) / lipschitz
        new = np.sign(u) * np.maximum(np.abs(u) - lam / lipschitz, 0.0) + 0.0  # no negative zeros
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        z = new + (momentum - 1) / following * (new - b)
        b, momentum = new, following
        if k in wanted:
            kept[k] = b
    found = np.stack([kept.get(step, b) for step in record])
    return Iterates(
        found, lasso_objective(X, y, found, lam), duality_gap(X, y, found, lam), lipschitz)
