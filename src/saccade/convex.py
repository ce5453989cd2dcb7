"""Fitting the linear read-out of given features: a convex problem solved to a stated gradient norm,
and separability, by Newton's method or by linear programming.

    minimise over (w, b)   J = (1/n) sum_i l(<w, f_i> + b; y_i) + lambda/2 |w|^2

with l logistic, log(1 + e^{-yh}), or square, (y - h)^2/2; b is not penalised. The square loss is
one linear system, the logistic loss damped Newton. When there are more features than samples the
best w lies in the span of the samples, so the problem is solved in an orthonormal basis of that.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import linprog
from scipy.special import expit

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.errors import require, unknown


class ConvexFit(NamedTuple):
    """The read-out; `status` is "converged" if the gradient of J is below the tolerance."""

    w: Float[Array, " feature"]
    b: float
    train_loss: float
    objective: float
    gradient_norm: float
    iterations: int
    status: str


def fit_readout(
    features, y, ridge: float, loss: str = "logistic", tolerance: float = 1e-10,
    max_iterations: int = 200,
) -> ConvexFit:
    """Minimise J; `tolerance` bounds the Euclidean norm of its gradient in (w, b)."""
    features, y = np.asarray(features, float), np.asarray(y, float)
    check_data(features, y)
    require(bool(np.isfinite(ridge)) and ridge > 0, "ridge", ridge, "must be finite and above 0")
    if loss not in ("logistic", "square"):
        raise unknown("loss", str(loss), ("logistic", "square"))
    solve = _fit_square if loss == "square" else _fit_logistic
    if features.shape[1] > len(y):
        basis, triangle = np.linalg.qr(features.T)
        coordinates, b, iterations = solve(triangle.T, y, ridge, tolerance, max_iterations)
        w = basis @ coordinates
    else:
        w, b, iterations = solve(features, y, ridge, tolerance, max_iterations)
    return _certify(features, y, ridge, loss, w, float(b), iterations, tolerance)


def check_data(features: Array, y: Array) -> None:
    """Features as a finite table, one label +1 or -1 a row, both labels present."""
    matching = features.ndim == 2 and y.shape == (len(features),)
    require(
        matching, "features", features.shape,
        f"must be a table with one row for each of the {y.size} labels")
    require(
        bool(np.isfinite(features).all()), "features", "a non-finite entry", "must all be finite")
    labels = sorted(set(y.tolist()))
    require(
        labels == [-1.0, 1.0], "y", labels,
        "are the labels present and must be -1 and +1, both of them")


def _fit_square(F: Array, y: Array, ridge: float, tolerance: float, max_iterations: int):
    """Centring removes b; then (F^T F/n + lambda I) w = F^T y/n."""
    mean, level = F.mean(0), y.mean()
    centred = F - mean
    gram = centred.T @ centred / len(y)
    gram[np.diag_indices_from(gram)] += ridge
    w = cho_solve(cho_factor(gram), centred.T @ (y - level) / len(y))
    return w, level - mean @ w, 1


def logistic_objective(F: Array, y: Array, ridge: float, w: Array, b: float) -> float:
    return float(np.logaddexp(0.0, -y * (F @ w + b)).mean() + 0.5 * ridge * (w @ w))


def _fit_logistic(F: Array, y: Array, ridge: float, tolerance: float, max_iterations: int):
    """Newton with Armijo halving on (w, b); the Hessian is one (p+1) x (p+1) Cholesky a step."""
    n, p = F.shape
    design = np.concatenate([F, np.ones((n, 1))], axis=1)
    x = np.zeros(p + 1)
    # A balanced start: b alone explains the label frequencies.
    x[p] = np.log((y > 0).mean() / (y < 0).mean())
    penalty = np.append(np.full(p, ridge), 0.0)
    value = logistic_objective(F, y, ridge, x[:p], float(x[p]))
    for iteration in range(max_iterations):
        pull = expit(-y * (design @ x))
        gradient = design.T @ (-y * pull) / n + penalty * x
        if np.linalg.norm(gradient) <= 0.5 * tolerance:
            return x[:p], x[p], iteration
        curve = pull * (1 - pull) / n
        hessian = (design * curve[:, None]).T @ design
        hessian[np.diag_indices(p + 1)] += penalty + 1e-14 * np.trace(hessian) / (p + 1)
        move = -cho_solve(cho_factor(hessian), gradient)
        x, value, moved = _armijo(F, y, ridge, x, move, gradient @ move, value)
        if not moved:
            break
    return x[:p], x[p], max_iterations


def _armijo(F: Array, y: Array, ridge: float, x: Array, move: Array, slope: float, value: float):
    """Halve the step until J falls enough; the slack is rounding, which decides at the minimum."""
    for halving in range(40):
        trial = x + 0.5**halving * move
        trial_value = logistic_objective(F, y, ridge, trial[:-1], trial[-1])
        if trial_value <= value + 1e-4 * 0.5**halving * slope + 1e-15 * abs(value):
            return trial, trial_value, True
    return x, value, False


def _certify(
    F: Array, y: Array, ridge: float, loss: str, w: Array, b: float, iterations: int,
    tolerance: float,
) -> ConvexFit:
    """Loss, objective and gradient once more in the original coordinates, not the solver's word."""
    margin = F @ w + b
    if loss == "square":
        losses, slope = 0.5 * (y - margin) ** 2, margin - y
    else:
        losses, slope = np.logaddexp(0.0, -y * margin), -y * expit(-y * margin)
    gradient_norm = float(np.hypot(np.linalg.norm(F.T @ slope / len(y) + ridge * w), slope.mean()))
    status = "converged" if gradient_norm <= tolerance else "not converged"
    return ConvexFit(
        w, b, float(losses.mean()), float(losses.mean() + 0.5 * ridge * (w @ w)), gradient_norm,
        iterations, status)


