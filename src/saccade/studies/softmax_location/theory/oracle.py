"""The layer at the truth (k*, v*): its risk with all digits at any size, and the best lambda.

At the truth only s = E r^2 and E q remain, R = eps^2 + gamma^2 E r^2 + E q, an integral of positive
numbers: 1e-30 is as accurate as 1. Status: quadrature.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from saccade.errors import require

from .kernels import FINE, Others, Rule, informative, nodes, third_score, uninformative
from .roots import root_between
from .setting import LARGEST_SHARPNESS, Array, Setting

STRIDE = 1.35  # factor by which a bracket of the best lambda is sought
LOWEST = 1e-4
SMALLEST_LOG = 690.0  # of 1 over a risk that a double can hold


def oracle_risk(setting: Setting, rule: Rule = FINE) -> float:
    """eps^2 + int dw f_0 [(1 + gamma^2) N g2 phi^(N-1) + gamma^2 N (N-1) g1^2 phi^(N-2)]."""
    w = nodes(setting, np.ones(()), rule)
    weight = _weight(setting, uninformative(setting, w, rule))
    kept = informative(setting, 1.0, w, rule).none[0]
    return float(setting.noise**2 + rule.step * kept @ weight)


def _weight(setting: Setting, at: Others) -> Array:
    N, square = setting.others, setting.gamma**2
    return (1 + square) * N * at.g2 * np.exp((N - 1) * at.log_phi) + square * N * (
        N - 1) * at.g1**2 * np.exp((N - 2) * at.log_phi)


def oracle_slope(setting: Setting, rule: Rule = FINE) -> float:
    """d/dlambda of the oracle risk, under the integral: A' = h A for a score h."""
    w, N, g = nodes(setting, np.ones(()), rule), setting.others, setting.gamma**2
    at, own = uninformative(setting, w, rule), informative(setting, 1.0, w, rule)
    in_kept = -(setting.shift * own.once[0] + setting.gamma * own.once[1])
    in_g1, in_g2 = at.h1 - at.h2, 2 * at.h2 - third_score(setting, w, rule)
    one, two, three = (np.exp((N - j) * at.log_phi) for j in (1, 2, 3))
    in_weight = (1 + g) * N * (in_g2 * one - (N - 1) * at.g2 * at.h1 * two) + g * N * (N - 1) * (
        2 * at.g1 * in_g1 * two - (N - 2) * at.g1**2 * at.h1 * three)
    return float(rule.step * (in_kept @ _weight(setting, at) + own.none[0] @ in_weight))


class Best(NamedTuple):
    """The inverse temperature of the lowest risk, and that risk."""

    inverse_temperature: float
    risk: float


def best_inverse_temperature(
    dim: float, length: float, gamma: float = 2**-0.5, noise: float = 0.0, rule: Rule = FINE
) -> Best:
    """Where d/dlambda of the oracle risk vanishes. The risk falls at small lambda always; that it
    has one minimum is an observation (it was so in every scan). For large d it is about (L - 1)
    exp(-d/(4 (1 + gamma^2))), which must be a double."""
    check_least(dim, length, gamma)

    def at(log_lam: float) -> Setting:
        return Setting(dim, length, float(np.exp(log_lam)), gamma, noise)

    guess = np.log(2 * at(0.0).shift / (1 + gamma**2))
    low, high = _bracket(lambda x: oracle_slope(at(x), rule), guess, gamma)
    root = root_between(lambda x: oracle_slope(at(x), rule), low, high)
    return Best(float(np.exp(root)), oracle_risk(at(root), rule))


def check_least(dim: float, length: float, gamma: float) -> None:
    """`InvalidInput` where the least oracle risk is no number."""
    largest = 4 * (1 + gamma**2) * (SMALLEST_LOG + np.log(length))
    require(
        dim <= largest, "dim", dim,
        f"must be at most {largest:.6g} at this length and gamma: the least risk would be nil")


def first_window(dim: float, gamma: float) -> tuple[float, float]:
    """Inverse temperatures around which a search begins: from where nothing is told apart, lambda m
    or lambda (1 + gamma^2)/m a tenth, to where lambda m or lambda gamma is ten."""
    m = (dim / 2) ** 0.5
    return 0.1 * min(1 / m, m / (1 + gamma**2)), 10 / max(m, gamma)


def _bracket(slope: Callable[[float], float], guess: float, gamma: float) -> tuple[float, float]:
    """Neighbouring points of a geometric ladder from the guess with slopes of both signs."""
    step, top = np.log(STRIDE), np.log(LARGEST_SHARPNESS / max(1.0, gamma)) - 1e-12
    here = min(guess, top)
    rising = slope(here) > 0
    while np.log(LOWEST) < here:
        there = here - step if rising else min(here + step, top)
        if (slope(there) > 0) != rising:
            return min(here, there), max(here, there)
        if there == top:
            break
        here = there
    raise ArithmeticError(
        f"The oracle risk has no minimum between lambda = {LOWEST:g} and {np.exp(top):.3g}.")
