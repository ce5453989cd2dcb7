"""The potential whose saddle point is the fitted logistic classifier, with exact first and second
derivatives, and how the saddle is found: a nested search that cannot miss it, and Newton's method
once near.

With overlaps m_q = <w, q^>, m_o = <w, e_o>, intercept b, the rest r = |w - m_q q^ - m_o e_o|, s =
sqrt(m_o^2 + r^2) and V > 0:
    omega = m_q A + m_o S + b + tau s G,       eta = argmin_h l(h; y) + (h - omega)^2 / (2 tau^2 V)
    phi = E[ l(eta) + (eta - omega)^2/(2 tau^2 V) ] + lambda/2 (m_q^2 + s^2) - r^2/(2 alpha V).
In (m_q, m_o, b, r) and beta = r/V it is convex in the first four and concave in beta, so the saddle
is unique (status: asymptotic, n and d to infinity with n/d = alpha; the expectation is a
quadrature). Its value at the saddle is the regularised training objective. Setting the derivatives
to zero gives  lambda m_q = -E[l'A],  E[l'] = 0,  m_o = -alpha V E[l'S],  r^2 = alpha V^2 E[tau^2
l'^2]  and 1/alpha = lambda V + E[tau^2 V l''/(1 + tau^2 V l'')].

In z = (m_q, m_o, b, r, beta) therefore
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
from saccade.studies.sparse_token.theory.law import FeatureLaw, Overlaps
from saccade.studies.sparse_token.theory.losses import prox_margin

TOLERANCE = 1e-10
MOST_EVALUATIONS = 600
"""of the potential; cases of the declared domain (`fitted.check_grid`) take fewer than a fifth"""


class Problem(NamedTuple):
    """A law with its Gaussian grid, samples per (effective) dimension alpha and ridge lambda."""

    law: FeatureLaw
    gauss: Float[Array, "node grid"]
    gauss_weight: Float[Array, "node grid"]
    samples_per_dim: float
    ridge: float


def make_problem(
    law: FeatureLaw, samples_per_dim: float, ridge: float, grid_points: int, reach: float
) -> Problem:
    """Every node gets a trapezoid grid of Gaussian nodes within `reach`, shifted by its offset."""
    step = 2 * reach / grid_points
    gauss = -reach + step * (np.arange(grid_points) + law.grid_offset[:, None])
    density = np.exp(-0.5 * gauss**2)
    return Problem(
        law, gauss, density / density.sum(1, keepdims=True), samples_per_dim * law.sample_factor,
        ridge)


class Derivatives(NamedTuple):
    """phi, gradient, Hessian in (m_q, m_o, b, s, V); the size of what cancels in the gradient."""

    value: float
    gradient: Float[Array, "5"]
    hessian: Float[Array, "5 5"]
    size: Float[Array, "5"]
    train_loss: float


def potential(problem: Problem, point: Overlaps) -> Derivatives:
    """phi and its derivatives at a point.

    Given a node of the law, omega = centre + deviation G with deviation^2 = tau^2 s^2 + m_q^2/L
    (the common shift of the tokens joins G). The envelope M(omega, gamma), gamma = tau^2 V, has
    dM/domega = l'(eta), dM/dgamma = -l'^2/2 and Hessian e (1, -l')(1, -l')^T with e = l''/(1 +
    gamma l''); the chain rule with d(omega, gamma)/d(m_q, m_o, b, s, V) does the rest.
    """
    law, alpha, ridge = problem.law, problem.samples_per_dim, problem.ridge
    q, o, s, V, r2 = point.query, point.across, point.orthogonal_norm, point.variance, point.rest**2
    centre = q * law.along + o * law.across + point.intercept
    deviation = np.sqrt((law.spread * s) ** 2 + q * q * law.shift_variance)
    step = law.spread**2 * V
    z = prox_margin(
        law.label[:, None] * (centre[:, None] + deviation[:, None] * problem.gauss), step[:, None])
    small = np.exp(-np.abs(z))
    pull = np.where(z > 0, small, 1.0) / (1 + small)
    curve = small / (1 + small) ** 2
    curve /= 1 + step[:, None] * curve
    moments = _grid_moments(problem, pull, curve)
    loss = law.weight @ np.einsum(
        "ng,ng->n", problem.gauss_weight, np.log1p(small) + np.maximum(-z, 0.0))
    gradient, hessian, size = _expected_derivatives(law, moments, q, s, deviation)
    value = (
        loss + 0.5 * (law.weight @ (step * moments.pull2)) + 0.5 * ridge * (q * q + s * s)
        - r2 / (2 * alpha * V))
    extra = np.array(
        [ridge * q, o / (alpha * V), 0.0, ridge * s - s / (alpha * V), r2 / (2 * alpha * V**2)])
    hessian[np.diag_indices(5)] += [
        ridge, 1 / (alpha * V), 0.0, ridge - 1 / (alpha * V), -r2 / (alpha * V**3)]
    hessian[[3, 4], [4, 3]] += s / (alpha * V**2)
    hessian[[1, 4], [4, 1]] -= o / (alpha * V**2)
    return Derivatives(float(value), gradient + extra, hessian, size + np.abs(extra), float(loss))


class _Moments(NamedTuple):
    """Grid averages of p = -y l', p G, p^2; of the curvature e times 1, G, G^2, p, p G, p^2."""

    pull: Array
    pull_g: Array
    pull2: Array
    curve: Array
    curve_g: Array
    curve_g2: Array
    curve_p: Array
    curve_pg: Array
    curve_p2: Array


