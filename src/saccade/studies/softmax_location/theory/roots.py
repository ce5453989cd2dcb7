"""The root between two signs, and the least value over a logarithmic range."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

from .setting import LARGEST_SHARPNESS, SMALLEST


def root_between(function: Callable[[float], float], low: float, high: float) -> float:
    """By Brent's method, to 1e-12."""
    return float(optimize.brentq(function, low, high, xtol=1e-12))  # type: ignore[arg-type]


def least_over(
    function: Callable[[float], float], low: float, high: float, points: int = 48,
    stays: bool = False,
) -> tuple[float, float]:
    """(place, value) of the least value: the best of a geometric ladder from low to high, which
    goes on beyond an end as long as that is the best (not below `low` if that `stays`), then a
    bounded search between its neighbours, to 1e-9 in the logarithm."""

    def at(x: float) -> float:
        return function(float(np.exp(x)))

    ladder = list(np.linspace(np.log(low), np.log(high), points))
    values, step = [at(x) for x in ladder], np.log(high / low) / (points - 1)
    while (best := int(np.argmin(values))) in (0, len(ladder) - 1) and not (stays and best == 0):
        place = 0 if best == 0 else len(ladder)
        ladder.insert(place, ladder[best] + (step if place else -step))
        if not np.log(SMALLEST) <= ladder[place] <= np.log(LARGEST_SHARPNESS):
            raise ArithmeticError(
                f"The values fall all the way to {np.exp(ladder[place]):.3g}, as far as the least"
                " is sought.")
        values.insert(place, at(ladder[place]))
    bounds = ladder[max(best - 1, 0)], ladder[best + 1]
    end: Any = optimize.minimize_scalar(
        at, bounds=bounds, method="bounded", options={"xatol": 1e-9})
    return float(np.exp(end.x)), float(end.fun)
