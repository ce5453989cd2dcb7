"""The convex part of the fits: an intercept and pooled features, no head.

    J(b, c) = sum_i s_i loss(b + phi_i c, y_i) + lambda/2 |c|^2

Few features: Newton's method, some five steps of one linear system each. Many: L-BFGS to tight
tolerances, because a step would cost their number squared for every bag. Both end at the one
minimum. Status: exact gradient and curvature.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from saccade.estimators.objective import Objective, squared
from saccade.estimators.solving import FLAT, Solution, descend

FEW = 128
"""Features up to which Newton is the faster one: six times at 16, equal at some 200."""
CONVEX = 1e-10, 1e-7
"""Tolerances of L-BFGS where the minimum is unique: worth reaching."""
SLOPE = 1e-9
"""Newton is done where no slope of J is steeper."""


def reach_minimum(objective: Objective, theta: np.ndarray, ridge: float, max_iter: int) -> Solution:
    """The minimum of J without a head, from `theta`."""
    if objective.size > FEW:
        return descend(objective, theta, ridge, max_iter, *CONVEX)
    value, gradient = objective(theta, ridge)
    count = 0
    while count < max_iter and np.abs(gradient).max() > SLOPE:
        count += 1
        move = cho_solve(cho_factor(_curvature(objective, theta, ridge)), gradient)
        before, (theta, value, gradient) = value, _shorter(objective, theta, ridge, move, value)
        if value >= before:  # rounding decides: this is the minimum
            break
    finished = count < max_iter or bool(np.abs(gradient).max() <= FLAT)
    return Solution(objective.model(theta), theta, value, max(1, count), finished)


def walk_down(objective: Objective, ridges: Sequence[float], max_iter: int) -> Iterator[Solution]:
    """Down the path of ridges from 0; convex, so the path only saves steps."""
    theta = np.zeros(objective.size)
    for ridge in ridges:
        step = reach_minimum(objective, theta, ridge, max_iter)
        theta = step.theta
        yield step


def _curvature(objective: Objective, theta: np.ndarray, ridge: float) -> np.ndarray:
    """The second derivatives of J: sum_i s_i loss'' (1, phi_i)(1, phi_i)^T and the ridge."""
    design = np.column_stack([np.ones(len(objective.y)), objective.data.features])
    bend = np.ones(len(design))
    if objective.loss is not squared:
        slope = np.abs(objective.loss(design @ theta, objective.y)[1])
        bend = slope * (1 - slope)
    second = (design.T * (objective.share * bend)) @ design
    second[np.diag_indices_from(second)] += ridge * objective.penalties
    second[0, 0] += np.finfo(float).eps  # b alone is not penalised
    return second


def _shorter(
    objective: Objective, theta: np.ndarray, ridge: float, move: np.ndarray, value: float
) -> tuple[np.ndarray, float, np.ndarray]:
    """The first of the steps 1, 1/2, 1/4, .. along -`move` after which J is lower."""
    for halving in range(30):
        trial = theta - 0.5**halving * move
        lower, gradient = objective(trial, ridge)
        if lower < value:
            return trial, lower, gradient
    return theta, value, objective(theta, ridge)[1]