def _grid_moments(problem: Problem, pull: Array, curve: Array) -> _Moments:
    weight, gauss = problem.gauss_weight, problem.gauss
    wp, we = weight * pull, weight * curve
    wep, weg = we * pull, we * gauss

    def dot(a, b):
        return np.einsum("ng,ng->n", a, b)

    return _Moments(
        wp.sum(1), dot(wp, gauss), dot(wp, pull), we.sum(1), weg.sum(1), dot(weg, gauss),
        wep.sum(1), dot(wep, gauss), dot(wep, pull))


def _expected_derivatives(law: FeatureLaw, m: _Moments, q: float, s: float, deviation: Array):
    """Gradient, Hessian and cancelling size of E[M]: j = steady + wobble G + recoil p is d(omega,
    gamma) as seen by (1, -l')."""
    nodes, label, spread2 = len(law.weight), law.label, law.spread**2
    steady, wobble, recoil = np.zeros((5, nodes)), np.zeros((5, nodes)), np.zeros((5, nodes))
    steady[0], steady[1], steady[2] = law.along, law.across, 1.0
    wobble[0], wobble[3] = q * law.shift_variance / deviation, spread2 * s / deviation
    recoil[4] = label * spread2
    first = -label * m.pull * steady - label * m.pull_g * wobble
    first[4] = -0.5 * spread2 * m.pull2
    size = np.abs(first) @ law.weight
    # A direction without signal (S = 0 at alignment +-1) still carries noise tau: without this
    # floor its residual would be 0/0.
    size[:2] += law.weight @ (law.spread * m.pull)

    def paired(left, factor, right):
        product = (left * (law.weight * factor)) @ right.T
        return product if left is right else product + product.T

    hessian = (
        paired(steady, m.curve, steady) + paired(wobble, m.curve_g2, wobble)
        + paired(recoil, m.curve_p2, recoil))
    hessian += (
        paired(steady, m.curve_g, wobble) + paired(steady, m.curve_p, recoil)
        + paired(wobble, m.curve_pg, recoil))
    bend = law.weight * -label * m.pull_g / deviation
    hessian[0, 0] += bend @ (law.shift_variance - wobble[0] ** 2)
    hessian[3, 3] += bend @ (spread2 - wobble[3] ** 2)
    hessian[0, 3] -= bend @ (wobble[0] * wobble[3])
    hessian[3, 0] -= bend @ (wobble[0] * wobble[3])
    return first @ law.weight, hessian, size


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
