"""Finding the saddle of the logistic potential: a nested search that cannot miss it, and Newton's
method once near.

In z = (m_q, m_o, b, r, beta) with beta = r/V the potential is convex in the first four and concave
in the last, so
  * `nested_search`: for fixed beta damped Newton minimises a smooth convex function of four
    numbers; the outer equation in log beta is scalar with a single sign change, found by
    safeguarded Newton inside a bracket. Globally convergent, no continuation needed.
  * `newton`: all five equations at once, quadratically convergent near the solution.
Every residual is relative: the gradient entry divided by the sum of the absolute values that cancel
in it. Unscaled residuals would accept the spurious point r = V = 0, where all of them vanish.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from saccade.studies.sparse_token.task import require_finite
from saccade.studies.sparse_token.theory.law import Overlaps
from saccade.studies.sparse_token.theory.saddle import Derivatives, Problem, potential

TOLERANCE = 1e-10
MOST_EVALUATIONS = 600
"""of the potential; cases of the declared domain (`fitted.check_grid`) take fewer than a fifth"""


class Solution(NamedTuple):
    """A point, the largest relative residual there, and the training loss E[l(eta)]."""

    point: Overlaps
    residual: float
    train_loss: float

    @property
    def converged(self) -> bool:
        return self.residual <= 1e-8


class Local(NamedTuple):
    """phi, gradient, Hessian and relative residual in z = (m_q, m_o, b, r, beta)."""

    z: Float[Array, "5"]
    value: float
    gradient: Float[Array, "5"]
    hessian: Float[Array, "5 5"]
    relative: Float[Array, "5"]
    train_loss: float

    @property
    def worst(self) -> float:
        return float(np.max(np.abs(self.relative)))


class Evaluator:
    """The potential of one problem in z coordinates, counting its evaluations."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.evaluations = problem, 0

    @property
    def exhausted(self) -> bool:
        return self.evaluations >= MOST_EVALUATIONS

    def __call__(self, z: Array) -> Local:
        self.evaluations += 1
        return change_coordinates(z, potential(self.problem, overlaps_at(z)))


def overlaps_at(z: Array) -> Overlaps:
    return Overlaps(*z[:4].tolist(), variance=float(z[3] / z[4]))


def change_coordinates(z: Array, inner: Derivatives) -> Local:
    """From (m_q, m_o, b, s, V) to (m_q, m_o, b, r, beta): s = sqrt(m_o^2 + r^2), V = r/beta."""
    mo, r, beta = z[1], z[3], z[4]
    s = np.hypot(mo, r)
    jacobian = np.diag([1.0, 1.0, 1.0, r / s, -r / beta**2])
    jacobian[3, 1], jacobian[4, 3] = mo / s, 1 / beta
    hessian = jacobian.T @ inner.hessian @ jacobian
    gs, gv = inner.gradient[3], inner.gradient[4]
    hessian[np.ix_([1, 3], [1, 3])] += gs / s**3 * np.array([[r * r, -mo * r], [-mo * r, mo * mo]])
    hessian[np.ix_([3, 4], [3, 4])] += gv / beta**2 * np.array([[0.0, -1.0], [-1.0, 2 * r / beta]])
    gradient = jacobian.T @ inner.gradient
    relative = gradient / np.maximum(np.abs(jacobian).T @ inner.size, 1e-300)
    return Local(z, inner.value, gradient, hessian, relative, inner.train_loss)


def newton(evaluate: Evaluator, start: Local, limit: int = 25) -> Local:
    """Newton on the five equations, r and beta in the logarithm; damped until it helps."""
    best = start
    for _ in range(limit):
        if evaluate.exhausted or not best.worst > TOLERANCE:
            break
        trial = _newton_step(evaluate, best)
        if trial is None:
            break
        best = trial
    return best


def _newton_step(evaluate: Evaluator, at: Local) -> Local | None:
    """One damped step, or None when no damping helps."""
    size = np.abs(at.gradient) / np.maximum(np.abs(at.relative), 1e-300)
    size = np.where(at.relative == 0, 1.0, size)
    chain = np.array([1.0, 1.0, 1.0, at.z[3], at.z[4]])
    move = solve_scaled(at.hessian * chain, -at.gradient, size)
    if move is None:
        return None
    damping = min(1.0, 1.5 / max(1e-300, np.max(np.abs(move[3:]))))
    old = np.linalg.norm(at.relative)
    for _ in range(5):
        z = at.z + damping * move
        z[3:] = at.z[3:] * np.exp(damping * move[3:])
        trial = evaluate(z)
        new = np.linalg.norm(trial.relative)
        if new < (1 - 0.1 * damping) * old:
            return trial
        damping *= 0.4
    return None


