"""The state that beats the oracle above the critical inverse temperature: k and v both in span(k*,
v*), off the manifold.

Not in the paper: it is where its runs at a constant, large inverse temperature end. Status:
numerical minimisation of the exact risk over two angles.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.optimize import minimize

from saccade.errors import require
from saccade.studies.single_location.theory.landscape import critical_inverse_temperature
from saccade.studies.single_location.theory.moments import Scalars
from saccade.studies.single_location.theory.overlaps import Overlaps, Setting, check_setting
from saccade.studies.single_location.theory.risk import risk


class Attractor(NamedTuple):
    """A minimum off the manifold; flipping (theta, eta, rho), or k and v together, gives its mirror
    images."""

    overlaps: Overlaps
    risk: float


def _stiffness(setting: Setting) -> Scalars:
    """About sqrt(d/2). At the minimum both angles are of the order of its inverse; in these units
    they are of order 1."""
    return jnp.sqrt(1 + jnp.asarray(setting.dim, float) / 2)


def _span_overlaps(angles: Float[Array, " 2"], setting: Setting) -> Overlaps:
    """k turned from v* towards k* by the first angle, v turned from v* away from k* by the second
    (units 1/stiffness)."""
    k_angle, v_angle = angles / _stiffness(setting)
    kappa, eta = jnp.sin(k_angle), jnp.cos(k_angle)
    nu, theta = jnp.cos(v_angle), -jnp.sin(v_angle)
    return Overlaps(kappa, nu, theta, eta, rho=jnp.cos(k_angle + v_angle))


def _span_risk(angles: Float[Array, " 2"], setting: Setting) -> Scalars:
    return risk(_span_overlaps(angles, setting), setting)


_risk_on_grid = jax.jit(jax.vmap(_span_risk, in_axes=(0, None)))
_risk_and_slope = jax.jit(jax.value_and_grad(_span_risk))
_curvature = jax.jit(jax.hessian(_span_risk))


def _best_on_grid(setting: Setting, points: int = 81) -> np.ndarray:
    """Start of the descent: the best of a grid that is fine near 0 and also covers the whole
    quarter turn."""
    reach = float(_stiffness(setting)) * np.pi / 2
    angles = np.union1d(np.linspace(0.0, min(20.0, reach), points), np.linspace(0.0, reach, points))
    grid = np.stack(np.meshgrid(angles, angles, indexing="ij"), axis=-1).reshape(-1, 2)
    return grid[int(jnp.argmin(_risk_on_grid(jnp.asarray(grid), setting)))]


def _newton_step(angles: np.ndarray, setting: Setting) -> np.ndarray:
    slope = np.asarray(_risk_and_slope(angles, setting)[1])
    return np.linalg.solve(np.asarray(_curvature(angles, setting)), slope)


def _polish(angles: np.ndarray, setting: Setting, steps: int = 6) -> np.ndarray:
    """Newton on the slope alone: it goes on where the risk no longer changes in its last digit."""
    move = _newton_step(angles, setting)
    for _ in range(steps):
        proposal = angles - move
        next_move = _newton_step(proposal, setting)
        if np.linalg.norm(next_move) >= np.linalg.norm(move):
            break
        angles, move = proposal, next_move
    return angles


def off_manifold_attractor(setting: Setting) -> Attractor:
    """The least risk over k, v in span(k*, v*) with kappa, nu, eta >= 0 >= theta. Numerical
    (Newton, to rounding).

    Above the critical inverse temperature it is below the oracle's: a k with a part along v makes
    every uninformative token add C rho, and a small negative v.k* lets the mean sqrt(d/2) theta of
    the informative one cancel the sum.
    """
    check_setting(setting)
    require(
        all(np.ndim(value) == 0 for value in setting), "setting", setting,
        "must hold single numbers, no batch")
    setting = Setting(*(float(value) for value in setting))
    critical = critical_inverse_temperature(setting.dim, setting.length, setting.gamma)
    rule = f"must be above the critical value {critical:.6g}, below which the oracle is a minimum"
    above = setting.inverse_temperature > critical
    require(above, "inverse_temperature", setting.inverse_temperature, rule)
    found = minimize(
        lambda angles: _risk_and_slope(angles, setting), _best_on_grid(setting), jac=True,
        hess=lambda angles: _curvature(angles, setting), method="trust-exact",
        options={"gtol": 1e-12})
    overlaps = Overlaps(
        *(float(value) for value in _span_overlaps(jnp.asarray(_polish(found.x, setting)), setting))
    )
    return Attractor(overlaps, float(risk(overlaps, setting)))
