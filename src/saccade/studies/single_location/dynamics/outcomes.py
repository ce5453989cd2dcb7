"""Where a run ended, and what to say when its step size was too large."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, Int

from saccade.errors import require
from saccade.studies.single_location.dynamics.recording import Trajectory
from saccade.studies.single_location.theory import (
    ORACLE,
    Overlaps,
    Setting,
    check_setting,
    critical_inverse_temperature,
    distance_to_manifold,
    off_manifold_attractor,
    oracle_transverse_hessian,
    swapped_overlaps,
    swapped_state,
)

OUTCOMES = ("recovered", "swapped", "attractor", "other")
RECOVERED, SWAPPED, ATTRACTOR, OTHER = range(4)

# The risk does not change when (theta, eta, rho) flip sign, nor when k and v flip together; order
# kappa, nu, theta, eta, rho.
_MIRRORS = np.array(
    [[1, 1, 1, 1, 1], [1, 1, -1, -1, -1], [-1, -1, -1, -1, 1], [-1, -1, 1, 1, -1]], float)


def classify(overlaps: Overlaps, setting: Setting, tolerance: float = 0.05) -> Int[Array, "*batch"]:
    """Codes into OUTCOMES: the known end state, up to the symmetries of the risk, that lies within
    `tolerance` (the nearest).

    recovered: (k, v) = (k*, v*); swapped: k = v*, v.k* = theta*; attractor: the off-manifold
    minimum, which exists only above the critical inverse temperature. Distance is the largest
    difference over the five overlaps. One setting for all states; after a schedule give the last
    inverse temperature, since the swapped state and the attractor move with it.
    """
    require(tolerance > 0, "tolerance", tolerance, "must be above 0")
    check_setting(setting)
    require(
        all(np.ndim(value) == 0 for value in setting), "setting", setting,
        "must hold single numbers, not lists")
    states = jnp.stack(
        jnp.broadcast_arrays(*(jnp.asarray(value, float) for value in overlaps)), axis=-1)
    distances = jnp.stack([_distance(states, target) for target in end_states(setting)], axis=-1)
    nearest = jnp.argmin(distances, axis=-1)
    return jnp.where(jnp.min(distances, axis=-1) <= tolerance, nearest, OTHER)


FATES = ("on the manifold", "swapped", "off the manifold", "undecided")


def fate(overlaps: Overlaps) -> Int[Array, "*batch"]:
    """Codes into FATES: which way a run has gone, told long before it has settled (alignment along
    a saturated erf takes for ever).

    swapped: k leans on v* and v does not (|eta| > 1/2 > |nu|); otherwise |nu| > 1/2, near the
    manifold (distance below 1/2), where only the oracle attracts, or off it, on the way to the
    attractor. Status: heuristic thresholds.
    """
    nu, eta = jnp.abs(jnp.asarray(overlaps.nu)), jnp.abs(jnp.asarray(overlaps.eta))
    away = distance_to_manifold(overlaps) > 0.5
    return jnp.select(
        [(eta > 0.5) & (nu < 0.5), (nu > 0.5) & ~away, (nu > 0.5) & away], [1, 0, 2], 3)


def end_states(setting: Setting) -> tuple[Overlaps | None, ...]:
    """The named end states in the order of OUTCOMES; the attractor is None at and below the
    critical inverse temperature."""
    swapped = swapped_overlaps(swapped_state(setting).theta)
    has_attractor = np.asarray(setting.length) >= 2 and float(
        np.asarray(setting.inverse_temperature)
    ) > critical_inverse_temperature(setting.dim, setting.length, setting.gamma)
    return ORACLE, swapped, off_manifold_attractor(setting).overlaps if has_attractor else None


def _distance(states: Float[Array, "*batch 5"], target: Overlaps | None) -> Float[Array, "*batch"]:
    """Largest difference to the nearest mirror image of the target; infinite to a target that does
    not exist, or from a NaN."""
    if target is None:
        return jnp.full(states.shape[:-1], jnp.inf)
    images = _MIRRORS * np.array([float(value) for value in target])
    distance = jnp.min(jnp.max(jnp.abs(states[..., None, :] - images), axis=-1), axis=-1)
    return jnp.where(jnp.isnan(distance), jnp.inf, distance)


def largest_curvature(setting: Setting) -> float:
    """The largest eigenvalue of the Riemannian Hessian of the risk at the oracle. Exact (automatic
    differentiation)."""
    return float(jnp.max(oracle_transverse_hessian(setting).eigenvalues))


def stability_ratio(setting: Setting, step_size: ArrayLike) -> float:
    """Step size times the largest curvature at the oracle. Above 2 descent cannot settle there
    along the stiffest direction.

    Descent on spheres cannot run off to infinity; past the edge of stability it oscillates, and for
    a while rounding errors grow, so that two runs from one start can part. Status: exact for the
    oracle, heuristic for the transient.
    """
    return float(np.asarray(step_size)) * largest_curvature(setting)


def advice(trajectory: Trajectory, setting: Setting, step_size: float) -> str:
    """One sentence on a run that diverged or runs past the edge of stability; empty when there is
    nothing to say."""
    safe = 2 / largest_curvature(setting)
    broken = np.asarray(trajectory.diverged_at)
    if np.any(broken >= 0):
        first = int(broken[broken >= 0].min()) if broken.ndim else int(broken)
        return (
            f"diverged at step {first}: step size {step_size:g} is too large for this setting; try"
            f" at most {safe:.3g}.")
    ratio = stability_ratio(setting, step_size)
    if ratio > 2:
        return (
            f"step size {step_size:g} is past the edge of stability (times the largest curvature at"
            f" the oracle it is {ratio:.3g}, above 2): compare limits, not paths, or take at most"
            f" {safe:.3g}.")
    return ""
