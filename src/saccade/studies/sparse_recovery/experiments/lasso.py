"""The LASSO by every road of the study: paths, coordinate descent and active sets on small
problems, working sets on a large one; its duality gap by definition; and the slowest quadratics for
ISTA and FISTA."""

from itertools import combinations, product
from typing import Any

import jax
import numpy as np
import xarray
from scipy.special import jnp_zeros

from saccade.lab.experiment import experiment
from saccade.studies.sparse_recovery.dynamics import solvers, working_sets
from saccade.studies.sparse_recovery.experiments.solvers import peer_solution
from saccade.studies.sparse_recovery.models.unrolled import unroll
from saccade.studies.sparse_recovery.task import SparseRecovery


def _objective(X: np.ndarray, y: np.ndarray, b: np.ndarray, lam: float) -> float:
    return float(0.5 * ((y - X @ b) ** 2).sum() + lam * np.abs(b).sum())


def _gap(X: np.ndarray, y: np.ndarray, b: np.ndarray, lam: float) -> float:
    """F(b) - D(s), D(s) = 1/2 |y|^2 - 1/2 |y - s|^2, at the scaled residual s."""
    r = y - X @ b
    s = r * min(1.0, lam / max(abs(x @ r) for x in X.T))
    return _objective(X, y, b, lam) - float(y @ y - (y - s) @ (y - s)) / 2


@experiment("sparse-recovery.lasso-roads")
def lasso_roads(
    key: Any, *, problems: int = 40, rows: int = 80, dim: int = 30, lam: float = 0.2,
    sweeps: int = 300, path_factor: float = 1.0, tolerance: float = 1e-10,
) -> xarray.Dataset:
    """The minimum by paths (for `path_factor` lam), by coordinate descent and by active sets, and
    how many problems the paths left to active sets. Every problem has a lam of its own, from half
    to three halves of `lam`; that of the last leaves nothing."""
    sample = SparseRecovery.create(dim, rows, 3, 0.3).sample(key, problems)
    X, y = np.asarray(sample.X), np.asarray(sample.y)
    own = lam * np.linspace(0.5, 1.5, problems)
    own[-1] = 1.1 * np.abs(X[-1].T @ y[-1]).max()
    paths = solvers.solve_lasso(X, y, path_factor * own, tolerance)
    swept = np.asarray(unroll("cd", {"lam": np.tile(own, (sweeps, 1))}, X, y)[-1])
    alone = [
        solvers.solve_exactly(X[place], y[place], float(own[place])) for place in range(problems)]
    roads = {"paths": paths.coefficients, "sweeps": swept, "active sets": alone}
    values = {
        name: ("problem", [_objective(*problem) for problem in zip(X, y, b, own, strict=True)])
        for name, b in roads.items()}
    return xarray.Dataset({**values, "left": paths.finished_singly / problems})


@experiment("sparse-recovery.large-lasso")
def large_lasso(
    key: Any, *, problems: int = 9, rows: int = 60, dim: int = 400, share: float = 0.1,
    tolerance: float = 1e-10, penalty_factor: float = 1.0, early_share: float = 1.0,
) -> xarray.Dataset:
    """Problems with many columns by working sets alone (`tolerance`), with their fallback, and by
    scikit-learn (for `penalty_factor` lam): objectives over F(0); the gap of the first; and the gap
    that working sets stopped at a tenth report (for `early_share` lam), beside its definition."""
    sample = SparseRecovery.create(dim, rows, 10, 0.1).sample(key, problems)
    table = []
    for X, y in zip(np.asarray(sample.X), np.asarray(sample.y), strict=True):
        lam, at_zero = share * float(np.abs(X.T @ y).max()), 0.5 * float(y @ y)
        found = working_sets._by_working_sets(X, y, lam, tolerance)
        whole = working_sets.solve_large(X, y, lam, tolerance)
        early = working_sets._by_working_sets(X, y, early_share * lam, 0.1)
        answers = (
            found.coefficients, whole.coefficients,
            peer_solution("scikit-learn", X, y, penalty_factor * lam))
        table.append([
            *(_objective(X, y, b, lam) / at_zero for b in answers), found.gap, early.gap,
            solvers.relative_gap(X, y, early.coefficients, early_share * lam),
            _gap(X, y, early.coefficients, lam) / at_zero])
    names = ("working_sets", "whole", "peer", "gap", "early_gap", "relative_gap", "true_gap")
    return xarray.Dataset(
        {name: ("problem", values) for name, values in zip(names, np.array(table).T, strict=True)})


