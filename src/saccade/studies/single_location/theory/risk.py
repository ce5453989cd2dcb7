"""The exact risk E[(Y - sum_l erf(lambda X_l.k) X_l.v)^2] of the erf predictor and its slopes in
the five overlaps.

Proposition 15 of Marion et al. (2025), rearranged: the risk is a polynomial in the overlaps whose
coefficients are M, M', M'', Z, Z', Z'' (see `moments`). Status of every function here: exact.
"""

import jax.numpy as jnp

from saccade.studies.single_location.theory.moments import (
    Constants,
    Scalars,
    TokenMoments,
    constants,
    token_moments,
)
from saccade.studies.single_location.theory.overlaps import Overlaps, Setting, as_arrays


def risk(overlaps: Overlaps, setting: Setting) -> Scalars:
    """R(kappa, nu, theta, eta, rho) in any state; smooth in every argument, batches broadcast.
    Exact, Proposition 15.

    R = eps^2 + gamma^2 - 2 E[Y T_1] + E[T_1^2] + (L-1) (E[T_2^2] + (L-2) E[T_2]^2 + 2 E[T_1]
    E[T_2]), with T_1 what the informative token contributes to the prediction and T_2 what any
    other token does.
    """
    kappa, nu, theta, eta, rho = as_arrays(overlaps)
    shared = constants(setting)
    token = token_moments(kappa, shared)
    gamma_squared, length = jnp.square(setting.gamma), setting.length
    # X.v of the informative token is its mean `drift`, plus a part that moves with lambda X.k, plus
    # the rest.
    drift, along = shared.shift * theta, shared.gain * rho

    with_target = gamma_squared * nu * token.mean
    with_target += shared.gain * eta * (drift * token.mean_1 + along * token.mean_2)
    informative_square = (drift**2 + gamma_squared) * token.square
    informative_square += 2 * drift * along * token.square_1 + along**2 * token.square_2
    informative_mean = drift * token.mean + along * token.mean_1
    other_mean = shared.others_mean * rho
    other_square = shared.others_square + shared.others_curvature * rho**2
    others = (length - 1) * (
        other_square + (length - 2) * other_mean**2 + 2 * other_mean * informative_mean)
    return jnp.square(setting.noise) + gamma_squared - 2 * with_target + informative_square + others


def risk_gradient(overlaps: Overlaps, setting: Setting) -> Overlaps:
    """Plain partial derivatives of `risk` in each overlap, the other four held. Exact, written by
    hand.

    Off the manifold the slope in theta contains zeta itself, so zeta is part of the dynamics.
    """
    at = as_arrays(overlaps)
    shared = constants(setting)
    token = token_moments(at.kappa, shared)
    return Overlaps(
        kappa=_slope_in_kappa(at, setting, shared, token),
        nu=-2 * jnp.square(setting.gamma) * token.mean,
        theta=_slope_in_theta(at, setting, shared, token), eta=_slope_in_eta(at, shared, token),
        rho=_slope_in_rho(at, setting, shared, token))


def _slope_in_kappa(
    at: Overlaps, setting: Setting, shared: Constants, token: TokenMoments
) -> Scalars:
    """lambda m times the t-derivative: every M and Z of the risk moves up by one order."""
    gamma_squared = jnp.square(setting.gamma)
    drift, along = shared.shift * at.theta, shared.gain * at.rho
    with_target = gamma_squared * at.nu * token.mean_1
    with_target += shared.gain * at.eta * (drift * token.mean_2 + along * token.mean_3)
    informative_square = (drift**2 + gamma_squared) * token.square_1
    informative_square += 2 * drift * along * token.square_2 + along**2 * token.square_3
    informative_mean = drift * token.mean_1 + along * token.mean_2
    others = 2 * (setting.length - 1) * shared.others_mean * at.rho * informative_mean
    return shared.slope * (-2 * with_target + informative_square + others)


def _slope_in_theta(
    at: Overlaps, setting: Setting, shared: Constants, token: TokenMoments
) -> Scalars:
    """2 m (m theta Z - lambda gamma^2 eta M' + lambda gamma^2 rho Z' + (L-1) C rho M)."""
    informative = shared.shift * at.theta * token.square
    informative += shared.gain * (at.rho * token.square_1 - at.eta * token.mean_1)
    others = (setting.length - 1) * shared.others_mean * at.rho * token.mean
    return 2 * shared.shift * (informative + others)


def _slope_in_eta(at: Overlaps, shared: Constants, token: TokenMoments) -> Scalars:
    """-2 lambda gamma^2 (m theta M' + lambda gamma^2 rho M'')."""
    drift, along = shared.shift * at.theta, shared.gain * at.rho
    return -2 * shared.gain * (drift * token.mean_1 + along * token.mean_2)


def _slope_in_rho(
    at: Overlaps, setting: Setting, shared: Constants, token: TokenMoments
) -> Scalars:
    """The informative token's part, and (L-1) times the other tokens' own, mutual and crossed
    parts."""
    drift, along = shared.shift * at.theta, shared.gain * at.rho
    informative = (
        drift * token.square_1 + along * token.square_2 - shared.gain * at.eta * token.mean_2)
    own = shared.others_curvature * at.rho
    mutual = (setting.length - 2) * shared.others_mean**2 * at.rho
    crossed = shared.others_mean * (drift * token.mean + 2 * along * token.mean_1)
    return 2 * shared.gain * informative + 2 * (setting.length - 1) * (own + mutual + crossed)
