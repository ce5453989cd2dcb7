"""The logarithm of the modified Bessel function I at any size: lengths of normal vectors in many
dimensions need it far beyond what a double can hold. Status: exact to about 1e-13."""

from collections.abc import Callable

import numpy as np
from numpy.polynomial import Polynomial
from scipy import special

from .setting import Array

SMALLEST, LARGEST = 1e-250, 1e8  # of I e^-x and of x, beyond which the library is not asked
MANY = 300  # terms of the power series, and the order from which on Debye's expansion is used
HANKEL = 12  # terms of the expansion for large arguments
DEBYE = tuple(  # u_1 .. u_4 of Debye's expansion, as polynomials of t
    Polynomial([0] * k + [x for c in coefficients for x in (c / scale, 0)])
    for k, (scale, coefficients) in enumerate(
        (
            (24, (3, -5)), (1152, (81, -462, 385)), (414720, (30375, -369603, 765765, -425425)),
            (39813120, (4465125, -94121676, 349922430, -446185740, 185910725))),
        1)
)


def log_bessel(order: float, x: Array) -> Array:
    """log(I_order(x) e^-x), by the library where it holds the number; else by the power series, for
    arguments below the square root of the order, and by expansions in 1/order or 1/x."""
    scaled = special.ive(order, np.where(x > LARGEST, 1.0, x))
    held = (scaled > SMALLEST) & (x <= LARGEST)
    short = ~held & (x**2 < 4 * MANY / 6 * (order + 1))
    log = np.log(np.where(held, scaled, 1.0))
    log[short] = _by_series(order, x[short])
    rest = ~held & ~short
    log[rest] = (_by_debye if order >= MANY else _by_hankel)(order, x[rest])
    return log


def _by_series(order: float, x: Array) -> Array:
    series = _sum_of_terms(lambda k: x**2 / (4 * k * (order + k)), MANY)
    return order * np.log(x / 2) - special.gammaln(order + 1) - x + np.log(series)


def _by_debye(order: float, x: Array) -> Array:
    """For large orders, uniformly in x: with z = x/order, r = sqrt(1 + z^2), t = 1/r: I_order(x) =
    e^(order (r + log(z/(1 + r)))) (1 + u_1(t)/order + ...)/sqrt(2 pi order r)."""
    z = x / order
    r = np.hypot(1.0, z)
    # r - z = 1/(r + z), which is small where the exponent would lose its digits
    exponent = order * (1 / (r + z) + np.log(z / (1 + r)))
    series = 1 + sum(u(1 / r) / order**k for k, u in enumerate(DEBYE, 1))
    return exponent + np.log(series) - np.log(2 * np.pi * order * r) / 2


def _by_hankel(order: float, x: Array) -> Array:
    """For arguments far above the square of the order."""
    series = _sum_of_terms(lambda k: ((2 * k - 1) ** 2 - 4 * order**2) / (8 * k * x), HANKEL)
    return np.log(series) - np.log(2 * np.pi * x) / 2


def _sum_of_terms(ratio: Callable[[int], Array], count: int) -> Array:
    """1 + ratio(1) + ratio(1) ratio(2) + ..."""
    total = term = np.ones_like(ratio(1))
    for k in range(1, count):
        term = term * ratio(k)
        total = total + term
    return total
