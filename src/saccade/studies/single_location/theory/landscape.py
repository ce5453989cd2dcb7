"""The risk near its two distinguished points: the origin (a saddle) and the oracle (k*, v*).

The paper proves what happens on the manifold; the transverse directions are our addition. They
tell why a temperature schedule is needed, and below which critical value the oracle is a minimum.
"""

from collections import namedtuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.special import ndtr, ndtri

from saccade import gaussian
from saccade.arrays import Array, namespace
from saccade.errors import require

from .overlaps import Number, Overlaps, Scalars, Setting, as_arrays, check_setting
from .risk import constants, risk

GrowthRates = namedtuple("GrowthRates", "on_manifold transverse")
"""How fast each unstable direction of the origin grows under gradient flow: the (kappa, nu) mode,
which leads to the oracle, and the (theta, eta) mode, which leads to the swapped state."""


def _origin_curvatures(setting: Setting) -> tuple[Scalars, Scalars, Scalars]:
    """d^2R/d kappa^2, d^2R/d theta^2 and h = -d^2R/(d kappa d nu) = -d^2R/(d theta d eta); the
    curvatures in nu and in eta are 0."""
    shared, gamma_squared = constants(setting), as_arrays(setting).gamma ** 2
    along_kappa = gamma_squared * shared.per_kappa**2 * gaussian.zeta_curvature(0.0, shared.spread)
    along_theta = 2 * shared.shift**2 * gaussian.zeta(0.0, shared.spread)
    coupling = 2 * gamma_squared * shared.per_kappa * gaussian.expect_erf_prime(0.0, shared.spread)
    return along_kappa, along_theta, coupling


def _unstable_rate(curvature: Number, coupling: Number) -> Scalars:
    """Minus the negative eigenvalue of [[curvature, -coupling], [-coupling, 0]]."""
    hypotenuse = namespace(curvature, coupling).hypot(curvature, 2 * coupling)
    return 2 * coupling**2 / (curvature + hypotenuse)


def origin_hessian(setting: Setting) -> Float[Array, "*batch 2 2"]:
    """Hessian of the manifold risk at kappa = nu = 0, order (kappa, nu). Exact.

    [[8 gamma^2 b^2/(pi sqrt q), -h], [-h, 0]] with h = 4 gamma^2 b/sqrt(pi), b = lambda
    sqrt(d/2)/sqrt(1+2 lambda^2 gamma^2), q = 1 + 4 lambda^2 gamma^2. Length and noise do not enter.
    """
    curvature, _, coupling = _origin_curvatures(setting)
    xp = namespace(curvature)
    rows = [[curvature, -coupling], [-coupling, xp.zeros_like(curvature)]]
    return xp.stack([xp.stack(row, axis=-1) for row in rows], axis=-2)


def origin_jacobian_eigenvalues(setting: Setting, step_size: Number) -> Float[Array, "*batch 2"]:
    """Eigenvalues, ascending, of the two-overlap map at the origin, I - step_size Hessian. Exact.

    For a small step one lies in (0, 1) and one above 1: a saddle (Proposition 12).
    """
    curvature, _, coupling = _origin_curvatures(setting)
    growth = _unstable_rate(curvature, coupling)
    xp = namespace(growth, step_size)
    return xp.stack([1 - step_size * (growth + curvature), 1 + step_size * growth], axis=-1)


def growth_rates(setting: Setting) -> GrowthRates:
    """Rates at which the two unstable directions of the origin grow and compete. Exact.

    Each is minus the negative eigenvalue of [[c, -h], [-h, 0]], with c = 8 gamma^2 b^2/(pi sqrt q)
    for (kappa, nu) and c = d zeta(0, lambda^2 gamma^2) for (theta, eta). They coincide as lambda ->
    0; the manifold wins as lambda grows.
    """
    along_kappa, along_theta, coupling = _origin_curvatures(setting)
    return GrowthRates(_unstable_rate(along_kappa, coupling), _unstable_rate(along_theta, coupling))


def mode_projections(overlaps: Overlaps, setting: Setting) -> tuple[Scalars, Scalars]:
    """Components of a state along the unstable modes, (kappa, nu) and (theta, eta). Exact near 0.

    The unstable direction of [[c, -h], [-h, 0]] with growth rate r is (r, h). Whichever component
    starts larger tends to win; that it tells the outcome is a heuristic.
    """
    along_kappa, along_theta, coupling = _origin_curvatures(setting)
    kappa, nu, theta, eta, _ = as_arrays(overlaps)
    on, across = (_unstable_rate(curvature, coupling) for curvature in (along_kappa, along_theta))
    hypot = namespace(coupling).hypot
    on_manifold = (on * kappa + coupling * nu) / hypot(on, coupling)
    return on_manifold, (across * theta + coupling * eta) / hypot(across, coupling)


