"""Gaussian means of erf and of its square, and their slopes in the mean, from definitions: every
derivative is taken under the integral, those of erf by a step along the imaginary axis."""

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray
from scipy import integrate, special

from saccade.lab.experiment import experiment
from saccade.studies.single_location.experiments.closed_forms import gaussian_mean

Point = tuple[float, float]
POINTS: tuple[Point, ...] = ((0.4, 0.3), (-1.1, 0.7), (1.7, 1.6))


def _first(x: Any) -> Any:
    return 2 / np.sqrt(np.pi) * np.exp(-x * x)


def _slope(of: Callable[[Any], Any], x: float) -> float:
    """Of a function with an analytic continuation: exact to rounding, nothing cancels."""
    return float(np.imag(of(x + 1e-30j)) / 1e-30)


def _second(x: float) -> float:
    return _slope(_first, x)


def _third(x: float) -> float:
    """erf''' by differences of fourth order of erf'', which is known to rounding."""
    step = 1e-3
    near, far = (_second(x + far) - _second(x - far) for far in (step, 2 * step))
    return (8 * near - far) / (12 * step)


ERF: tuple[Callable[[float], float], ...] = (special.erf, _first, _second, _third)
SQUARE: tuple[Callable[[float], float], ...] = (
    lambda x: special.erf(x) ** 2, lambda x: 2 * special.erf(x) * _first(x),
    lambda x: 2 * (_first(x) ** 2 + special.erf(x) * _second(x)),
    lambda x: 6 * _first(x) * _second(x) + 2 * special.erf(x) * _third(x))


@experiment("single-location.erf-slopes")
def erf_slopes(
    key: Any, *, points: tuple[Point, ...] = POINTS, farther: float = 0.0
) -> xarray.Dataset:
    """At every (t, variance), t being `farther`: erf'(t) to erf'''(t), E erf(t + G) and E erf(t +
    G)^2 with three derivatives each, and Owen's T(h, a) at h = t, a = variance/2."""
    rows = []
    for t, variance in ((t + farther, variance) for t, variance in points):
        owen = integrate.quad(
            lambda u, h=t: np.exp(-h * h * (1 + u * u) / 2) / (1 + u * u), 0, variance / 2,
            epsabs=1e-15)[0]
        rows.append([
            *(of(t) for of in ERF[1:]),
            *(gaussian_mean(of, t, variance) for of in (*ERF, *SQUARE)), owen / (2 * np.pi)])
    return xarray.Dataset({"value": (("point", "number"), np.array(rows))})