@experiment("sparse-recovery.line-searches")
def line_searches(key: Any, *, problems: int = 30, whole: bool = False) -> xarray.Dataset:
    """Where the line searches of working sets and of active sets end, between a random point and
    another one or the minimum for its signs: F there, and the least F at the points where a
    coordinate vanishes and at the end, by loops (`whole`: at the end only)."""
    chance = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    found, least = np.zeros((2, problems)), np.zeros((2, problems))
    for place in range(problems):
        X, y, b, other = (chance.normal(size=size) for size in ((8, 5), 8, 5, 5))
        signs, lam = np.sign(b), 0.5
        ends = other, np.linalg.solve(X.T @ X, X.T @ y - lam * signs)
        lower = solvers._descend(X, y, lam, b, signs)
        points = (
            working_sets._best_crossing(X.T @ X, X.T @ y, lam, b, other),
            b if lower is None else lower)
        for road, (point, end) in enumerate(zip(points, ends, strict=True)):
            found[road, place] = _objective(X, y, point, lam)
            ways = [1.0] if whole else [1.0, *(s for s in b / (b - end) if 0 < s < 1)]
            values = [_objective(X, y, b + way * (end - b), lam) for way in ways]
            least[road, place] = min(values + [_objective(X, y, b, lam)] * (road == 1))
    return xarray.Dataset(
        {"found": (("road", "problem"), found), "least": (("road", "problem"), least)},
        {"road": ["working sets", "active sets"]})


@experiment("sparse-recovery.dependent-columns")
def dependent_columns(key: Any, *, problems: int = 8, plain_lam: float = 0.3) -> xarray.Dataset:
    """Active sets on problems whose columns depend on each other, from a dense start that no
    minimum has: F where they end, and F at the best of all supports and signs (for `plain_lam`);
    and without a penalty the length of the answer and what it leaves over, beside least squares
    (whose values are then `plain_lam`/0.3 times as large)."""
    chance = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    found, plain = np.zeros((3, problems)), np.zeros((3, problems))
    for place in range(problems):
        few, y = chance.normal(size=(5, 3)), chance.normal(size=5)
        X = np.concatenate([few, few @ chance.normal(size=(3, 2)), 2 * few[:, :1]], axis=1)
        b = solvers.solve_exactly(X, y, 0.3, chance.normal(size=6))
        found[0, place] = _objective(X, y, b, 0.3)
        plain[0, place] = _objective(X, y, _best(X, y, plain_lam), 0.3)
        free = solvers.solve_exactly(X, y, 0.0)
        short = np.linalg.lstsq(X, plain_lam / 0.3 * y, rcond=None)[0]
        found[1:, place] = np.linalg.norm(free), np.linalg.norm(y - X @ free)
        plain[1:, place] = (np.linalg.norm(short), np.linalg.norm(plain_lam / 0.3 * y - X @ short))
    return xarray.Dataset(
        {"found": (("what", "problem"), found), "plain": (("what", "problem"), plain)})


def _best(X: np.ndarray, y: np.ndarray, lam: float) -> np.ndarray:
    """The minimiser among the points that are minimal for their signs, over all supports of at most
    three columns and all signs: where columns have rank three it is one of them."""
    answer = np.zeros(X.shape[1])
    for size in (1, 2, 3):
        for chosen in map(list, combinations(range(X.shape[1]), size)):
            A, trial = X[:, chosen], np.zeros(X.shape[1])
            for signs in product((-1.0, 1.0), repeat=size):
                trial[chosen] = np.linalg.pinv(A.T @ A) @ (A.T @ y - lam * np.array(signs))
                if _objective(X, y, trial, lam) < _objective(X, y, answer, lam):
                    answer = trial.copy()
    return answer


