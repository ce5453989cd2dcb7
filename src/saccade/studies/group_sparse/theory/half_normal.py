"""Two one-dimensional functions that carry the whole position-only theory: the logistic loss of a
half-normal margin, and its slope.

For x standard normal,
    loss(beta)  = E[log(1 + exp(-beta |x|))],      slope(beta) = -loss'(beta) = E[|x| sigmoid(-beta
    |x|)].
Status: quadrature, one panel of Gauss-Legendre on [0, min(9, 40 / beta)]. The integrand is smooth
there: the Gaussian is below 1e-18 beyond 9, the sigmoid below 5e-18 beyond 40 / beta, and its
nearest pole keeps the relative error of 64 nodes near 1e-13. Negative beta by reflection:
    loss(-beta) = loss(beta) + beta sqrt(2/pi),    slope(-beta) = sqrt(2/pi) - slope(beta).
For large beta loss ~ KAPPA / beta and slope ~ KAPPA / beta^2, with KAPPA = sqrt(2/pi) pi^2 / 12.
"""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

NODES = 64
MEAN_ABSOLUTE = math.sqrt(2 / math.pi)
KAPPA = MEAN_ABSOLUTE * math.pi**2 / 12


def _nodes(magnitude: Float[Array, ""], nodes: int):
    """Gauss-Legendre nodes x on the interval that matters, with weights that include the
    half-normal density."""
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
    """loss' = -slope; written down because |beta| has no derivative at 0, while the loss has
    one."""
    (beta,), (change,) = primals, tangents
    return half_normal_loss(beta, nodes), -half_normal_slope(beta, nodes) * change


def quadrature_accuracy(beta: float) -> float:
    """The larger relative change of the two functions when the nodes are doubled: an estimate of
    the quadrature error."""
    return float(_doubling_change(float(beta)))


@jax.jit
def _doubling_change(beta: Float[Array, ""]) -> Float[Array, ""]:
    pairs = [(f(beta, NODES), f(beta, 2 * NODES)) for f in (half_normal_slope, half_normal_loss)]
    return jnp.max(jnp.stack([jnp.abs(coarse - fine) / jnp.abs(fine) for coarse, fine in pairs]))


@partial(jax.jit, static_argnames=("nodes",))
def half_normal_curvature(beta: Float[Array, ""], nodes: int = NODES) -> Float[Array, ""]:
    """E[sigmoid'(beta |x|)], even in beta: 1/4 at beta = 0, about 1 / (sqrt(2 pi) beta) when it is
    large."""
    magnitude = jnp.abs(beta)
    x, weights = _nodes(magnitude, nodes)
    probability = jax.nn.sigmoid(-magnitude * x)
    return jnp.sum(weights * probability * (1 - probability))