def is_separable(features, y) -> bool:
    """Whether some (w, b) has y_i (<w, f_i> + b) > 0 for all i: by Newton's method where it decides
    (four times as fast at 33 weights), else by a linear programme (HiGHS)."""
    features, y = np.asarray(features, float), np.asarray(y, float)
    check_data(features, y)
    rows = y[:, None] * np.concatenate([features, np.ones((len(y), 1))], axis=1)
    decided = separated_by_newton(rows)
    return separated_by_programme(-rows) if decided is None else decided


def separated_by_newton(rows: Array, limit: int = 40) -> bool | None:
    """Whether some x has <x, z_i> > 0 for every row z_i, from Newton on the logistic loss without
    ridge; None where it cannot tell.

    Either x separates on the way down, or the loss has a minimum: then the pulls p_i =
    sigmoid(-<x, z_i>) > 0 have sum_i p_i z_i = 0 (to ten digits of what cancels), which no x with
    <x, z_i> > 0 for all i allows.
    """
    rows = rows / np.maximum(np.abs(rows).max(0), np.finfo(float).tiny)
    margin, value, sizes = np.zeros(len(rows)), len(rows) * np.log(2), np.abs(rows)
    for _ in range(limit):
        pull = expit(-margin)
        gradient = pull @ rows
        if np.all(np.abs(gradient) <= 1e-10 * (pull @ sizes)):
            return False
        hessian = (rows * (pull * (1 - pull))[:, None]).T @ rows
        hessian[np.diag_indices(len(hessian))] += 1e-13 * np.trace(hessian)
        try:
            move = cho_solve(cho_factor(hessian), gradient)
        except np.linalg.LinAlgError:
            return None
        margin, value, moved = _downhill(margin, rows @ move, gradient @ move, value)
        if margin.min() > 0:
            return True
        if not moved:
            return None
    return None


def _downhill(margin: Array, step: Array, slope: float, value: float):
    """Halve the step until the loss falls enough; the slack is rounding."""
    for halving in range(20):
        size = 0.5**halving
        trial = margin + size * step
        trial_value = np.logaddexp(0.0, -trial).sum()
        if trial_value <= value - 1e-4 * size * slope + 1e-13 * value:
            return trial, trial_value, True
    return margin, value, False


def separated_by_programme(signed: Array) -> bool:
    """Whether some x has <x, z_i> <= -1 for every row of `signed`."""
    answer = linprog(
        np.zeros(signed.shape[1]), A_ub=signed, b_ub=-np.ones(len(signed)), bounds=(None, None),
        method="highs")
    # The solver gives up on a few barely (in)separable sets, where weights would have to be huge.
    return answer.status == 0 if answer.status in (0, 2) else largest_margin(signed) > 1e-9


def largest_margin(signed) -> float:
    """max over weights in [-1, 1] of the smallest margin, at most 1: positive iff separable. Always
    feasible, so always decided."""
    n, p = signed.shape
    goal = np.append(np.zeros(p), -1.0)
    table = np.concatenate([signed, np.ones((n, 1))], axis=1)
    answer = linprog(
        goal, A_ub=table, b_ub=np.zeros(n), bounds=[(-1, 1)] * p + [(None, 1)], method="highs-ds")
    if answer.status != 0:
        raise ArithmeticError(f"the linear programme ended undecided: {answer.message}")
    return float(-answer.fun)


def readout_error(features, y, w, b: float) -> float:
    """Fraction of samples on the wrong side; a margin of exactly zero counts as wrong."""
    return float(np.mean(np.asarray(y) * (np.asarray(features) @ w + b) <= 0))
