"""The swapped state, where k has learned v* and v has learned k*, and how to tell that a state is
stationary and stable.

Not in the paper: it is where its runs that "converge to (0, 0)" end.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from saccade import gaussian
from saccade.studies.single_location.theory.moments import Scalars, constants
from saccade.studies.single_location.theory.overlaps import Number, Overlaps, Setting, as_arrays
from saccade.studies.single_location.theory.risk import risk, risk_gradient


class SwappedState(NamedTuple):
    """k = v*, v.k* = theta, everything else 0 (up to a common sign of k and v)."""

    theta: Scalars
    risk: Scalars


def swapped_state(setting: Setting) -> SwappedState:
    """The state in which k has learned v* and v has learned k*. Exact; batches broadcast.

    kappa = nu = rho = 0, eta = 1 and theta = 2 u gamma/(sqrt(pi (1+2 u^2)) sqrt(d/2) zeta(0, u^2)),
    u = lambda gamma, clipped at 1. It works because erf(lambda X.v*) is nearly linear and X.k*,
    close to sqrt(d/2), acts as a gain. Neither length nor noise moves it; for small lambda, theta
    tends to sqrt(pi/2)/(lambda sqrt d).
    """
    shared = constants(setting)
    reward = shared.gain * gaussian.expect_erf_prime(0.0, shared.spread)
    theta = jnp.minimum(1.0, reward / (shared.shift * gaussian.zeta(0.0, shared.spread)))
    return SwappedState(theta, risk(swapped_overlaps(theta), setting))


def swapped_overlaps(theta: Number) -> Overlaps:
    """The five overlaps of the swapped state with v.k* = theta."""
    zero = jnp.zeros_like(theta)
    return Overlaps(kappa=zero, nu=zero, theta=theta, eta=zero + 1.0, rho=zero)


def _length_left(square: Scalars) -> Scalars:
    """Square root of what remains of a unit vector, with a remainder made of rounding alone counted
    as nothing."""
    return jnp.sqrt(jnp.where(square > 1e-15, square, 0.0))


def _coordinates(overlaps: Overlaps) -> tuple[Float[Array, "*batch 5"], Float[Array, "*batch 5"]]:
    """k and v in an orthonormal basis (k*, v*, e3, e4, e5) of a space that holds both and one spare
    direction."""
    kappa, nu, theta, eta, rho = jnp.broadcast_arrays(
        *(jnp.asarray(value, float) for value in overlaps))
    k_rest = _length_left(1 - kappa**2 - eta**2)
    # Where k lies in span(k*, v*) any e3 will do; the division must only not produce NaN.
    v_third = jnp.where(k_rest > 0, rho - kappa * theta - eta * nu, 0.0) / jnp.where(
        k_rest > 0, k_rest, 1.0)
    v_rest = _length_left(1 - theta**2 - nu**2 - v_third**2)
    zero = jnp.zeros_like(kappa)
    k = jnp.stack([kappa, eta, k_rest, zero, zero], axis=-1)
    return k, jnp.stack([theta, nu, v_third, v_rest, zero], axis=-1)


def tangent_gradient_norms(overlaps: Overlaps, setting: Setting) -> tuple[Scalars, Scalars]:
    """Norms of the risk's gradients in k and in v along their spheres: both 0 exactly at stationary
    states. Exact.

    grad_k = R_kappa k* + R_eta v* + R_rho v, grad_v = R_theta k* + R_nu v* + R_rho k, minus their
    radial parts.
    """
    slope = risk_gradient(overlaps, setting)
    k, v = _coordinates(overlaps)
    axes = jnp.eye(5)
    in_k = _outer(slope.kappa, axes[0]) + _outer(slope.eta, axes[1]) + _outer(slope.rho, v)
    in_v = _outer(slope.theta, axes[0]) + _outer(slope.nu, axes[1]) + _outer(slope.rho, k)
    return _tangent_norm(k, in_k), _tangent_norm(v, in_v)


def _outer(scalar: Number, vector: Float[Array, "*batch 5"]) -> Float[Array, "*batch 5"]:
    return jnp.asarray(scalar)[..., None] * vector


def _tangent_norm(unit: Float[Array, "*batch 5"], vector: Float[Array, "*batch 5"]) -> Scalars:
    radial = jnp.sum(unit * vector, axis=-1, keepdims=True)
    return jnp.linalg.norm(vector - radial * unit, axis=-1)


def _risk_of_coordinates(pair: Float[Array, "2 5"], setting: Setting) -> Scalars:
    k, v = pair / jnp.linalg.norm(pair, axis=1, keepdims=True)
    return risk(Overlaps(k[0], v[1], v[0], k[1], k @ v), setting)


def stationary_hessian_eigenvalues(overlaps: Overlaps, setting: Setting) -> Float[Array, " 8"]:
    """Eigenvalues, ascending, of the risk's Hessian on the two spheres at a stationary state.
    Exact, by autodiff.

    A state is stable when all are above 0. The spare direction stands for d-4 equal ones, so dim
    must be at least 5; meaningful only where `tangent_gradient_norms` vanish. A direction along
    which nothing changes gives 0.
    """
    return _hessian_eigenvalues(as_arrays(overlaps), as_arrays(setting))


@jax.jit
def _hessian_eigenvalues(overlaps: Overlaps, setting: Setting) -> Float[Array, " 8"]:
    k, v = _coordinates(overlaps)
    hessian = jax.hessian(_risk_of_coordinates)(jnp.stack([k, v]), setting).reshape(10, 10)
    tangent = jax.scipy.linalg.block_diag(_tangent_basis(k), _tangent_basis(v))
    return jnp.linalg.eigvalsh(tangent @ hessian @ tangent.T)


def _tangent_basis(unit: Float[Array, " 5"]) -> Float[Array, "4 5"]:
    """Orthonormal rows spanning the complement of a unit vector."""
    return jnp.linalg.svd(unit[None, :], full_matrices=True)[2][1:]
