"""The position-only model (W11 frozen at 0): population loss and forces in the two numbers alpha
and A. Status: quadrature (1-D, to ~1e-13).

Attention on the relevant group is s = 1 / (1 + (D-1) e^{-A}) for every query. With u = |N(0,
sigma^2)|, m ~ N(0, sigma^2 / (D-1)) (the mean of the other groups' signals) and y = +1 without loss
of generality, f = alpha D w with w = s u + (1-s) m.

Before the sign is fixed, w is Gaussian with variance sigma_w^2 = sigma^2 (s^2 + (1-s)^2 / (D-1))
and correlates with the teacher by rho = s sigma / sigma_w. Since log(1 + e^{-yf}) = log(1 +
e^{-|f|}) + |f| 1{yf < 0}, and E[|w| 1{w < 0}] = sigma_w (1-rho) / sqrt(2 pi), the two-dimensional
expectation collapses exactly to one-dimensional ones (beta = alpha D sigma_w):

    L              = loss(beta) + beta (1-rho) / sqrt(2 pi)
    -dL/dalpha     = D sigma_w [slope(beta) - (1-rho) / sqrt(2 pi)]
    h := E[sigmoid(-f)(u-m)]
                   = (sigma^2/sigma_w) {(s - (1-s)/(D-1)) [slope(beta) - (1-rho)/sqrt(2 pi)]
                                        + sqrt((1-rho^2) / (2 pi (D-1)))}
    -dL/dA         = alpha D s (1-s) h

(the conditional mean of u given w is that of a truncated Gaussian; the Mills-ratio part meets
sigmoid(-x) + sigmoid(x) = 1 and is closed). Nothing cancels as s -> 1 or s -> 0: 1-s and 1-rho are
computed from their own formulas.

Both rest on two functions of a half-normal margin. For x standard normal,
    loss(beta)  = E[log(1 + exp(-beta |x|))],
    slope(beta) = -loss'(beta) = E[|x| sigmoid(-beta |x|)].
Status: quadrature, one panel of Gauss-Legendre on [0, min(9, 40 / beta)]. The integrand is smooth
there: the Gaussian is below 1e-18 beyond 9, the sigmoid below 5e-18 beyond 40 / beta, and its
nearest pole keeps the relative error of 64 nodes near 1e-13. Negative beta by reflection:
    loss(-beta) = loss(beta) + beta sqrt(2/pi),    slope(-beta) = sqrt(2/pi) - slope(beta).
For large beta loss ~ KAPPA / beta and slope ~ KAPPA / beta^2, with KAPPA = sqrt(2/pi) pi^2 / 12.
"""

import math
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from saccade.errors import require
from saccade.studies.group_sparse.task import check_groups, check_positive

NODES = 64
MEAN_ABSOLUTE = math.sqrt(2 / math.pi)
KAPPA = MEAN_ABSOLUTE * math.pi**2 / 12


def _nodes(magnitude: Float[Array, ""], nodes: int):
    """Gauss-Legendre nodes where it matters; weights include the half-normal density."""
    points, weights = np.polynomial.legendre.leggauss(nodes)
    # Where to cut is a choice, not a dependence: derivatives must not see it.
    end = jax.lax.stop_gradient(jnp.minimum(9.0, 40.0 / jnp.maximum(magnitude, 1.0)))
    x = end * jnp.asarray((points + 1) / 2)
    density = MEAN_ABSOLUTE * jnp.exp(-(x**2) / 2)
    return x, end * jnp.asarray(weights / 2) * density


@partial(jax.jit, static_argnames=("nodes",))
def half_normal_slope(beta: Float[Array, ""], nodes: int = NODES) -> Float[Array, ""]:
    """E[|x| sigmoid(-beta |x|)], for beta of either sign."""
    magnitude = jnp.abs(beta)
    x, weights = _nodes(magnitude, nodes)
    slope = jnp.sum(weights * x * jax.nn.sigmoid(-magnitude * x))
    return jnp.where(beta < 0, MEAN_ABSOLUTE - slope, slope)


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def half_normal_loss(beta: Float[Array, ""], nodes: int = NODES) -> Float[Array, ""]:
    """E[log(1 + exp(-beta |x|))], for beta of either sign."""
    magnitude = jnp.abs(beta)
    x, weights = _nodes(magnitude, nodes)
    loss = jnp.sum(weights * jax.nn.softplus(-magnitude * x))
    return jnp.where(beta < 0, loss + magnitude * MEAN_ABSOLUTE, loss)


@half_normal_loss.defjvp
def _half_normal_loss_derivative(nodes, primals, tangents):
    """loss' = -slope; written down because |beta|, unlike the loss, has none at 0."""
    (beta,), (change,) = primals, tangents
    return half_normal_loss(beta, nodes), -half_normal_slope(beta, nodes) * change


def quadrature_accuracy(beta: float, nodes: int = NODES) -> float:
    """The quadrature error, by the larger relative change when the nodes are doubled."""
    return float(_doubling_change(float(beta), nodes))


