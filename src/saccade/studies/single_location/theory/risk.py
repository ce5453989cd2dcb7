"""The exact risk E[(Y - sum_l erf(lambda X_l.k) X_l.v)^2] of the erf predictor, and its gradient.

Proposition 15 of Marion et al. (2025), rearranged: the risk is a polynomial in the overlaps whose
coefficients are derivatives of two functions. For the informative token lambda X.k = t + G, with
t = lambda sqrt(d/2) kappa and G ~ N(0, lambda^2 gamma^2); then M(t) = E[erf(t+G)] and Z(t) =
E[erf(t+G)^2] (the paper's zeta). By Stein's lemma every correlation between X.k and X.v costs one
more derivative of M or Z. On the invariant manifold k.v* = v.k* = k.v = 0, at the oracle, and with
several informative tokens (ours) little of it is left: Lemma 6 and Theorem 1. Status of every
function here: exact.
"""

from collections import namedtuple

from saccade import gaussian
from saccade.arrays import floats, namespace, special

from .overlaps import Number, Overlaps, Scalars, Setting, as_arrays

# Numbers of the setting that every formula shares. Of the informative token: `shift` is m =
# sqrt(d/2), its mean along k*; `per_kappa` is lambda m = dt/d kappa; `spread` is lambda^2 gamma^2,
# the variance of lambda X.k; `gain` is lambda gamma^2, the covariance of lambda X.k and X.v per
# unit of rho. An uninformative one adds C rho to the prediction on average, C = `others_mean` =
# lambda E[erf'(lambda N(0,1))], and `others_square` + `others_curvature` rho^2 to its square,
# zeta(0, lambda^2) and lambda^2 zeta''(0, lambda^2).
Constants = namedtuple(
    "Constants", "shift per_kappa spread gain others_mean others_square others_curvature")
# M and Z and their first three derivatives at t = lambda m kappa.
TokenMoments = namedtuple(
    "TokenMoments", "mean mean_1 mean_2 mean_3 square square_1 square_2 square_3")


def constants(setting: Setting) -> Constants:
    """The shared numbers of a setting."""
    dim, _, lam, gamma, _ = as_arrays(setting)
    shift = namespace(dim).sqrt(dim / 2)
    return Constants(
        shift=shift, per_kappa=lam * shift, spread=(lam * gamma) ** 2, gain=lam * gamma**2,
        others_mean=lam * gaussian.expect_erf_prime(0.0, lam**2),
        others_square=gaussian.zeta(0.0, lam**2),
        others_curvature=lam**2 * gaussian.zeta_curvature(0.0, lam**2))


def token_moments(kappa: Number, shared: Constants) -> TokenMoments:
    """The eight derivatives at one kappa (Lemma 18 and its consequences)."""
    at = (shared.per_kappa * kappa, shared.spread)
    return TokenMoments(*gaussian.expect_erf_derivatives(*at), *gaussian.zeta_derivatives(*at))


# What single tokens contribute to the prediction in a state: means and mean squares of T_1 and T_2,
# and E[(X.v* - its mean) T_1] of the informative one.
TokenParts = namedtuple(
    "TokenParts", "informative informative_square with_target other other_square")


def token_parts(overlaps: Overlaps, setting: Setting) -> TokenParts:
    """By Stein's lemma, from the derivatives of M and Z. Exact, whether or not k* and v* are
    orthogonal."""
    (kappa, nu, theta, eta, rho), setting = as_arrays(overlaps), as_arrays(setting)
    shared = constants(setting)
    token, gamma_squared = token_moments(kappa, shared), setting.gamma**2
    # X.v of the informative token: its mean `drift`, a part that moves with lambda X.k, the rest.
    drift, along = shared.shift * theta, shared.gain * rho
    square = (drift**2 + gamma_squared) * token.square
    square += 2 * drift * along * token.square_1 + along**2 * token.square_2
    with_target = gamma_squared * nu * token.mean
    with_target += shared.gain * eta * (drift * token.mean_1 + along * token.mean_2)
    return TokenParts(
        drift * token.mean + along * token.mean_1, square, with_target, shared.others_mean * rho,
        shared.others_square + shared.others_curvature * rho**2)


def risk(overlaps: Overlaps, setting: Setting) -> Scalars:
    """R(kappa, nu, theta, eta, rho) in any state; batches broadcast. Exact, Proposition 15.

    R = eps^2 + gamma^2 - 2 E[Y T_1] + E[T_1^2] + (L-1) (E[T_2^2] + (L-2) E[T_2]^2 + 2 E[T_1]
    E[T_2]), T_1 and T_2 what the informative and any other token contribute.
    """
    one, setting = token_parts(overlaps, setting), as_arrays(setting)
    length, crossed = setting.length, 2 * one.other * one.informative
    others = (length - 1) * (one.other_square + (length - 2) * one.other**2 + crossed)
    own = setting.noise**2 + setting.gamma**2 - 2 * one.with_target + one.informative_square
    return own + others


def risk_gradient(overlaps: Overlaps, setting: Setting) -> Overlaps:
    """Plain partial derivatives of `risk` in each overlap, the others held. Exact, by hand.

    Off the manifold the derivative in theta contains zeta itself, so zeta is part of the dynamics.
    """
    at, setting = as_arrays(overlaps), as_arrays(setting)
    shared = constants(setting)
    token = token_moments(at.kappa, shared)
    return Overlaps(
        kappa=_in_kappa(at, setting, shared, token), nu=-2 * setting.gamma**2 * token.mean,
        theta=_in_theta(at, setting, shared, token), eta=_in_eta(at, shared, token),
        rho=_in_rho(at, setting, shared, token))


