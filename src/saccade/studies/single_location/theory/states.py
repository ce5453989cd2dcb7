"""Where descent ends when it does not recover, and how to tell that a state is stationary and
stable. Not in the paper.

The swapped state, k = v* and v leaning on k*, is where its runs that "converge to (0, 0)" end. The
attractor off the manifold, k and v both in span(k*, v*), beats the oracle above the critical
inverse temperature: it is where its runs at a constant, large inverse temperature end.
"""

from collections import namedtuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize

from saccade import gaussian
from saccade.arrays import Array, floats, namespace
from saccade.errors import require

from .landscape import critical_inverse_temperature
from .overlaps import Number, Overlaps, Scalars, Setting, as_arrays, check_setting
from .risk import constants, risk

Coordinates = Float[Array, "2 5"]
Angles = Float[Array, " 2"]


SwappedState = namedtuple("SwappedState", "theta risk")
"""k = v*, v.k* = theta, everything else 0 (up to a common sign of k and v)."""
Attractor = namedtuple("Attractor", "overlaps risk")
"""A minimum off the manifold; flipping (theta, eta, rho), or k and v, gives its images."""


def swapped_state(setting: Setting) -> SwappedState:
    """The state in which k has learned v* and v has learned k*. Exact; batches broadcast.

    kappa = nu = rho = 0, eta = 1 and theta = 2 u gamma/(sqrt(pi (1+2 u^2)) sqrt(d/2) zeta(0, u^2)),
    u = lambda gamma, clipped at 1. It works because erf(lambda X.v*) is nearly linear and X.k*,
    close to sqrt(d/2), acts as a gain. Neither length nor noise moves it; for small lambda, theta
    tends to sqrt(pi/2)/(lambda sqrt d).
    """
    shared = constants(setting)
    reward = shared.gain * gaussian.expect_erf_prime(0.0, shared.spread)
    wanted = reward / (shared.shift * gaussian.zeta(0.0, shared.spread))
    theta = namespace(wanted).minimum(1.0, wanted)
    return SwappedState(theta, risk(swapped_overlaps(theta), setting))


def swapped_overlaps(theta: Number) -> Overlaps:
    """The five overlaps of the swapped state with v.k* = theta."""
    zero = namespace(theta).zeros_like(theta)
    return Overlaps(kappa=zero, nu=zero, theta=theta, eta=zero + 1.0, rho=zero)


def _length_left(square: Scalars) -> Scalars:
    """Square root of what remains of a unit vector; a remainder of rounding counts as nothing."""
    return jnp.sqrt(jnp.where(square > 1e-15, square, 0.0))


def _coordinates(overlaps: Overlaps) -> Coordinates:
    """k and v in an orthonormal basis (k*, v*, e3, e4, e5), the last direction spare."""
    kappa, nu, theta, eta, rho = as_arrays(overlaps)
    k_rest = _length_left(1 - kappa**2 - eta**2)
    # Where k lies in span(k*, v*) any e3 will do; the division must only not produce NaN.
    v_third = jnp.where(k_rest > 0, rho - kappa * theta - eta * nu, 0.0) / jnp.where(
        k_rest > 0, k_rest, 1.0)
    v_rest = _length_left(1 - theta**2 - nu**2 - v_third**2)
    return jnp.array([[kappa, eta, k_rest, 0.0, 0.0], [theta, nu, v_third, v_rest, 0.0]])


def _risk_of_coordinates(pair: Coordinates, setting: Setting) -> Scalars:
    """The risk of k and v, normalised first: its derivatives are those along the two spheres."""
    k, v = pair / jnp.linalg.norm(pair, axis=1, keepdims=True)
    return risk(Overlaps(k[0], v[1], v[0], k[1], k @ v), setting)


def tangent_gradient_norms(overlaps: Overlaps, setting: Setting) -> Float[Array, " 2"]:
    """Norms of the risk's gradients along the two spheres: 0 exactly at stationary states."""
    gradient = jax.grad(_risk_of_coordinates)(_coordinates(overlaps), as_arrays(setting))
    return jnp.linalg.norm(gradient, axis=1)


def stationary_hessian_eigenvalues(overlaps: Overlaps, setting: Setting) -> Float[Array, " 8"]:
    """Eigenvalues, ascending, of the risk's Hessian on the spheres at a stationary state. Exact.

    A state is stable when all are above 0. The spare direction stands for d-4 equal ones, so dim
    must be at least 5; meaningful only where `tangent_gradient_norms` vanish. A direction along
    which nothing changes gives 0.
    """
    return _hessian_eigenvalues(as_arrays(overlaps), as_arrays(setting))