@partial(jax.jit, static_argnames=("nodes",))
def _doubling_change(beta: Float[Array, ""], nodes: int) -> Float[Array, ""]:
    pairs = [(f(beta, nodes), f(beta, 2 * nodes)) for f in (half_normal_slope, half_normal_loss)]
    return jnp.max(jnp.stack([jnp.abs(coarse - fine) / jnp.abs(fine) for coarse, fine in pairs]))


@partial(jax.jit, static_argnames=("nodes",))
def half_normal_curvature(beta: Float[Array, ""], nodes: int = NODES) -> Float[Array, ""]:
    """E[sigmoid'(beta |x|)], even in beta: 1/4 at 0, about 1 / (sqrt(2 pi) beta) for large."""
    magnitude = jnp.abs(beta)
    x, weights = _nodes(magnitude, nodes)
    probability = jax.nn.sigmoid(-magnitude * x)
    return jnp.sum(weights * probability * (1 - probability))


class Mixture(NamedTuple):
    """What attention makes of the signals: s, 1-s, sigma_w, 1-rho, sqrt(1-rho^2)."""

    attention: Float[Array, ""]
    one_minus_attention: Float[Array, ""]
    spread: Float[Array, ""]
    one_minus_correlation: Float[Array, ""]
    orthogonal: Float[Array, ""]


class Forces(NamedTuple):
    """-dL/dalpha, h = E[sigmoid(-f)(u - m)], and -dL/dA = alpha D s (1-s) h."""

    alpha_force: Float[Array, ""]
    attention_force: Float[Array, ""]
    gap_force: Float[Array, ""]


class PositionLoss(NamedTuple):
    """The answer at one state; `accuracy` is the relative error seen by doubling the nodes."""

    loss: float
    alpha_force: float
    attention_force: float
    gap_force: float
    attention: float
    one_minus_attention: float
    accuracy: float


def attention_from_gap(
    gap: Float[Array, ""], groups: int
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """(s, 1-s) from A, each without cancellation: sigmoid of +-(A - log(D-1))."""
    logit = gap - jnp.log(groups - 1.0)
    return jax.nn.sigmoid(logit), jax.nn.sigmoid(-logit)


def mixture(gap: Float[Array, ""], groups: int, scale: Float[Array, ""]) -> Mixture:
    """The Gaussian geometry of w = s u + (1-s) m."""
    s, rest = attention_from_gap(gap, groups)
    others = rest / jnp.sqrt(groups - 1.0)
    length = jnp.hypot(s, others)
    # 1 - s/length = others^2 / (length (length + s)), which keeps its digits as s -> 1.
    one_minus_correlation = others**2 / (length * (length + s))
    return Mixture(s, rest, scale * length, one_minus_correlation, others / length)


def population_loss(
    alpha: Float[Array, ""], gap: Float[Array, ""], groups: int, scale: Float[Array, ""]
) -> Float[Array, ""]:
    """L(alpha, A), traceable."""
    mixed = mixture(gap, groups, scale)
    beta = alpha * groups * mixed.spread
    return half_normal_loss(beta) + beta * mixed.one_minus_correlation / jnp.sqrt(2 * jnp.pi)


def population_forces(
    alpha: Float[Array, ""], gap: Float[Array, ""], groups: int, scale: Float[Array, ""]
) -> Forces:
    """The three forces at (alpha, A), traceable."""
    mixed = mixture(gap, groups, scale)
    s, rest = mixed.attention, mixed.one_minus_attention
    pull = half_normal_slope(
        alpha * groups * mixed.spread) - mixed.one_minus_correlation / jnp.sqrt(2 * jnp.pi)
    along = (s - rest / (groups - 1)) * pull
    across = mixed.orthogonal / jnp.sqrt(2 * jnp.pi * (groups - 1))
    attention_force = scale**2 / mixed.spread * (along + across)
    return Forces(
        groups * mixed.spread * pull, attention_force, alpha * groups * s * rest * attention_force)


@jax.jit
def _everything(alpha, gap, groups, scale):
    state = alpha, gap, groups, scale
    return population_loss(*state), population_forces(*state), mixture(gap, groups, scale)


def position_loss(groups: int, alpha: float, gap: float, scale: float = 1.0) -> PositionLoss:
    """Loss, forces and attention at alpha and A = `gap`, with D groups, sigma_x = `scale`."""
    groups, scale = check_groups(groups), check_positive(scale, "scale")
    for name, value in (("alpha", alpha), ("gap", gap)):
        require(bool(jnp.isfinite(value)), name, value, "must be a finite number")
    loss, forces, mixed = _everything(float(alpha), float(gap), float(groups), scale)
    accuracy = quadrature_accuracy(float(alpha) * groups * float(mixed.spread))
    return PositionLoss._make([*map(float, (loss, *forces, *mixed[:2])), accuracy])
