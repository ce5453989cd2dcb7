"""One large LASSO problem: minimise 1/2 |y - X b|^2 + lam |b|_1 where X has thousands of columns
and few of them matter.

Outside, working sets: columns that pull hardest join those in use, and all columns are looked at
only to measure the duality gap and to choose (as celer, Massias, Gramfort, Salmon 2018). Inside,
an active-set method on the small Gram matrix: several coordinates enter at once, a Cholesky factor
gives the minimum for their signs, and the step there stops at the best of the points where a sign
changes. What these factors are not good for (dependent columns) is left to `solve_exactly`.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from saccade.errors import require
from saccade.studies.sparse_recovery.dynamics.solvers import (
    check_problems,
    relative_gap,
    solve_exactly,
)

Vector = Float[np.ndarray, " dim"]
FEWEST, ROUNDS, MOVES = 20, 60, 400
"""Columns of the first working set; looks at all columns, and moves in one set, at most."""


class Large(NamedTuple):
    """A minimiser, its duality gap over F(0) = 1/2 |y|^2, and how often all columns were used."""

    coefficients: Vector
    gap: float
    rounds: int


def solve_large(X, y, lam: float, tolerance: float = 1e-8) -> Large:
    """A minimiser for X (N, d), y (N,) to a duality gap of `tolerance` F(0)."""
    X, y = np.asarray(X, float), np.asarray(y, float)
    check_problems(X[None], y[None], lam)
    require(tolerance > 0, "tolerance", tolerance, "must be above 0")
    if lam == 0 or X.size == 0:
        b = solve_exactly(X, y, lam)
        return Large(b, relative_gap(X, y, b, lam), 0)
    try:
        found = _by_working_sets(X, y, lam, tolerance)
    except LinAlgError:
        found = Large(np.zeros(X.shape[1]), np.inf, 0)
    if found.gap <= tolerance:
        return found
    b = solve_exactly(X, y, lam, found.coefficients)
    return Large(b, relative_gap(X, y, b, lam), found.rounds)


def _by_working_sets(X: np.ndarray, y: np.ndarray, lam: float, tolerance: float) -> Large:
    columns = np.ascontiguousarray(X.T)  # a column is a row here, and read in one piece
    at_zero = 0.5 * float(y @ y)
    used, gram = np.zeros(0, int), np.zeros((0, 0))
    b, r, best = np.zeros(len(columns)), y, Large(np.zeros(len(columns)), np.inf, 0)
    start = columns @ y
    pull = start
    for number in range(ROUNDS):
        gap = _gap(y, r, b, pull, lam) / at_zero if at_zero > 0 else 0.0
        best = Large(b, gap, number) if gap < best.gap else best
        new = _joining(pull, used, lam, max(FEWEST, int((b != 0).sum())))
        if gap <= tolerance or len(new) == 0:
            break
        gram = _extended(gram, columns[used], columns[new])
        used = np.append(used, new)
        small = _on_the_gram_matrix(gram, start[used], lam, b[used])
        b = np.zeros(len(columns))
        b[used] = small
        r = y - small @ columns[used]
        pull = columns @ r
    return best


def _gap(y, r, b: Vector, pull: Vector, lam: float) -> float:
    """The duality gap (`theory.duality_gap`) from products that are there already."""
    s = min(1.0, lam / max(np.abs(pull).max(), 1e-300)) * r
    return max(float(0.5 * (r - s) @ (r - s) + lam * np.abs(b).sum() - s @ (y - r)), 0.0)


def _joining(pull: Vector, used: np.ndarray, lam: float, most: int) -> np.ndarray:
    """At most so many further columns with |x_j^T r| > lam, those that pull hardest."""
    force = np.abs(pull)
    force[used] = 0
    outside = np.flatnonzero(force > lam)
    return outside[np.argsort(-force[outside])[:most]]


def _extended(gram: np.ndarray, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The Gram matrix with further columns; only their products are computed."""
    cross = new @ old.T
    return np.block([[gram, cross.T], [cross, new @ new.T]])


def _on_the_gram_matrix(G: np.ndarray, c: Vector, lam: float, b: Vector) -> Vector:
    """Minimise 1/2 b^T G b - c^T b + lam |b|_1 from `b` on."""
    for _ in range(MOVES):
        pull = c - G @ b
        entering = (b == 0) & (np.abs(pull) > lam * (1 + 1e-12))
        signs = np.where(b != 0, np.sign(b), np.where(entering, np.sign(pull), 0))
        target = _minimum_for_signs(G, c, lam, b, signs)
        moved = (
            target if (np.sign(target) == np.sign(signs)).all()
            else _best_crossing(G, c, lam, b, target))
        settled = not entering.any() and np.array_equal(np.sign(moved), np.sign(b))
        b = moved
        if settled:
            break
    return b


def _minimum_for_signs(G: np.ndarray, c: Vector, lam: float, b: Vector, signs: Vector) -> Vector:
    """The minimum while the signs are these; who enters and would go against its sign stays out."""
    while True:
        active = np.flatnonzero(signs)
        if len(active) == 0:
            return np.zeros_like(b)
        factor = cho_factor(G[np.ix_(active, active)], check_finite=False)
        values = cho_solve(factor, c[active] - lam * signs[active], check_finite=False)
        wrong = active[(b[active] == 0) & (values * signs[active] <= 0)]
        if len(wrong) == 0:
            target = np.zeros_like(b)
            target[active] = values
            return target
        signs[wrong] = 0


def _best_crossing(G: np.ndarray, c: Vector, lam: float, b: Vector, target: Vector) -> Vector:
    """The best point, on the way to the target, at which a coordinate is zero, or the target."""
    step = target - b
    shares = np.full(len(b), np.inf)
    crosses = b * target < 0
    shares[crosses] = b[crosses] / (b[crosses] - target[crosses])
    stops = np.append(np.sort(shares[crosses]), 1.0)
    points = b + stops[:, None] * step
    points[stops[:, None] == shares] = 0
    slope, curve = float((G @ b - c) @ step), float(step @ (G @ step))
    values = stops * slope + 0.5 * stops**2 * curve + lam * np.abs(points).sum(1)
    return points[np.argmin(values)]
