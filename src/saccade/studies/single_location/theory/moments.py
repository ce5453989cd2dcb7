"""What one token contributes: the constants of a setting and the derivatives of M and Z that the
risk is made of.

For the informative token lambda X.k = t + G, with t = lambda sqrt(d/2) kappa and G ~ N(0, lambda^2
gamma^2). Then M(t) = E[erf(t+G)] and Z(t) = E[erf(t+G)^2] (the paper's zeta). By Stein's lemma
every correlation between X.k and X.v costs one more derivative of M or Z. Status: exact.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from saccade import gaussian
from saccade.studies.single_location.theory.overlaps import Number, Setting

Scalars = Float[Array, "..."]


class Constants(NamedTuple):
    """Numbers of the setting that every formula shares."""

    shift: Scalars
    """m = sqrt(d/2), the mean of the informative token along k*"""
    slope: Scalars
    """lambda m = dt/d kappa"""
    spread: Scalars
    """lambda^2 gamma^2, the variance of lambda X.k for the informative token"""
    gain: Scalars
    """lambda gamma^2, the covariance of lambda X.k and X.v for the informative token, per unit of
    rho"""
    others_mean: Scalars
    """C = lambda E[erf'(lambda N(0,1))]: an uninformative token adds C rho to the prediction on
    average"""
    others_square: Scalars
    """zeta(0, lambda^2): the square an uninformative token adds when rho = 0"""
    others_curvature: Scalars
    """lambda^2 zeta''(0, lambda^2): what it adds more, per unit of rho^2"""


class TokenMoments(NamedTuple):
    """M, M', M'', M''' and Z, Z', Z'', Z''' at t = lambda m kappa."""

    mean: Scalars
    mean_1: Scalars
    mean_2: Scalars
    mean_3: Scalars
    square: Scalars
    square_1: Scalars
    square_2: Scalars
    square_3: Scalars


def constants(setting: Setting) -> Constants:
    """The shared numbers of a setting."""
    dim, _, lam, gamma, _ = (jnp.asarray(value, float) for value in setting)
    shift = jnp.sqrt(dim / 2)
    return Constants(
        shift=shift, slope=lam * shift, spread=(lam * gamma) ** 2, gain=lam * gamma**2,
        others_mean=lam * gaussian.expect_erf_prime(0.0, lam**2),
        others_square=gaussian.zeta(0.0, lam**2),
        others_curvature=lam**2 * gaussian.zeta_curvature(0.0, lam**2))


def token_moments(kappa: Number, shared: Constants) -> TokenMoments:
    """The eight derivatives at one kappa (Lemma 18 and its consequences)."""
    at = (shared.slope * kappa, shared.spread)
    return TokenMoments(*gaussian.expect_erf_derivatives(*at), *gaussian.zeta_derivatives(*at))