def solve_scaled(matrix: Array, right: Array, row_size: Array) -> Array | None:
    """matrix x = right with rows and columns equilibrated; None when singular."""
    rows = matrix / row_size[:, None]
    columns = np.maximum(np.abs(rows).max(0), 1e-300)
    try:
        x = np.linalg.solve(rows / columns, right / row_size) / columns
    except np.linalg.LinAlgError:
        return None
    return x if np.all(np.isfinite(x)) else None


def minimise_inner(evaluate: Evaluator, at: Local, tolerance: float, limit: int = 60) -> Local:
    """For fixed beta: damped Newton on the convex function of (m_q, m_o, b, r > 0)."""
    for _ in range(limit):
        if evaluate.exhausted or np.max(np.abs(at.relative[:4])) <= tolerance:
            break
        trial = _descend(evaluate, at)
        if trial is None:
            break
        at = trial
    return at


def _descend(evaluate: Evaluator, at: Local) -> Local | None:
    """One Armijo step in (m_q, m_o, b, log r) along Newton's direction, log r moving by at most 2.

    In log r the function keeps its single stationary point but not its convexity, so negative
    curvature is turned into positive.
    """
    chain = np.array([1.0, 1.0, 1.0, at.z[3]])
    gradient = at.gradient[:4] * chain
    hessian = at.hessian[:4, :4] * np.outer(chain, chain)
    hessian[3, 3] += gradient[3]
    move = -positive_solve(hessian, gradient)
    damping = min(1.0, 2.0 / max(1e-300, abs(move[3])))
    for _ in range(30):
        z = at.z + damping * np.append(move, 0.0)
        z[3] = at.z[3] * np.exp(damping * move[3])
        trial = evaluate(z)
        if trial.value <= at.value + 1e-4 * damping * (gradient @ move) + 1e-14 * abs(at.value):
            return trial
        damping *= 0.4
    return None


def positive_solve(hessian: Array, right: Array) -> Array:
    """|H|^{-1} right, by absolute eigenvalues of the equilibrated matrix, with a floor."""
    require_finite(hessian)
    width = np.sqrt(np.maximum(np.abs(np.diag(hessian)), 1e-300))
    eigenvalues, vectors = np.linalg.eigh(hessian / np.outer(width, width))
    eigenvalues = np.maximum(np.abs(eigenvalues), 1e-13 * np.abs(eigenvalues).max())
    return (vectors @ ((vectors.T @ (right / width)) / eigenvalues)) / width


def nested_search(evaluate: Evaluator, start: Array, tolerance: float, limit: int = 80) -> Local:
    """Minimise over four, maximise over log beta, until each residual is below `tolerance`."""
    at = minimise_inner(evaluate, evaluate(start), 0.1 * tolerance)
    low, high = -np.inf, np.inf
    for _ in range(limit):
        rise = at.relative[4]
        if evaluate.exhausted or at.worst <= tolerance:
            break
        here = np.log(at.z[4])
        low, high = (here, high) if rise > 0 else (low, here)
        if high - low < 1e-15 * max(1.0, abs(here)):
            break
        there = here + _outer_move(at)
        if not low < there < high:
            there = 0.5 * (low + high) if np.isfinite(low + high) else here + np.sign(rise) * 2.0
        z = at.z.copy()
        z[4] = np.exp(there)
        at = minimise_inner(evaluate, evaluate(z), 0.1 * tolerance)
    return at


def _outer_move(at: Local) -> float:
    """Newton's step in log beta for the derivative of min phi, at most a factor e^3 at once."""
    beta = at.z[4]
    response = solve_scaled(
        at.hessian[:4, :4], at.hessian[:4, 4], np.sqrt(np.abs(np.diag(at.hessian)[:4])) + 1e-300)
    bend = at.hessian[4, 4] - (0.0 if response is None else at.hessian[4, :4] @ response)
    curvature = beta * beta * bend + beta * at.gradient[4]
    if not curvature < 0:
        return float(np.sign(at.gradient[4]) * 2.0)
    return float(np.clip(-beta * at.gradient[4] / curvature, -3.0, 3.0))


def solve_saddle(problem: Problem, start: Overlaps) -> Solution:
    """Newton from `start`; where it stalls, the nested search helps and Newton polishes."""
    evaluate = Evaluator(problem)
    at = newton(evaluate, evaluate(np.array([*start[:4], start.rest / start.variance])))
    for tolerance in (1e-2, 1e-5, 1e-9):
        if evaluate.exhausted or not at.worst > TOLERANCE:
            break
        at = newton(evaluate, nested_search(evaluate, at.z, tolerance))
    return Solution(overlaps_at(at.z), at.worst, at.train_loss)
