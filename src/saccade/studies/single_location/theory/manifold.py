"""The risk on the invariant manifold k.v* = v.k* = k.v = 0, at the oracle, and with several
informative tokens.

Lemma 6 and Theorem 1 of Marion et al. (2025); the several-token extension is ours. Status: exact.
"""

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import erf, erfc

from saccade import gaussian

from .overlaps import Number, Scalars, Setting
from .risk import constants


def manifold_risk(kappa: Number, nu: Number, setting: Setting) -> Scalars:
    """R = eps^2 + gamma^2 (1 - 2 nu M + Z) + (L-1) zeta(0, lambda^2). Exact, Lemma 6."""
    return spread_manifold_risk(kappa, nu, setting, informative=1)


def manifold_gradient(kappa: Number, nu: Number, setting: Setting) -> tuple[Scalars, Scalars]:
    """(dR/d kappa, dR/d nu) on the manifold. Exact, Lemma 6.

    With b = lambda sqrt(d/2)/sqrt(1 + 2 lambda^2 gamma^2) and q = 1 + 4 lambda^2 gamma^2, they are
    -2 gamma^2 b erf'(b kappa) (nu - erf(b kappa/sqrt(q))) and -2 gamma^2 erf(b kappa).
    """
    shared = constants(setting)
    gamma_squared = jnp.square(setting.gamma)
    steepness = shared.per_kappa / jnp.sqrt(1 + 2 * shared.spread)
    x = steepness * kappa
    optimal_nu = erf(x / jnp.sqrt(1 + 4 * shared.spread))
    in_kappa = -2 * gamma_squared * steepness * gaussian.erf_derivative(x, 1) * (nu - optimal_nu)
    return in_kappa, -2 * gamma_squared * erf(x)


def spread_manifold_risk(
    kappa: Number, nu: Number, setting: Setting, informative: Number = 1
) -> Scalars:
    """Manifold risk when `informative` (m) tokens share the answer, Y = m^-1/2 sum_{j in J} X_j.v*
    + noise. Exact.

    Extension of the paper's m = 1: R = eps^2 + gamma^2 (1 - 2 sqrt(m) nu M + m Z) + (L-m) zeta(0,
    lambda^2).
    """
    shared = constants(setting)
    at = (shared.per_kappa * kappa, shared.spread)
    count = jnp.asarray(informative, float)
    target_parts = (
        1 - 2 * jnp.sqrt(count) * nu * gaussian.expect_erf(*at) + count * gaussian.zeta(*at))
    others = (setting.length - count) * shared.others_square
    return jnp.square(setting.noise) + jnp.square(setting.gamma) * target_parts + others


def oracle_excess_risk(setting: Setting) -> Scalars:
    """Risk at (k*, v*) minus eps^2: gamma^2 E[(1 - erf(t+G))^2] + (L-1) zeta(0, lambda^2). Exact,
    Theorem 1.

    The expectation equals 2 erfc(x) - 8 T(h, a), T of Owen: with tails, nothing is lost once erf
    rounds to 1.
    """
    shared = constants(setting)
    x = shared.per_kappa / jnp.sqrt(1 + 2 * shared.spread)
    missed = 2 * erfc(x) - 8 * gaussian.owens_t(np.sqrt(2) * x, 1 / jnp.sqrt(1 + 4 * shared.spread))
    others = (setting.length - 1) * shared.others_square
    return jnp.square(setting.gamma) * jnp.maximum(missed, 0.0) + others


def oracle_risk(setting: Setting) -> Scalars:
    """Risk of the erf predictor at (k, v) = (k*, v*). Exact, Theorem 1."""
    return jnp.square(setting.noise) + oracle_excess_risk(setting)
