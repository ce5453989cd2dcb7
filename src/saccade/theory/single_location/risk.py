"""The exact risk E[(Y - sum_l erf(lambda X_l.k) X_l.v)^2] of the erf predictor, and its derivatives in the five overlaps.

Proposition 15 of Marion et al. (2025), rearranged. Two functions of t = lambda sqrt(d/2) kappa carry everything:
M(t) = E[erf(t+G)] and Z(t) = E[erf(t+G)^2] (the paper's zeta), G ~ N(0, lambda^2 gamma^2). Stein's lemma turns every
correlation between X.k and X.v into one more derivative of M or Z, so the whole risk is a polynomial in the overlaps
whose coefficients are M, M', M'', Z, Z', Z''. Status of every function here: exact.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import erfc
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from saccade.theory import gaussian
from saccade.theory.single_location.overlaps import Overlaps, Setting

Scalars = Float[Array, "..."]


class _Constants(NamedTuple):
    """Numbers of the setting that every formula shares."""

    shift: Scalars
    """m = sqrt(d/2), the mean of the informative token along k*"""
    slope: Scalars
    """lambda m = dt/d kappa"""
    spread: Scalars
    """lambda^2 gamma^2, the variance of lambda X.k for the informative token"""
    gain: Scalars
    """lambda gamma^2, the covariance of X.v and lambda X.k for the informative token, per unit of rho"""
    others_mean: Scalars
    """C = lambda E[erf'(lambda N(0,1))]: an uninformative token predicts C rho on average"""


def _constants(setting: Setting) -> _Constants:
    dim, _, lam, gamma, _ = (jnp.asarray(value, float) for value in setting)
    shift = jnp.sqrt(dim / 2)
    return _Constants(
        shift, lam * shift, (lam * gamma) ** 2, lam * gamma**2, lam * gaussian.expect_erf_prime(0.0, lam**2)
    )


def _token_mean_derivatives(kappa: ArrayLike, constants: _Constants) -> tuple[Scalars, ...]:
    """M, M', M'', M''' at t = lambda m kappa."""
    at = (constants.slope * kappa, constants.spread)
    expectations = (
        gaussian.expect_erf,
        gaussian.expect_erf_prime,
        gaussian.expect_erf_second,
        gaussian.expect_erf_third,
    )
    return tuple(expectation(*at) for expectation in expectations)


def _token_square_derivatives(kappa: ArrayLike, constants: _Constants) -> tuple[Scalars, ...]:
    """Z, Z', Z'', Z''' at t = lambda m kappa."""
    at = (constants.slope * kappa, constants.spread)
    derivatives = (gaussian.zeta, gaussian.zeta_slope, gaussian.zeta_curvature, gaussian.zeta_third)
    return tuple(derivative(*at) for derivative in derivatives)


def _others_square(lam: ArrayLike, rho: ArrayLike) -> Scalars:
    """E[(X.v erf(lambda X.k))^2] for one uninformative token: zeta(0, lambda^2) + lambda^2 rho^2 zeta''(0, lambda^2)."""
    variance = jnp.square(lam)
    return gaussian.zeta(0.0, variance) + variance * jnp.square(rho) * gaussian.zeta_curvature(0.0, variance)


def risk(overlaps: Overlaps, setting: Setting) -> Scalars:
    """R(kappa, nu, theta, eta, rho), any state. Exact (Proposition 15); smooth in every argument, batches broadcast.

    R = eps^2 + gamma^2 - 2 E[Y T_1] + E[T_1^2] + (L-1) E[T_2^2] + (L-1)(L-2) E[T_2]^2 + 2 (L-1) E[T_1] E[T_2], with T_1
    the contribution of the informative token to the prediction and T_2 that of any other one.
    """
    kappa, nu, theta, eta, rho = (jnp.asarray(value, float) for value in overlaps)
    _, length, lam, gamma, noise = (jnp.asarray(value, float) for value in setting)
    constants = _constants(setting)
    shift, _, _, gain, others_mean = constants
    mean, mean_1, mean_2, _ = _token_mean_derivatives(kappa, constants)
    square, square_1, square_2, _ = _token_square_derivatives(kappa, constants)

    with_target = gamma**2 * nu * mean + gain * eta * (shift * theta * mean_1 + gain * rho * mean_2)
    informative_square = (
        ((shift * theta) ** 2 + gamma**2) * square
        + 2 * gain * rho * shift * theta * square_1
        + (gain * rho) ** 2 * square_2
    )
    informative_mean = shift * theta * mean + gain * rho * mean_1
    other_mean = others_mean * rho
    others = (length - 1) * (
        _others_square(lam, rho) + (length - 2) * other_mean**2 + 2 * other_mean * informative_mean
    )
    return noise**2 + gamma**2 - 2 * with_target + informative_square + others


def risk_gradient(overlaps: Overlaps, setting: Setting) -> Overlaps:
    """Plain partial derivatives of `risk` in each overlap (the other four held). Exact, written by hand.

    Off the manifold the derivative in theta contains zeta itself, so zeta is part of the dynamics.
    """
    return Overlaps(
        kappa=_slope_in_kappa(overlaps, setting),
        nu=_slope_in_nu(overlaps, setting),
        theta=_slope_in_theta(overlaps, setting),
        eta=_slope_in_eta(overlaps, setting),
        rho=_slope_in_rho(overlaps, setting),
    )


def _slope_in_kappa(overlaps: Overlaps, setting: Setting) -> Scalars:
    kappa, nu, theta, eta, rho = (jnp.asarray(value, float) for value in overlaps)
    constants = _constants(setting)
    shift, slope, _, gain, others_mean = constants
    _, mean_1, mean_2, mean_3 = _token_mean_derivatives(kappa, constants)
    _, square_1, square_2, square_3 = _token_square_derivatives(kappa, constants)
    gamma_squared = jnp.square(setting.gamma)

    with_target = gamma_squared * nu * mean_1 + gain * eta * (shift * theta * mean_2 + gain * rho * mean_3)
    informative_square = (
        ((shift * theta) ** 2 + gamma_squared) * square_1
        + 2 * gain * rho * shift * theta * square_2
        + (gain * rho) ** 2 * square_3
    )
    informative_mean = shift * theta * mean_1 + gain * rho * mean_2
    others = 2 * (setting.length - 1) * others_mean * rho * informative_mean
    return slope * (-2 * with_target + informative_square + others)


def _slope_in_nu(overlaps: Overlaps, setting: Setting) -> Scalars:
    constants = _constants(setting)
    return -2 * jnp.square(setting.gamma) * gaussian.expect_erf(constants.slope * overlaps.kappa, constants.spread)


def _slope_in_theta(overlaps: Overlaps, setting: Setting) -> Scalars:
    kappa, _, theta, eta, rho = (jnp.asarray(value, float) for value in overlaps)
    constants = _constants(setting)
    shift, _, _, gain, others_mean = constants
    mean, mean_1, *_ = _token_mean_derivatives(kappa, constants)
    square, square_1, *_ = _token_square_derivatives(kappa, constants)
    others = (setting.length - 1) * others_mean * rho * mean
    return 2 * shift * (-gain * eta * mean_1 + shift * theta * square + gain * rho * square_1 + others)


def _slope_in_eta(overlaps: Overlaps, setting: Setting) -> Scalars:
    kappa, _, theta, _, rho = (jnp.asarray(value, float) for value in overlaps)
    constants = _constants(setting)
    shift, _, _, gain, _ = constants
    _, mean_1, mean_2, _ = _token_mean_derivatives(kappa, constants)
    return -2 * gain * (shift * theta * mean_1 + gain * rho * mean_2)


def _slope_in_rho(overlaps: Overlaps, setting: Setting) -> Scalars:
    kappa, _, theta, eta, rho = (jnp.asarray(value, float) for value in overlaps)
    constants = _constants(setting)
    shift, _, _, gain, others_mean = constants
    mean, mean_1, mean_2, _ = _token_mean_derivatives(kappa, constants)
    _, square_1, square_2, _ = _token_square_derivatives(kappa, constants)
    length, variance = jnp.asarray(setting.length, float), jnp.square(setting.inverse_temperature)

    informative = -gain * eta * mean_2 + shift * theta * square_1 + gain * rho * square_2
    cross = others_mean * (shift * theta * mean + 2 * gain * rho * mean_1)
    other_square = variance * rho * gaussian.zeta_curvature(0.0, variance)
    other_means = (length - 2) * others_mean**2 * rho
    return 2 * gain * informative + 2 * (length - 1) * (other_square + other_means + cross)


def manifold_risk(kappa: ArrayLike, nu: ArrayLike, setting: Setting) -> Scalars:
    """Risk on the invariant manifold theta = eta = rho = 0. Exact (Lemma 6).

    R = eps^2 + gamma^2 (1 - 2 nu M + Z) + (L-1) zeta(0, lambda^2).
    """
    return spread_manifold_risk(kappa, nu, setting, informative=1)


def manifold_gradient(kappa: ArrayLike, nu: ArrayLike, setting: Setting) -> tuple[Scalars, Scalars]:
    """(dR/d kappa, dR/d nu) on the manifold. Exact (Lemma 6).

    dR/d kappa = -2 gamma^2 b erf'(b kappa) (nu - erf(b kappa/sqrt(1+4 lambda^2 gamma^2))), dR/d nu = -2 gamma^2 erf(b kappa),
    b = lambda sqrt(d/2)/sqrt(1 + 2 lambda^2 gamma^2).
    """
    constants = _constants(setting)
    at = (constants.slope * kappa, constants.spread)
    gamma_squared = jnp.square(setting.gamma)
    width = jnp.sqrt((1 + 2 * constants.spread) * (1 + 4 * constants.spread))
    optimal_nu = gaussian.expect_erf(at[0] / width, 0.0)
    in_kappa = -2 * gamma_squared * constants.slope * gaussian.expect_erf_prime(*at) * (nu - optimal_nu)
    return in_kappa, -2 * gamma_squared * gaussian.expect_erf(*at)


def spread_manifold_risk(kappa: ArrayLike, nu: ArrayLike, setting: Setting, informative: ArrayLike = 1) -> Scalars:
    """Risk on the manifold when `informative` (m) tokens carry the answer, Y = m^-1/2 sum_{j in J} X_j.v* + noise. Exact.

    Extension of the paper's m = 1: R = eps^2 + gamma^2 (1 - 2 sqrt(m) nu M + m Z) + (L-m) zeta(0, lambda^2).
    """
    constants = _constants(setting)
    at = (constants.slope * kappa, constants.spread)
    count = jnp.asarray(informative, float)
    amplitude = 1 - 2 * jnp.sqrt(count) * nu * gaussian.expect_erf(*at) + count * gaussian.zeta(*at)
    others = (setting.length - count) * gaussian.zeta(0.0, jnp.square(setting.inverse_temperature))
    return jnp.square(setting.noise) + jnp.square(setting.gamma) * amplitude + others


def oracle_excess_risk(setting: Setting) -> Scalars:
    """Risk at (k, v) = (k*, v*) minus eps^2: gamma^2 E[(1 - erf(t+G))^2] + (L-1) zeta(0, lambda^2). Exact (Theorem 1).

    The first expectation is 2 erfc(x) - 8 T(h, a), T of Owen: written with tails, so nothing is lost when erf rounds to 1.
    """
    constants = _constants(setting)
    x = constants.slope / jnp.sqrt(1 + 2 * constants.spread)
    missed = 2 * erfc(x) - 8 * gaussian.owens_t(np.sqrt(2) * x, 1 / jnp.sqrt(1 + 4 * constants.spread))
    others = (setting.length - 1) * gaussian.zeta(0.0, jnp.square(setting.inverse_temperature))
    return jnp.square(setting.gamma) * jnp.maximum(missed, 0.0) + others


def oracle_risk(setting: Setting) -> Scalars:
    """Risk of the erf predictor at (k, v) = (k*, v*). Exact (Theorem 1)."""
    return jnp.square(setting.noise) + oracle_excess_risk(setting)
