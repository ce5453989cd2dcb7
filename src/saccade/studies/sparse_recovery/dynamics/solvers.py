"""Solvers: the LASSO exactly, one problem at a time or a batch (paths by pivoting for all, the
former for the few that need it); recorded steps of ISTA and FISTA; a certificate's iteration.

One problem is solved by a primal active-set method with steps of finite length.
Given the signs on an active set A the objective is a quadratic, minimised in closed form by the
singular vectors of X_A. The step towards that minimum stops where the objective is least along it,
at a coordinate that reaches zero or at the end; each step lowers F, and there are finitely many
signs. Directions in which X_A does not move but |b|_1 falls are followed until a coordinate is
zero. No matrix is too ill-conditioned: nothing is squared. (The feature-sign search of Lee, Battle,
Raina and Ng 2007, completed for dependent columns.)
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from saccade.descent import descend
from saccade.errors import require, unknown
from saccade.studies.sparse_recovery import theory
from saccade.studies.sparse_recovery.dynamics.pivoting import follow_paths
from saccade.studies.sparse_recovery.models.steps import begin, prepare, squared_norm
from saccade.studies.sparse_recovery.models.unrolled import ALGORITHMS

METHODS = ("ista", "fista")
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
            gap = float(theory.duality_gap(X, y, b, lam))
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
    lowest, best = None, theory.lasso_objective(X, y, b, lam)
    for share in crossings:
        trial = here + share * step
        trial[shares == share] = 0.0
        candidate = _with(b, active, trial)
        value = theory.lasso_objective(X, y, candidate, lam)
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
    return float(theory.duality_gap(X, y, b, lam)) / at_zero if at_zero > 0 else 0.0


class Solved(NamedTuple):
    """Minimisers, values, gaps, and how many problems the active-set method finished."""

    coefficients: Float[np.ndarray, "problem dim"]
    objective: Float[np.ndarray, " problem"]
    gap: Float[np.ndarray, " problem"]
    finished_singly: int


def solve_lasso(X, y, lam, tolerance: float = 1e-10) -> Solved:
    """Minimise 1/2 |y - X b|^2 + lam |b|_1 for X (problem, N, d), y (problem, N), lam a number or
    one a problem, to a duality gap of `tolerance` F(0), F(0) = 1/2 |y|^2."""
    X, y, lam = check_problems(X, y, lam)
    require(tolerance > 0, "tolerance", tolerance, "must be above 0")
    gram, pull = np.einsum("pnd,pne->pde", X, X, optimize=True), np.einsum("pnd,pn->pd", X, y)
    paths = follow_paths(gram, pull, lam, most=6 * X.shape[2] + 10) if X.size else 0 * pull
    b = np.where(np.isfinite(paths), paths, 0.0)
    gap, allowed = theory.duality_gap(X, y, b, lam), tolerance * 0.5 * (y**2).sum(1)
    late = np.flatnonzero(gap > allowed)
    for number in late:
        b[number] = solve_exactly(X[number], y[number], float(lam[number]))
    gap[late] = theory.duality_gap(X[late], y[late], b[late], lam[late])
    return Solved(b, theory.lasso_objective(X, y, b, lam), gap, len(late))


def check_problems(X, y, lam) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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


def squared_errors(b: ArrayLike, beta: ArrayLike) -> Float[np.ndarray, "... sample"]:
    """|b - beta|^2; not a number counts as infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        errors = ((np.asarray(b, float) - np.asarray(beta, float)) ** 2).sum(-1)
    return np.where(np.isnan(errors), np.inf, errors)


class Iterates(NamedTuple):
    """What was recorded, in the order asked for; step 0 is the start b = 0."""

    coefficients: Float[np.ndarray, "record dim"]
    objective: Float[np.ndarray, " record"]
    gap: Float[np.ndarray, " record"]
    lipschitz: float


def iterates(method: str, X, y, lam: float, record: Sequence[int]) -> Iterates:
    """Run `method` up to the last recorded step. L = ||X||_2^2; for X = 0 the estimate stays 0."""
    if method not in METHODS:
        raise unknown("algorithm", method, METHODS)
    stops, place = np.unique(np.asarray(record, int), return_inverse=True)
    recorded, lipschitz = _recorded(method, X, y, lam, jnp.asarray(stops))
    b = np.asarray(recorded)[place]
    return Iterates(
        b, theory.lasso_objective(X, y, b, lam), theory.duality_gap(X, y, b, lam), float(lipschitz))


@partial(jax.jit, static_argnames="method")
def _recorded(method: str, X, y, lam, stops) -> tuple[Float[Array, "stop dim"], Array]:
    problem = prepare(X[None], y[None])

    def step(state, t):
        return ALGORITHMS[method].step(problem, state, {"lam": lam})

    recorded = descend(step, lambda state, stop: state.b[0], begin(problem), stops)[1]
    return recorded, squared_norm(X)


def certified(
    X: np.ndarray, y: np.ndarray, beta: np.ndarray, noise: np.ndarray, gamma: float, steps: int,
    covariance: np.ndarray | None = None, threshold_share: float = 1.0,
) -> tuple[theory.Certificate, Float[np.ndarray, "steps+1 dim"]]:
    """The certificate of a matrix, and b_0 = 0 with the K iterates it speaks of, b <-
    S_{theta_k}(b - M X^T (X b - y)/(2n + 1)), with its matrix and a share of its thresholds."""
    promise = theory.certificate(X, beta, noise, gamma, steps, covariance)
    b = np.zeros(X.shape[1])
    visited = [b]
    for threshold in threshold_share * promise.thresholds:
        u = b - promise.matrix @ (X.T @ (X @ b - y)) / (2 * len(X) + 1)
        b = np.sign(u) * np.maximum(np.abs(u) - threshold, 0.0)
        visited.append(b)
    return promise, np.stack(visited)