def race_fraction(setting: Setting) -> float:
    """The share of uniform starts that swap if the mode that first grows to order one wins. Status:
    heuristic.

    A mode that starts at a is there after log(1/a)/r. Projections of uniform starts are about
    N(0, 1/d), so with x the ratio of the two rates, manifold over transverse, the share is
    P(|z| < d^((1-x)/2) |z'|^x) for standard normals z, z'. One half as lambda -> 0; no free number.
    """
    rates = growth_rates(setting)
    ratio = float(rates.on_manifold) / float(rates.transverse)
    handicap = float(setting.dim) ** ((1 - ratio) / 2)
    points = (np.arange(4000) + 0.5) / 4000
    other = ndtri((1 + points) / 2)
    return float(np.mean(2 * ndtr(handicap * other**ratio) - 1))


def critical_inverse_temperature(dim: Number, length: Number, gamma: Number = 2**-0.5) -> float:
    """lambda_c: the oracle is a strict local minimum iff lambda < lambda_c. Asymptotic.

    Root of 2/sqrt(1+4 lambda^2) + L-2 = (L-1)/(1+2 gamma^2/d); the neglected terms are of the order
    of exp(-lambda^2 d/(2 + 4 lambda^2 gamma^2)). Infinite if it is one at every lambda.
    """
    check_setting(Setting(dim, length, 1.0, gamma))
    require(length >= 2, "length", length, "must be at least 2: one token needs no looking")
    room = 1 - (float(length) - 1) / (1 + float(dim) / 2 / float(gamma) / float(gamma))
    if room <= 0:
        return float("inf")
    return float(np.sqrt((2 / room - 1) * (2 / room + 1)) / 2)


OracleHessian = namedtuple("OracleHessian", "inside outside")
"""Eigenvalues, ascending, of the Riemannian Hessian of the risk on the two spheres at (k*, v*):
`inside` moves k towards v* and v towards k*; `outside` moves both towards one direction orthogonal
to k* and v*, and repeats d-2 times.

Along k the outside ones fade to 0 like exp(-lambda^2 d/(1 + 4 lambda^2 gamma^2)) when erf
saturates, where rounding leaves only their order of smallness.
"""


def _risk_inside(angles: Float[Array, " 2"], setting: Setting) -> Scalars:
    """Risk after turning k towards v* and v towards k*."""
    (kappa, nu), (eta, theta) = jnp.cos(angles), jnp.sin(angles)
    return risk(Overlaps(kappa, nu, theta, eta, kappa * theta + eta * nu), setting)


def _risk_outside(angles: Float[Array, " 2"], setting: Setting) -> Scalars:
    """Risk after turning k and v towards one direction orthogonal to k* and v*."""
    (kappa, nu), (k_outside, v_outside) = jnp.cos(angles), jnp.sin(angles)
    return risk(Overlaps(kappa, nu, 0.0, 0.0, k_outside * v_outside), setting)


def _eigenvalues_2x2(matrix: Float[Array, "2 2"]) -> Float[Array, " 2"]:
    """Ascending, the smaller as determinant / larger: entries of size d must not drown it."""
    (first, off), (_, last) = matrix
    middle, radius = (first + last) / 2, jnp.hypot((first - last) / 2, off)
    dominant = middle + jnp.where(middle < 0, -1.0, 1.0) * radius
    safe = jnp.where(dominant == 0, 1.0, dominant)
    return jnp.sort(jnp.stack([(first * last - off**2) / safe, dominant]))


def oracle_transverse_hessian(setting: Setting) -> OracleHessian:
    """Second derivatives of the risk at (k*, v*) along the spheres, by autodiff of the exact risk:
    independent of `critical_inverse_temperature`. At a critical point any retraction will do."""
    return _oracle_hessian(as_arrays(setting))


@jax.jit
def _oracle_hessian(setting: Setting) -> OracleHessian:
    inside, outside = (
        _eigenvalues_2x2(jax.hessian(turned)(jnp.zeros(2), setting))
        for turned in (_risk_inside, _risk_outside))
    return OracleHessian(inside, outside)
