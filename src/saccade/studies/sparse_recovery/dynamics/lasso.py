"""The LASSO on a batch of problems to a wanted accuracy: paths by pivoting for all, an active-set
method for the few that need it."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from saccade.errors import require
from saccade.studies.sparse_recovery.dynamics.active_set import solve_exactly
from saccade.studies.sparse_recovery.dynamics.pivoting import follow_paths
from saccade.studies.sparse_recovery.theory import duality_gap, lam_max, lasso_objective


class Solved(NamedTuple):
    """Minimisers, their values and duality gaps, lam_max, and how many problems the active-set
    method had to finish."""

    coefficients: Float[np.ndarray, "problem dim"]
    objective: Float[np.ndarray, " problem"]
    gap: Float[np.ndarray, " problem"]
    lam_max: Float[np.ndarray, " problem"]
    finished_singly: int


def solve_lasso(X, y, lam, tolerance: float = 1e-10) -> Solved:
    """Minimise 1/2 |y - X b|^2 + lam |b|_1 for X (problem, N, d), y (problem, N), lam a number or
    one a problem, in float64.

    `tolerance` is the duality gap allowed, as a share of F(0) = 1/2 |y|^2.
    """
    X, y, lam = _checked(X, y, lam)
    require(tolerance > 0, "tolerance", tolerance, "must be above 0")
    gram, pull = np.einsum("pnd,pne->pde", X, X, optimize=True), np.einsum("pnd,pn->pd", X, y)
    b = (
        np.array(follow_paths(gram, pull, lam, most=6 * X.shape[2] + 10)) if X.size
        else np.zeros(pull.shape))
    b = np.where(np.isfinite(b), b, 0.0)
    gap, allowed = duality_gap(X, y, b, lam), tolerance * 0.5 * (y**2).sum(1)
    late = np.flatnonzero(gap > allowed)
    for number in late:
        b[number] = solve_exactly(X[number], y[number], float(lam[number]))
    gap[late] = duality_gap(X[late], y[late], b[late], lam[late])
    return Solved(b, lasso_objective(X, y, b, lam), gap, lam_max(X, y), len(late))


def _checked(X, y, lam) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y, lam = np.asarray(X, float), np.asarray(y, float), np.asarray(lam, float)
    require(X.ndim == 3, "shape of X", X.shape, "must be (problems, rows, coordinates)")
    require(
        y.shape == X.shape[:2], "shape of y", y.shape,
        f"must be {X.shape[:2]}, a value for each row of X")
    require(
        lam.shape in ((), X.shape[:1]), "shape of lam", lam.shape,
        f"must be one number or {X.shape[0]} of them")
    require(
        bool(np.isfinite(lam).all() and (lam >= 0).all()), "lam", lam,
        "must be finite and at least 0")
    finite = bool(np.isfinite(X).all() and np.isfinite(y).all())
    require(finite, "X and y", "arrays with a value that is not finite", "must be finite")
    return X, y, np.broadcast_to(lam, X.shape[:1])