@jax.jit
def _hessian_eigenvalues(overlaps: Overlaps, setting: Setting) -> Float[Array, " 8"]:
    pair = _coordinates(overlaps)
    hessian = jax.hessian(_risk_of_coordinates)(pair, setting).reshape(10, 10)
    # Orthonormal rows that span the complements of k and of v.
    bases = [jnp.linalg.svd(unit[None, :], full_matrices=True)[2][1:] for unit in pair]
    tangent = jax.scipy.linalg.block_diag(*bases)
    return jnp.linalg.eigvalsh(tangent @ hessian @ tangent.T)


def _stiffness(setting: Setting) -> Scalars:
    """About sqrt(d/2): in units of its inverse, both angles are of order 1 at the minimum."""
    (dim,) = floats(setting.dim)
    return namespace(dim).sqrt(1 + dim / 2)


def _span_overlaps(angles: Angles, setting: Setting) -> Overlaps:
    """k turned from v* towards k*, v turned from v* away from k*, by angles in 1/stiffness."""
    k_angle, v_angle = angles / _stiffness(setting)
    xp = namespace(k_angle)
    kappa, eta = xp.sin(k_angle), xp.cos(k_angle)
    nu, theta = xp.cos(v_angle), -xp.sin(v_angle)
    return Overlaps(kappa, nu, theta, eta, rho=xp.cos(k_angle + v_angle))


def _span_risk(angles: Angles, setting: Setting) -> Scalars:
    return risk(_span_overlaps(angles, setting), setting)


_compiled_risk_and_gradient = jax.jit(jax.value_and_grad(_span_risk))
_compiled_curvature = jax.jit(jax.hessian(_span_risk))


def _risk_and_gradient(angles: np.ndarray, setting: Setting) -> tuple[float, np.ndarray]:
    """In NumPy: SciPy's arithmetic on arrays of JAX would compile every operation."""
    value, gradient = _compiled_risk_and_gradient(angles, setting)
    return float(value), np.asarray(gradient)


def _curvature(angles: np.ndarray, setting: Setting) -> np.ndarray:
    return np.asarray(_compiled_curvature(angles, setting))


def _best_on_grid(setting: Setting, points: int = 81) -> np.ndarray:
    """The best of a grid that is fine near 0 and also covers the whole quarter turn."""
    reach = float(_stiffness(setting)) * np.pi / 2
    angles = np.union1d(np.linspace(0.0, min(20.0, reach), points), np.linspace(0.0, reach, points))
    grid = np.stack(np.meshgrid(angles, angles, indexing="ij"), axis=-1).reshape(-1, 2)
    return grid[int(np.argmin(_span_risk(grid.T, setting)))]


def _newton_step(angles: np.ndarray, setting: Setting) -> np.ndarray:
    return np.linalg.solve(_curvature(angles, setting), _risk_and_gradient(angles, setting)[1])


def _polish(angles: np.ndarray, setting: Setting, steps: int = 6) -> np.ndarray:
    """Newton on the gradient: it goes on where the risk no longer changes in its last digit."""
    move = _newton_step(angles, setting)
    for _ in range(steps):
        proposal = angles - move
        next_move = _newton_step(proposal, setting)
        if np.linalg.norm(next_move) >= np.linalg.norm(move):
            break
        angles, move = proposal, next_move
    return angles


def off_manifold_attractor(setting: Setting) -> Attractor:
    """The least risk over k, v in span(k*, v*), kappa, nu, eta >= 0 >= theta. Numerical (Newton).

    Above the critical inverse temperature it is below the oracle's: a k with a part along v makes
    every uninformative token add C rho, and a small negative v.k* lets the mean sqrt(d/2) theta of
    the informative one cancel the sum.
    """
    check_setting(setting)
    single = all(np.ndim(value) == 0 for value in setting)
    require(single, "setting", setting, "must hold single numbers, no batch")
    setting = Setting(*(float(value) for value in setting))
    critical = critical_inverse_temperature(setting.dim, setting.length, setting.gamma)
    rule = f"must be above the critical value {critical:.6g}, below which the oracle is a minimum"
    above = setting.inverse_temperature > critical
    require(above, "inverse_temperature", setting.inverse_temperature, rule)
    best = minimize(
        lambda angles: _risk_and_gradient(angles, setting), _best_on_grid(setting), jac=True,
        hess=lambda angles: _curvature(angles, setting), method="trust-exact",
        options={"gtol": 1e-12})
    angles = _polish(best.x, setting)
    overlaps = Overlaps(*(float(value) for value in _span_overlaps(angles, setting)))
    return Attractor(overlaps, float(risk(overlaps, setting)))
