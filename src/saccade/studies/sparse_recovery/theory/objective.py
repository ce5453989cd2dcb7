"""The LASSO F(b) = 1/2 |y - X b|^2 + lam |b|_1 (no 1/N; scikit-learn's alpha is lam/N), and how far
from its minimum a point can be.

Leading axes are a batch; NumPy arrays, because these are also computed once, on small problems,
where compiling would dominate.
"""

import numpy as np
from jaxtyping import Float

Batch = Float[np.ndarray, "*batch"]
Matrix = Float[np.ndarray, "*batch row dim"]
Values = Float[np.ndarray, "*batch row"]
Vectors = Float[np.ndarray, "*batch dim"]


def lasso_objective(X: Matrix, y: Values, b: Vectors, lam) -> Batch:
    """F(b). Exact."""
    return 0.5 * ((y - _times(X, b)) ** 2).sum(-1) + lam * np.abs(b).sum(-1)


def lam_max(X: Matrix, y: Values) -> Batch:
    """||X^T y||_inf: from this lam on the solution is exactly zero."""
    return np.abs(_back(X, y)).max(-1, initial=0.0)


def duality_gap(X: Matrix, y: Values, b: Vectors, lam) -> Batch:
    """F(b) - D(s) >= F(b) - F*, with D(s) = 1/2 |y|^2 - 1/2 |y - s|^2 at the scaled residual s = r
    min(1, lam/||X^T r||_inf).

    Written as 1/2 |r - s|^2 + (lam |b|_1 - s.X b), in which no large numbers cancel. For lam = 0
    the residual is made feasible by projection onto the kernel of X^T instead, since scaling would
    leave only s = 0. Status: exact (weak duality).
    """
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


def _times(X: Matrix, b: Vectors) -> Values:
    return np.einsum("...nd,...d->...n", X, b)


def _back(X: Matrix, r: Values) -> Vectors:
    return np.einsum("...nd,...n->...d", X, r)