@experiment("sparse-recovery.gap-by-definition")
def gap_by_definition(
    key: Any, *, lam: float = 0.3, per_row: bool = False, no_numbers: int = 2
) -> xarray.Dataset:
    """F(b), F(b) - D(s) at the scaled residual s, the same for lam = 0 with s the part of the
    residual that no column sees, the smallest lam with b = 0, all gaps at once with one for nine
    lam, each with a weight, and how many of four squared errors are infinite, where `no_numbers` of
    the estimates are no numbers and one is infinite; `per_row` divides F by N. The point b is two
    sweeps of coordinate descent away from zero."""
    task = SparseRecovery.create(4, 7, 2, 0.5)
    sample = task.sample(key, 1)
    X, y = np.asarray(sample.X[0]), np.asarray(sample.y[0])
    b = np.asarray(unroll("cd", {"lam": np.full(2, lam)}, X[None], y[None])[-1, 0])
    rows = len(y) if per_row else 1

    def dual(s: np.ndarray) -> float:
        return float(y @ y - (y - s) @ (y - s)) / 2

    r = y - X @ b
    scaled, faint = (r * min(1.0, one / max(abs(x @ r) for x in X.T)) for one in (lam, 9 * lam))
    unseen = r - X @ np.linalg.lstsq(X, r, rcond=None)[0]
    values = [
        _objective(X, y, b, lam), _objective(X, y, b, lam) - dual(scaled),
        _objective(X, y, b, 0.0) - dual(unseen), max(abs(x @ y) for x in X.T)]
    values.append(values[1] + 2 * values[2] + 3 * (_objective(X, y, b, 9 * lam) - dual(faint)))
    odd = np.array([[3.0, 1.0], [np.inf, 1.0], [2.0, 1.0], [1.0, 2.0]])
    odd[-no_numbers:, 1] = np.nan
    infinite = np.isposinf(solvers.squared_errors(odd, np.ones(2))).sum()
    values = [*(value / rows for value in values), float(infinite)]
    return xarray.Dataset({
        "value": ("what", np.array(values)), "X": (("row", "coordinate"), X), "y": ("row", y),
        "b": ("coordinate", b)})


SLOWEST = float(jnp_zeros(1, 1)[0])
"""Where |J_1| is largest: 1.8412. FISTA on a quadratic of curvature s^2 L/k^2 is after k steps at 2
J_1(s)/s of its start, in the limit of many steps."""


@experiment("sparse-recovery.slowest-quadratics")
def slowest_quadratics(
    key: Any, *, steps: tuple[int, ...] = (10, 100, 1000), largest: float = 3.0, lam: float = 0.1,
    start: float = 2.0, faster: float = 1.0,
) -> xarray.Dataset:
    """F(b_k) - F* of ISTA and of FISTA on problems of two coordinates, of curvature L and of that
    which k steps serve worst: L/(2k + 1) and L (1.8412/k)^2 (times `faster`). The minimum lies at
    `start` in the slow coordinate, at zero in the other."""
    gaps = np.zeros((2, len(steps)))
    for place, k in enumerate(steps):
        for which, curvature in enumerate((largest / (2 * k + 1), largest * (SLOWEST / k) ** 2)):
            slow = min(faster * curvature, largest)
            X = np.diag(np.sqrt([largest, slow]))
            y = np.array([0.0, np.sqrt(slow) * start + lam / np.sqrt(slow)])
            b = unroll(solvers.METHODS[which], {"lam": np.full(k, lam)}, X[None], y[None])[-1, 0]
            least = _objective(X, y, np.array([0.0, start]), lam)
            gaps[which, place] = _objective(X, y, np.asarray(b), lam) - least
    return xarray.Dataset({"gap": (("algorithm", "step"), gaps)}, {"step": list(steps)})
