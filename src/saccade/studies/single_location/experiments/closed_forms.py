"""Expectations taken by quadrature straight from their definitions: what the closed forms are
judged against."""

import itertools
from typing import Any

import numpy as np
import xarray
from scipy import integrate, special

from saccade.lab.experiment import experiment

MOMENTS = ("erf'", "erf", "erf''", "(erf')^2", "erf erf''", "erf erf'", "erf^2")


def _erf_prime(x: Any) -> Any:
    return 2 / np.sqrt(np.pi) * np.exp(-x * x)


def _integrands() -> tuple:
    """The seven functions whose Gaussian means Lemma 18 and zeta give in closed form."""
    prime, second = _erf_prime, lambda x: -2 * x * _erf_prime(x)
    return (
        prime, special.erf, second, lambda x: prime(x) ** 2, lambda x: special.erf(x) * second(x),
        lambda x: special.erf(x) * prime(x), lambda x: special.erf(x) ** 2)


def gaussian_mean(function, shift: float, variance: float) -> float:
    """E f(shift + G), G ~ N(0, variance), by adaptive quadrature over twelve standard
    deviations."""
    scale = np.sqrt(variance)
    density = lambda z: np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * function(shift + scale * z)  # noqa: E731
    # The integrand's own feature (the step of erf) is given as a break point, or it could be missed
    # when it is narrow.
    step = np.clip(-shift / scale, -11.0, 11.0)
    breaks = np.unique(np.concatenate(
        [[-12.0, 12.0, step], np.clip(step + np.array([-6, -1, 1, 6]) / scale, -11, 11)]))
    parts = itertools.pairwise(breaks)
    return float(sum(
        integrate.quad(density, a, b, epsabs=1e-15, epsrel=1e-13, limit=200)[0]
        for a, b in parts))


@experiment("single-location.erf-moments")
def erf_moments(
    key, *, shifts: tuple[float, ...] = (0.0, 0.3, -1.1, 2.0, 5.0),
    variances: tuple[float, ...] = (0.01, 0.25, 1.0, 4.0),
) -> xarray.Dataset:
    """Gaussian means of products of erf and its derivatives, by adaptive quadrature."""
    t, s = (grid.ravel() for grid in np.meshgrid(shifts, variances, indexing="ij"))
    values = [[gaussian_mean(f, a, b) for a, b in zip(t, s, strict=True)] for f in _integrands()]
    return xarray.Dataset(
        {"mean": (("moment", "point"), np.array(values))},
        {"moment": list(MOMENTS), "shift": ("point", t), "variance": ("point", s)})


@experiment("single-location.oracle-quadrature")
def oracle_quadrature(
    key, *, dims: tuple[float, ...] = (1e2, 1e4, 1e6, 1e8, 1e10), lengths: tuple[float, ...] = (),
    temperature_exponent: float = 0.4, gamma: float = 2**-0.5, noise: float = 0.0,
) -> xarray.Dataset:
    """Risk of the oracle predictor by quadrature, for lambda = d^-exponent and L = sqrt(d) (or the
    given lengths)."""
    tokens = np.array([[length for length in lengths] or [np.sqrt(dim)] for dim in dims])
    risks = [
        [_oracle(dim, length, dim**-temperature_exponent, gamma, noise) for length in row]
        for dim, row in zip(dims, tokens, strict=True)]
    return xarray.Dataset(
        {"risk": (("dim", "case"), np.array(risks)), "length": (("dim", "case"), tokens)},
        {"dim": np.array(dims, float)})


def _oracle(
    dim: float, length: float, inverse_temperature: float, gamma: float, noise: float
) -> float:
    """eps^2 + gamma^2 (1 - 2 E erf + E erf^2) + (L - 1) E erf^2: expand the square at the true
    directions, tokens independent."""
    shift, variance = inverse_temperature * np.sqrt(dim / 2), (inverse_temperature * gamma) ** 2
    missed = gaussian_mean(
        lambda x: special.erfc(x) ** 2, shift, variance
    )  # (1 - erf)^2 in one piece, so nothing cancels
    others = gaussian_mean(lambda x: special.erf(x) ** 2, 0.0, inverse_temperature**2)
    return noise**2 + gamma**2 * missed + (length - 1) * others


@experiment("single-location.manifold-landscape")
def manifold_landscape(
    key, *, dim: int = 400, length: int = 10, inverse_temperature: float = 0.1,
    gamma: float = 2**-0.5, points: int = 101, nodes: int = 120,
) -> xarray.Dataset:
    """Risk and its slopes on the invariant manifold over a (kappa, nu) grid, by Gauss-Hermite
    quadrature of the definition."""
    grid = np.linspace(-1, 1, points)
    z, weights = np.polynomial.hermite_e.hermegauss(nodes)
    weights = weights / weights.sum()
    lam, shift = inverse_temperature, np.sqrt(dim / 2)
    inner = lam * (shift * grid[:, None] + gamma * z)
    hit, square = special.erf(inner) @ weights, special.erf(inner) ** 2 @ weights
    slope = _erf_prime(inner) * lam * shift
    others = (length - 1) * float(special.erf(lam * z) ** 2 @ weights)
    kappa, nu = np.meshgrid(grid, grid, indexing="ij")
    risk = gamma**2 * (1 - 2 * nu * hit[:, None] + square[:, None]) + others
    d_kappa = gamma**2 * (
        -2 * nu * (slope @ weights)[:, None] + 2 * ((special.erf(inner) * slope) @ weights)[:, None]
    )
    d_nu = np.broadcast_to(-2 * gamma**2 * hit[:, None], kappa.shape)
    axes = ("kappa", "nu")
    return xarray.Dataset(
        {"risk": (axes, risk), "d_kappa": (axes, d_kappa), "d_nu": (axes, d_nu)},
        {"kappa": grid, "nu": grid})


@experiment("single-location.erf-inequalities")
def erf_inequalities(key, *, points: int = 20_001, width: float = 50.0) -> xarray.Dataset:
    """Both sides of the elementary inequalities on erf and on 1/sqrt(1+u), on a grid."""
    u = np.linspace(-width, width, points)
    positive = u[u > 0]
    step = 1e-5
    second = (_erf_prime(u + step) - _erf_prime(u - step)) / (2 * step)
    return xarray.Dataset(
        {
            "erf_excess": float(np.max(np.abs(special.erf(u)) - 2 * np.abs(u) / np.sqrt(np.pi))),
            "root_excess": float(np.max(np.abs(1 / np.sqrt(1 + positive) - 1) - positive)),
            "second_derivative": ("u", second)},
        {"u": u})
