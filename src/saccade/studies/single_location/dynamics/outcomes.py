"""Where a run ended, and what to say when its step size was too large."""

import numpy as np
from jaxtyping import ArrayLike, Float, Int

from saccade.errors import require
from saccade.studies.single_location import theory
from saccade.studies.single_location.theory import ORACLE, Overlaps, Setting
from saccade.studies.single_location.theory.overlaps import distance_to_manifold

OUTCOMES = ("recovered", "swapped", "attractor", "other")

# The risk does not change when (theta, eta, rho) flip sign, nor when k and v flip together.
_MIRRORS = np.array(
    [[1, 1, 1, 1, 1], [1, 1, -1, -1, -1], [-1, -1, -1, -1, 1], [-1, -1, 1, 1, -1]], float)


def classify(
    overlaps: Overlaps, setting: Setting, tolerance: float = 0.05
) -> Int[np.ndarray, "*batch"]:
    """Codes into OUTCOMES: the nearest end state, up to symmetry, if within `tolerance`.

    recovered: (k, v) = (k*, v*); swapped: k = v*, v.k* = theta*; attractor: the off-manifold
    minimum, which exists only above the critical inverse temperature. Distance is the largest
    difference over the five overlaps. One setting for all states; after a schedule give the last
    inverse temperature, since the swapped state and the attractor move with it.
    """
    require(tolerance > 0, "tolerance", tolerance, "must be above 0")
    theory.check_setting(setting)
    single = all(np.ndim(value) == 0 for value in setting)
    require(single, "setting", setting, "must hold single numbers, not lists")
    states = np.stack(
        np.broadcast_arrays(*(np.asarray(value, float) for value in overlaps)), axis=-1)
    distances = np.stack([_distance(states, target) for target in end_states(setting)], axis=-1)
    nearest = np.argmin(distances, axis=-1)
    return np.where(np.min(distances, axis=-1) <= tolerance, nearest, OUTCOMES.index("other"))


FATES = ("on the manifold", "swapped", "off the manifold", "undecided")


def fate(overlaps: Overlaps) -> Int[np.ndarray, "*batch"]:
    """Codes into FATES: which way a run has gone, told long before it has settled.

    swapped: k leans on v* and v does not (|eta| > 1/2 > |nu|); otherwise |nu| > 1/2, near the
    manifold (distance below 1/2), where only the oracle attracts, or off it, on the way to the
    attractor. Status: heuristic thresholds.
    """
    nu, eta = np.abs(np.asarray(overlaps.nu)), np.abs(np.asarray(overlaps.eta))
    away = np.asarray(distance_to_manifold(overlaps)) > 0.5
    return np.select(
        [(eta > 0.5) & (nu < 0.5), (nu > 0.5) & ~away, (nu > 0.5) & away], [1, 0, 2], 3)


def end_states(setting: Setting) -> tuple[Overlaps | None, ...]:
    """The end states in the order of OUTCOMES; below the critical value there is no attractor."""
    swapped = theory.swapped_overlaps(theory.swapped_state(setting).theta)
    has_attractor = np.asarray(setting.length) >= 2 and float(
        np.asarray(setting.inverse_temperature)
    ) > theory.critical_inverse_temperature(setting.dim, setting.length, setting.gamma)
    attractor = theory.off_manifold_attractor(setting).overlaps if has_attractor else None
    return ORACLE, swapped, attractor


def _distance(
    states: Float[np.ndarray, "*batch 5"], target: Overlaps | None
) -> Float[np.ndarray, "*batch"]:
    """Largest difference to the target's nearest mirror image; infinite where there is none."""
    if target is None:
        return np.full(states.shape[:-1], np.inf)
    images = _MIRRORS * np.array([float(value) for value in target])
    distance = np.min(np.max(np.abs(states[..., None, :] - images), axis=-1), axis=-1)
    return np.where(np.isnan(distance), np.inf, distance)


def stability_ratio(setting: Setting, step_size: ArrayLike) -> float:
    """Step size times the largest curvature at the oracle. Above 2 descent cannot settle there.

    Descent on spheres cannot run off to infinity; past the edge of stability it oscillates, and for
    a while rounding errors grow, so that two runs from one start can part (heuristic).
    """
    largest = np.max(theory.oracle_transverse_hessian(setting))
    return float(np.asarray(step_size)) * float(largest)


def advice(setting: Setting, step_size: float) -> str:
    """One sentence on a step past the edge of stability; empty when there is nothing to say."""
    ratio = stability_ratio(setting, step_size)
    if not ratio > 2:
        return ""
    return (
        f"step size {step_size:g} is past the edge of stability (times the largest curvature at the"
        f" oracle it is {ratio:.3g}, above 2): compare limits, not paths, or take at most"
        f" {2 / stability_ratio(setting, 1.0):.3g}.")
