"""The root between two signs, and the least value over a logarithmic range."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize


def root_between(function: Callable[[float], float], low: float, high: float) -> float:
    """By Brent's method, to 1e-12."""
    return float(optimize.brentq(function, low, high, xtol=1e-12))  # type: ignore[arg-type]


def least_over(
    function: Callable[[float], float], low: float, high: float, points: int = 48
) -> tuple[float, float]:
    """(place, value) of the least value between low and high: the best of a geometric ladder, then
    a bounded search between its neighbours, to 1e-9 in the logarithm."""
    ladder = np.linspace(np.log(low), np.log(high), points)

    def at(x: float) -> float:
        return function(float(np.exp(x)))

    best = int(np.argmin([at(x) for x in ladder]))
    bounds = ladder[max(best - 1, 0)], ladder[min(best + 1, points - 1)]
    end: Any = optimize.minimize_scalar(
        at, bounds=bounds, method="bounded", options={"xatol": 1e-9})
    return float(np.exp(end.x)), float(end.fun)
