"""The tilted swapped state: both vectors in the plane of k* and v*, k near v* and v near k* with a
negative share of v*; and the window of lambda in which it is a stable fixed point.

Out of the plane, in each direction orthogonal to k* and v*, the Hessian is [[-s_k, R_rho], [R_rho,
-s_v]], with s_k = R_kappa kappa + R_eta eta + R_rho rho and s_v likewise the radial parts of the
gradients. Status: quadrature; that the branch is followed to its end is numerical.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import optimize

from .kernels import FINE, ROUGH, Rule
from .moments import moments
from .risk import Value, evaluate, risk
from .roots import root_between
from .setting import Array, Overlaps, Setting, in_plane

ANGLES = 72
LADDER = np.geomspace(0.3, 120.0, 36)  # of lambda m, the largest mean score
SHARPEST, BLUNTEST = (
    40.0, 0.05)  # of lambda max(1, gamma) and of lambda m: how far a branch is followed


class Swapped(NamedTuple):
    """The state, its risk and the least eigenvalue of the Hessian out of the plane."""

    overlaps: Overlaps
    risk: float
    out_of_plane: float


def slopes(angles: Array, setting: Setting, rule: Rule = FINE) -> Array:
    """Derivatives of the in-plane risk by the two angles of `in_plane`."""
    at = in_plane(*angles)
    return turning(at, risk(at, setting, rule))


def turning(at: Overlaps, value: Value) -> Array:
    """d kappa/da = -eta, d eta/da = kappa, d nu/db = -theta, d theta/db = nu."""
    g = value.gradient
    by_k = -g.kappa * at.eta + g.eta * at.kappa + g.rho * (at.kappa * at.nu - at.eta * at.theta)
    by_v = -g.nu * at.theta + g.theta * at.nu + g.rho * (at.kappa * at.nu - at.eta * at.theta)
    return np.array([by_k, by_v])


def out_of_plane(at: Overlaps, value: Value) -> float:
    """The least eigenvalue of [[-s_k, R_rho], [R_rho, -s_v]]."""
    g = value.gradient
    s_k = g.kappa * at.kappa + g.eta * at.eta + g.rho * at.rho
    s_v = g.nu * at.nu + g.theta * at.theta + g.rho * at.rho
    return float(-(s_k + s_v) / 2 - np.hypot((s_k - s_v) / 2, g.rho))


def candidates(setting: Setting) -> list[Array]:
    """Local minima of the in-plane risk on a torus grid with eta > 0, away from the oracle."""
    a = (np.arange(ANGLES // 2) + 0.5) * 2 * np.pi / ANGLES
    b = (np.arange(ANGLES) + 0.5) * 2 * np.pi / ANGLES
    at = in_plane(*np.meshgrid(a, b, indexing="ij"))
    M = moments(setting, np.cos(a), ROUGH)
    values = evaluate(at, setting, type(M)(*(part[..., None] for part in M))).risk
    around = [np.roll(values, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
    lowest = np.all([values < other for other in around], axis=0)
    lowest[[0, -1]] = False
    places = [np.array([a[i], b[j]]) for i, j in np.argwhere(lowest)]
    return [place for place in places if np.cos(place[0]) + np.cos(place[1]) < 1.5]


def settle(angles: Array, setting: Setting, rule: Rule = FINE) -> Array | None:
    """The stationary point near the given angles, or None if there is none."""
    end = optimize.root(slopes, angles, args=(setting, rule), method="hybr", tol=1e-13)
    near = np.max(np.abs(end.x - angles)) < 0.35
    return end.x if near and np.max(np.abs(end.fun)) < 1e-9 else None


def describe(angles: Array, setting: Setting, rule: Rule = FINE) -> Swapped:
    at = in_plane(*angles)
    value = risk(at, setting, rule)
    return Swapped(Overlaps(*map(float, at)), float(value.risk), out_of_plane(at, value))


def swapped_state(setting: Setting) -> Swapped | None:
    """The in-plane minimum other than the oracle that is the most stable out of the plane, stable
    or not; None where the plane has no other minimum."""
    ends = [settle(place, setting) for place in candidates(setting)]
    states = [describe(end, setting) for end in ends if end is not None]
    return max(states, key=lambda state: state.out_of_plane, default=None)


def swapped_window(dim: float, length: float, gamma: float = 2**-0.5) -> "SwappedWindow":
    """The inverse temperatures between which the swapped state is a stable fixed point: the branch
    is followed up and down from the most stable point of a ladder of lambdas, which is climbed
    until the state, once stable, is stable no more (the highest rungs are the dearest by far)."""
    lam, start = _most_stable(dim, length, gamma)
    if start is None or start.out_of_plane <= 0:
        return SwappedWindow(None, None)
    angles = np.array([
        np.arctan2(start.overlaps.eta, start.overlaps.kappa),
        np.arctan2(start.overlaps.theta, start.overlaps.nu)])
    task = dim, length, gamma
    ends = [_end(angles, lam, direction, task) for direction in (-1, 1)]
    return SwappedWindow(*ends)


def _most_stable(dim: float, length: float, gamma: float) -> tuple[float, Swapped | None]:
    """The rung of the ladder with the largest eigenvalue out of the plane, and the state there."""
    ladder = LADDER / (dim / 2) ** 0.5
    best, deepest = (0.0, None), -np.inf
    for lam in ladder[ladder * max(1.0, gamma) <= SHARPEST]:
        state = swapped_state(Setting(dim, length, float(lam), gamma))
        depth = state.out_of_plane if state else -np.inf
        if deepest > 0 >= depth:
            break
        if depth > deepest:
            best, deepest = (float(lam), state), depth
    return best


class SwappedWindow(NamedTuple):
    """The two ends, each a lambda and the angles of the state there; None where the branch goes on
    to the end of the ladder."""

    low: "End | None"
    high: "End | None"


class End(NamedTuple):
    inverse_temperature: float
    angles: Array


def stability_at(lam: float, angles: Array, task: tuple[float, float, float], rule: Rule) -> float:
    """The least eigenvalue out of the plane of the state near the given angles."""
    dim, length, gamma = task
    setting = Setting(dim, length, float(lam), gamma)
    moved = settle(angles, setting, rule)
    return describe(angles if moved is None else moved, setting, rule).out_of_plane


def _end(angles: Array, lam: float, direction: int, task: tuple[float, float, float]) -> End | None:
    """Where, from lam on up or down, the branch stops being stable, or is lost."""
    step = 0.16 * direction
    while BLUNTEST / (task[0] / 2) ** 0.5 < lam < SHARPEST / max(1.0, task[2]):
        there = lam * np.exp(step)
        setting = Setting(task[0], task[1], there, task[2])
        moved = settle(angles, setting)
        if moved is None:
            if abs(step) < 1e-9:
                return End(lam, angles)
            step /= 4
            continue
        if describe(moved, setting).out_of_plane <= 0:
            least = partial(stability_at, angles=angles, task=task, rule=FINE)
            return End(root_between(least, lam, there), moved)
        lam, angles = there, moved
    return None
