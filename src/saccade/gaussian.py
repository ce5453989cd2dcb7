"""Moments of erf(t + G), G ~ N(0, variance), in closed form.

The six identities are Lemma 18 of Marion, Berthier, Biau and Boyer (2025, arXiv 2410.01537); the
closed form of `zeta` through Owen's T function is ours. Status: exact; `zeta` and `owens_t` by a
12-node quadrature of a smooth integrand whose absolute error is below 1e-15. Numbers of JAX give
numbers of JAX, all others NumPy's (`saccade.arrays`).
"""

import numpy as np
from jaxtyping import Float

from saccade.arrays import Array, floats, namespace, special

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_UNIT_NODES, _UNIT_WEIGHTS = (_NODES + 1) / 2, _WEIGHTS / 2


def erf_derivative(x: Array, order: int) -> Float[Array, "..."]:
    """A derivative of erf: 2 exp(-x^2)/sqrt(pi) times 1, -2x or 4x^2 - 2 by order. Exact."""
    (x,) = floats(x)
    first = 2 / np.sqrt(np.pi) * namespace(x).exp(-(x**2))
    factors = {1: lambda: 1.0, 2: lambda: -2 * x, 3: lambda: 4 * x**2 - 2}
    return factors[order]() * first


def _integrate_over_unit(slope: Array, integrand) -> Float[Array, "..."]:
    """int_0^slope integrand(u) du by Gauss-Legendre; the nodes are on a new last axis."""
    (slope,) = floats(slope)
    values = _UNIT_WEIGHTS * integrand(slope[..., None] * _UNIT_NODES)
    return slope * namespace(values).sum(values, axis=-1)


def owens_t(h: Array, a: Array) -> Float[Array, "..."]:
    """Owen's T(h, a) = (1/2pi) int_0^a exp(-h^2 (1+u^2)/2)/(1+u^2) du for 0 <= a <= 1. Quadrature,
    error < 1e-15: where the integrand is narrow (large h), its height exp(-h^2/2) is nil."""
    xp = namespace(h, a)
    h, a = xp.broadcast_arrays(*floats(h, a))
    half_square = h[..., None] ** 2 / 2
    return _integrate_over_unit(a, lambda u: xp.exp(-half_square * (1 + u**2)) / (1 + u**2)) / (
        2 * np.pi)


def zeta(t: Array, variance: Array) -> Float[Array, "..."]:
    """E[erf(t + G)^2], the paper's zeta (eq. 7); the second argument is the variance of G.

    zeta = 1 - 8 T(sqrt2 |t|/sqrt(1+2 variance), 1/sqrt(1+4 variance)), T of Owen. Evaluated as
    zeta(0) plus 8 (T(0, a) - T(h, a)), a sum of positive terms, so that tiny values keep all their
    digits.
    """
    xp, (t, variance) = namespace(t, variance), floats(t, variance)
    root = xp.sqrt(1 + 4 * variance)
    at_zero = 2 / np.pi * xp.arctan(2 * variance / root)
    half_square = (t**2 / (1 + 2 * variance))[..., None]
    growth = _integrate_over_unit(
        1 / root, lambda u: -xp.expm1(-half_square * (1 + u**2)) / (1 + u**2))
    return at_zero + 4 / np.pi * growth


def zeta_curvature(t: Array, variance: Array) -> Float[Array, "..."]:
    """d^2 zeta/dt^2 = 2 (E[erf'^2] - 2 t E[erf erf'])/(1 + 2 variance). Exact."""
    t, variance = floats(t, variance)
    gap = expect_erf_prime_squared(t, variance) - 2 * t * expect_erf_erf_prime(t, variance)
    return 2 * gap / (1 + 2 * variance)


def zeta_derivatives(t: Array, variance: Array) -> tuple[Float[Array, "..."], ...]:
    """zeta and its first three t-derivatives, every exponential taken once. Exact."""
    t, variance = floats(t, variance)
    product, square = expect_erf_erf_prime(t, variance), expect_erf_prime_squared(t, variance)
    curvature = 2 * (square - 2 * t * product) / (1 + 2 * variance)
    third = (
        2 * (-4 * t * square / (1 + 4 * variance) - 2 * product - t * curvature)
        / (1 + 2 * variance))
    return zeta(t, variance), 2 * product, curvature, third


def expect_erf(t: Array, variance: Array) -> Float[Array, "..."]:
    """E[erf(t+G)] = erf(t/sqrt(1+2 variance)). Exact, Lemma 18 (ii)."""
    t, variance = floats(t, variance)
    return special(t).erf(t / namespace(t).sqrt(1 + 2 * variance))


def expect_erf_prime(t: Array, variance: Array) -> Float[Array, "..."]:
    """E[erf'(t+G)] = erf'(t/w)/w with w^2 = 1 + 2 variance. Exact, Lemma 18 (i)."""
    return _expect_derivative(t, variance, 1)


def expect_erf_second(t: Array, variance: Array) -> Float[Array, "..."]:
    """E[erf''(t+G)] = erf''(t/w)/w^2 with w^2 = 1 + 2 variance. Exact, Lemma 18 (iii)."""
    return _expect_derivative(t, variance, 2)


def expect_erf_derivatives(t: Array, variance: Array) -> tuple[Float[Array, "..."], ...]:
    """The means of erf and its first three derivatives at t + G, E[erf^(n)(t+G)] = erf^(n)(t/w)/w^n
    with w^2 = 1 + 2 variance, the exponential taken once. Exact."""
    t, variance = floats(t, variance)
    width = namespace(t).sqrt(1 + 2 * variance)
    x = t / width
    first = erf_derivative(x, 1) / width
    return special(t).erf(x), first, -2 * x * first / width, (4 * x**2 - 2) * first / width**2


def _expect_derivative(t: Array, variance: Array, order: int) -> Float[Array, "..."]:
    t, variance = floats(t, variance)
    width = namespace(t).sqrt(1 + 2 * variance)
    return erf_derivative(t / width, order) / width**order


def expect_erf_prime_squared(t: Array, variance: Array) -> Float[Array, "..."]:
    """E[erf'(t+G)^2] = 4/(pi w) exp(-2 t^2/w^2) with w^2 = 1 + 4 variance. Exact, Lemma 18 (iv)."""
    xp, (t, variance) = namespace(t, variance), floats(t, variance)
    width = xp.sqrt(1 + 4 * variance)
    return 4 / (np.pi * width) * xp.exp(-2 * (t / width) ** 2)


def expect_erf_erf_second(t: Array, variance: Array) -> Float[Array, "..."]:
    """E[erf(t+G) erf''(t+G)] = -2 (t E[erf erf'] + variance E[erf'^2])/(1+2 variance). Lemma 18
    (v)."""
    t, variance = floats(t, variance)
    total = t * expect_erf_erf_prime(t, variance) + variance * expect_erf_prime_squared(t, variance)
    return -2 * total / (1 + 2 * variance)


def expect_erf_erf_prime(t: Array, variance: Array) -> Float[Array, "..."]:
    """E[erf(t+G) erf'(t+G)] = erf(t/(w z)) erf'(t/w)/w, w^2 = 1+2 variance, z^2 = 1+4 variance.
    Lemma 18 (vi)."""
    xp, (t, variance) = namespace(t, variance), floats(t, variance)
    width = xp.sqrt(1 + 2 * variance)
    smoothed = special(t).erf(t / (width * xp.sqrt(1 + 4 * variance)))
    return smoothed * erf_derivative(t / width, 1) / width
