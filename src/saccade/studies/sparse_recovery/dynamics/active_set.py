"""The LASSO solved exactly, one problem at a time: a primal active-set method with steps of finite
length.

Given the signs on an active set A the objective is a quadratic, minimised in closed form by the
singular vectors of X_A. The step towards that minimum stops where the objective is least along it,
at a coordinate that reaches zero or at the end; each step lowers F, and there are finitely many
signs. Directions in which X_A does not move but |b|_1 falls are followed until a coordinate is
zero. No matrix is too ill-conditioned: nothing is squared. (The feature-sign search of Lee, Battle,
Raina and Ng 2007, completed for dependent columns.)
"""

import numpy as np
from jaxtyping import Float

from saccade.studies.sparse_recovery.theory import duality_gap, lasso_objective

Vector = Float[np.ndarray, " dim"]
ROUNDING = float(np.finfo(float).eps)
ENOUGH = 1e-15  # duality gap, as a share of F(0), at which there is nothing left to gain


def solve_exactly(X: np.ndarray, y: np.ndarray, lam: float, start: Vector | None = None) -> Vector:
    """A minimiser of 1/2 |y - X b|^2 + lam |b|_1 up to rounding; the shortest for lam = 0."""
    dim = X.shape[1]
    if X.shape[0] == 0:
        return np.zeros(dim)
    if lam == 0:
        return np.linalg.pinv(X) @ y
    b = np.zeros(dim) if start is None else np.array(start, float)
    best, best_gap, enough = b, np.inf, ENOUGH * 0.5 * float(y @ y)
    for _ in range(20 * (dim + 10)):
        b, settled = _refine(X, y, lam, b)
        moved = None if settled else _descend(X, y, lam, b, np.sign(b))
        if moved is None:  # minimal for its signs: may another coordinate enter?
            gap = float(duality_gap(X, y, b, lam))
            best, best_gap = (b, gap) if gap < best_gap else (best, best_gap)
            moved = None if gap <= enough else _enter(X, y, lam, b)
        if moved is None:
            break
        b = moved
    return best


def _enter(X: np.ndarray, y: np.ndarray, lam: float, b: Vector) -> Vector | None:
    """A lower point with one more coordinate, where |x_j^T r| exceeds lam most; None if nowhere."""
    pull, signs = X.T @ (y - X @ b), np.sign(b)
    excess = np.where(b == 0, np.abs(pull) - lam, -np.inf)
    entering = int(np.argmax(excess))
    if excess[entering] <= 0:
        return None
    signs[entering] = np.sign(pull[entering])
    return _descend(X, y, lam, b, signs)


def _refine(X: np.ndarray, y: np.ndarray, lam: float, b: Vector) -> tuple[Vector, bool]:
    """Repeat the quadratic step on the support while it helps; False if a sign would change."""
    active = np.flatnonzero(b)
    if active.size == 0:
        return b, True
    A, signs, here = X[:, active], np.sign(b[active]), b[active]
    off = _off_balance(A, y, lam, here, signs)
    for _ in range(4):
        trial = here + _quadratic_step(A, y - A @ here, lam, signs)
        if not (np.sign(trial) == signs).all():
            return _with(b, active, here), False
        new = _off_balance(A, y, lam, trial, signs)
        if new >= off:
            break
        here, off = trial, new
    return _with(b, active, here), True


def _with(b: Vector, active: np.ndarray, values: Vector) -> Vector:
    whole = np.zeros_like(b)
    whole[active] = values
    return whole


def _off_balance(A: np.ndarray, y: np.ndarray, lam: float, b: Vector, signs: Vector) -> float:
    """The largest |x_j^T r - lam sign(b_j)| on the active set: zero at the minimum."""
    return float(np.abs(A.T @ (y - A @ b) - lam * signs).max())


def _descend(X: np.ndarray, y: np.ndarray, lam: float, b: Vector, signs: Vector) -> Vector | None:
    """The best point on the way from b to the minimum for these signs; None if none is better."""
    active = np.flatnonzero(signs)
    if active.size == 0:
        return None
    step = _quadratic_step(X[:, active], y - X[:, active] @ b[active], lam, signs[active])
    here, whole = b[active], b[active] + step
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(here * whole < 0, here / (here - whole), np.nan)
    crossings = np.unique(np.append(shares[np.isfinite(shares)], 1.0))
    lowest, best = None, lasso_objective(X, y, b, lam)
    for share in crossings:
        trial = here + share * step
        trial[shares == share] = 0.0
        candidate = _with(b, active, trial)
        value = lasso_objective(X, y, candidate, lam)
        if value < best:
            lowest, best = candidate, value
    return lowest


def _quadratic_step(A: np.ndarray, r: np.ndarray, lam: float, signs: Vector) -> Vector:
    """From a point with residual r to the minimum of 1/2 |r - A s|^2 + lam signs.s, or far along a
    kernel direction that lowers |b|_1."""
    u, s, vt = np.linalg.svd(A, full_matrices=True)
    kept = int((s > max(A.shape) * ROUNDING * s[0]).sum()) if s.size else 0
    moving, hidden = vt[:kept], vt[kept:]
    falling = hidden.T @ (hidden @ signs)
    if np.abs(falling).max(initial=0.0) > 1e-10:
        return -falling * 1e6 * (1 + np.linalg.norm(r)) / np.abs(falling).max()
    return moving.T @ ((u[:, :kept].T @ r - lam * (moving @ signs) / s[:kept]) / s[:kept])


def relative_gap(X: np.ndarray, y: np.ndarray, b: Vector, lam: float) -> float:
    """The duality gap as a share of F(0) = 1/2 |y|^2 (0 where y is zero)."""
    at_zero = 0.5 * float(y @ y)
    return float(duality_gap(X, y, b, lam)) / at_zero if at_zero > 0 else 0.0
