"""Solvers: the LASSO on a batch of problems to a wanted accuracy (paths by pivoting for all, an
active-set method for the few that need it), ISTA and FISTA with the steps that were asked for, and
the iteration that a certificate speaks of."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from saccade.descent import descend
from saccade.errors import require, unknown
from saccade.studies.sparse_recovery import theory
from saccade.studies.sparse_recovery.dynamics.active_set import solve_exactly
from saccade.studies.sparse_recovery.dynamics.pivoting import follow_paths
from saccade.studies.sparse_recovery.models.steps import begin, problem
from saccade.studies.sparse_recovery.models.unrolled import ALGORITHMS

METHODS = ("ista", "fista")


class Solved(NamedTuple):
    """Minimisers, values, gaps, lam_max, and how many problems the active-set method finished."""

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
    paths = follow_paths(gram, pull, lam, most=6 * X.shape[2] + 10) if X.size else 0 * pull
    b = np.where(np.isfinite(paths), paths, 0.0)
    gap, allowed = theory.duality_gap(X, y, b, lam), tolerance * 0.5 * (y**2).sum(1)
    late = np.flatnonzero(gap > allowed)
    for number in late:
        b[number] = solve_exactly(X[number], y[number], float(lam[number]))
    gap[late] = theory.duality_gap(X[late], y[late], b[late], lam[late])
    return Solved(b, theory.lasso_objective(X, y, b, lam), gap, theory.lam_max(X, y), len(late))


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


def squared_errors(b: np.ndarray, beta: np.ndarray) -> Float[np.ndarray, "... sample"]:
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


def iterates(
    method: str, X: np.ndarray, y: np.ndarray, lam: float, record: Sequence[int]
) -> Iterates:
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
    given = problem(X[None], y[None])

    def step(state, t):
        return ALGORITHMS[method].step(given, state, {"lam": lam})

    recorded = descend(step, lambda state, stop: state.b[0], begin(given), stops)[1]
    return recorded, given.squared_norm[0]


def certified(
    X: np.ndarray, y: np.ndarray, beta: np.ndarray, noise: np.ndarray, gamma: float, steps: int,
    covariance: np.ndarray | None = None, threshold_share: float = 1.0,
) -> tuple[theory.Certificate, Float[np.ndarray, "steps+1 dim"]]:
    """The certificate of a matrix, and b_0 = 0 with the K iterates it speaks of, b <-
    S_{theta_k}(b - M X^T (X b - y)/(2n + 1)), with its matrix and a share of its thresholds."""
    promise = theory.certificate(X, beta, noise, gamma, steps, covariance)
    b = np.zeros(X.shape[1])
    found = [b]
    for threshold in threshold_share * promise.thresholds:
        u = b - promise.matrix @ (X.T @ (X @ b - y)) / (2 * len(X) + 1)
        b = np.sign(u) * np.maximum(np.abs(u) - threshold, 0.0)
        found.append(b)
    return promise, np.stack(found)
