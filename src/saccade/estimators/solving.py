"""Minimising J by L-BFGS, once or along a path of ridges, and what comes of it."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.optimize import minimize

from saccade.estimators.bags import Bags

FLAT = 1e-2
"""A run that used up its iterations is called unfinished if a slope of J is still above this; J is
log 2 for a model that knows nothing."""


class Model(Protocol):
    """What a fitted objective says about bags: F, and the weight of each token (flat)."""

    def decision(self, bags: Bags) -> np.ndarray: ...

    def attention(self, bags: Bags) -> np.ndarray: ...


class Minimised(Protocol):
    """J and its gradient at parameters and a ridge, and the model of parameters."""

    def __call__(self, theta: np.ndarray, ridge: float) -> tuple[float, np.ndarray]: ...

    def model(self, theta: np.ndarray) -> Model: ...


class Solution(NamedTuple):
    """Where a minimisation ended."""

    model: Any
    theta: np.ndarray
    value: float
    n_iter: int
    finished: bool


def descend(
    objective: Minimised, theta: np.ndarray, ridge: float, max_iter: int, ftol: float = 1e-7,
    gtol: float = 1e-5,
) -> Solution:
    """L-BFGS with ten pairs."""
    end = minimize(
        objective, theta, (ridge,), jac=True, method="L-BFGS-B",
        options={"maxcor": 10, "maxiter": max_iter, "ftol": ftol, "gtol": gtol})
    finished = end.nit < max_iter or bool(np.abs(end.jac).max() <= FLAT)
    return Solution(objective.model(end.x), end.x, float(end.fun), max(1, end.nit), finished)


def walk(
    objective: Minimised, theta: np.ndarray, ridges: Sequence[float], max_iter: int
) -> Iterator[Solution]:
    """Down the path of ridges, each step from where the last one ended."""
    for ridge in ridges:
        step = descend(objective, theta, ridge, max_iter)
        theta = step.theta
        yield step