def _in_kappa(at: Overlaps, setting: Setting, shared: Constants, token: TokenMoments) -> Scalars:
    """lambda m times the t-derivative: every M and Z of the risk moves up by one order."""
    gamma_squared = setting.gamma**2
    drift, along = shared.shift * at.theta, shared.gain * at.rho
    with_target = gamma_squared * at.nu * token.mean_1
    with_target += shared.gain * at.eta * (drift * token.mean_2 + along * token.mean_3)
    informative_square = (drift**2 + gamma_squared) * token.square_1
    informative_square += 2 * drift * along * token.square_2 + along**2 * token.square_3
    informative_mean = drift * token.mean_1 + along * token.mean_2
    others = 2 * (setting.length - 1) * shared.others_mean * at.rho * informative_mean
    return shared.per_kappa * (-2 * with_target + informative_square + others)


def _in_theta(at: Overlaps, setting: Setting, shared: Constants, token: TokenMoments) -> Scalars:
    """2 m (m theta Z - lambda gamma^2 eta M' + lambda gamma^2 rho Z' + (L-1) C rho M)."""
    informative = shared.shift * at.theta * token.square
    informative += shared.gain * (at.rho * token.square_1 - at.eta * token.mean_1)
    others = (setting.length - 1) * shared.others_mean * at.rho * token.mean
    return 2 * shared.shift * (informative + others)


def _in_eta(at: Overlaps, shared: Constants, token: TokenMoments) -> Scalars:
    """-2 lambda gamma^2 (m theta M' + lambda gamma^2 rho M'')."""
    drift, along = shared.shift * at.theta, shared.gain * at.rho
    return -2 * shared.gain * (drift * token.mean_1 + along * token.mean_2)


def _in_rho(at: Overlaps, setting: Setting, shared: Constants, token: TokenMoments) -> Scalars:
    """The informative token's part, and (L-1) times the others' own, mutual and crossed parts."""
    drift, along = shared.shift * at.theta, shared.gain * at.rho
    informative = (
        drift * token.square_1 + along * token.square_2 - shared.gain * at.eta * token.mean_2)
    own = shared.others_curvature * at.rho
    mutual = (setting.length - 2) * shared.others_mean**2 * at.rho
    crossed = shared.others_mean * (drift * token.mean + 2 * along * token.mean_1)
    return 2 * shared.gain * informative + 2 * (setting.length - 1) * (own + mutual + crossed)


def manifold_risk(kappa: Number, nu: Number, setting: Setting) -> Scalars:
    """R = eps^2 + gamma^2 (1 - 2 nu M + Z) + (L-1) zeta(0, lambda^2). Exact, Lemma 6."""
    return spread_manifold_risk(kappa, nu, setting, informative=1)


def manifold_gradient(kappa: Number, nu: Number, setting: Setting) -> tuple[Scalars, Scalars]:
    """(dR/d kappa, dR/d nu) on the manifold. Exact, Lemma 6.

    With b = lambda sqrt(d/2)/sqrt(1 + 2 lambda^2 gamma^2) and q = 1 + 4 lambda^2 gamma^2, they are
    -2 gamma^2 b erf'(b kappa) (nu - erf(b kappa/sqrt(q))) and -2 gamma^2 erf(b kappa).
    """
    setting, (kappa, nu) = as_arrays(setting), floats(kappa, nu)
    shared, xp = constants(setting), namespace(setting.dim)
    gamma_squared = setting.gamma**2
    steepness = shared.per_kappa / xp.sqrt(1 + 2 * shared.spread)
    x = steepness * kappa
    optimal_nu = special(x).erf(x / xp.sqrt(1 + 4 * shared.spread))
    in_kappa = -2 * gamma_squared * steepness * gaussian.erf_derivative(x, 1) * (nu - optimal_nu)
    return in_kappa, -2 * gamma_squared * special(x).erf(x)


def spread_manifold_risk(
    kappa: Number, nu: Number, setting: Setting, informative: Number = 1
) -> Scalars:
    """Manifold risk when m tokens share the answer, Y = m^-1/2 sum_J X_j.v* + noise. Exact.

    Extension of the paper's m = 1: R = eps^2 + gamma^2 (1 - 2 sqrt(m) nu M + m Z) + (L-m) zeta(0,
    lambda^2).
    """
    setting, (kappa, nu, count) = as_arrays(setting), floats(kappa, nu, informative)
    shared = constants(setting)
    at = (shared.per_kappa * kappa, shared.spread)
    weight = namespace(count).sqrt(count)
    target_parts = 1 - 2 * weight * nu * gaussian.expect_erf(*at) + count * gaussian.zeta(*at)
    others = (setting.length - count) * shared.others_square
    return setting.noise**2 + setting.gamma**2 * target_parts + others


def oracle_excess_risk(setting: Setting) -> Scalars:
    """Risk at (k*, v*) less eps^2: gamma^2 E[(1 - erf(t+G))^2] + (L-1) zeta(0, lambda^2). Exact.

    The expectation equals 2 erfc(x) - 8 T(h, a), T of Owen: with tails, nothing is lost once erf
    rounds to 1.
    """
    setting = as_arrays(setting)
    shared, xp = constants(setting), namespace(*setting)
    x = shared.per_kappa / xp.sqrt(1 + 2 * shared.spread)
    narrowed = gaussian.owens_t(2**0.5 * x, 1 / xp.sqrt(1 + 4 * shared.spread))
    missed = 2 * special(x).erfc(x) - 8 * narrowed
    others = (setting.length - 1) * shared.others_square
    return setting.gamma**2 * xp.maximum(missed, 0.0) + others


def oracle_risk(setting: Setting) -> Scalars:
    """Risk of the erf predictor at (k, v) = (k*, v*). Exact, Theorem 1."""
    return as_arrays(setting).noise ** 2 + oracle_excess_risk(setting)
