"""What softmax is compared with at the truth: argmax, the best linear predictor, and three best
predictors: from everything, from the coordinates along k* and v*, and linear in the values with
weights made of the scores. The locations are uniform. Status: quadrature, except `linear_risk`.
"""

from typing import Literal, NamedTuple

import numpy as np
from scipy import special

from saccade.errors import require

from .bessel import log_bessel
from .kernels import FINE, LARGEST_EXPONENT, TINY, Rule
from .moments import Moments, moments
from .setting import Array, Setting

Sees = Literal["all", "plane", "scores"]
ROWS = 64  # nodes of w at a time
NEGLIGIBLE = 1e-40  # beside the largest summand
MOST_NODES = 2_000_000
NOWHERE = -39.0  # the normal density is no number below it
NIL, FULL = -40.0, 4.5  # log A below which A^2 is nil beside A, and above which e^-A is nil


def argmax_risk(setting: Setting, rule: Rule = FINE) -> float:
    """eps^2 + (1 + gamma^2) P(error), P(error) = E[1 - Phi(m + gamma x)^(L-1)]; lambda = inf. Both
    ends follow the tilt towards small scores, so that tiny probabilities keep their digits."""
    m, g, step = setting.shift, setting.gamma, rule.step / 4 * min(1.0, 1 / setting.gamma)
    x = np.arange(max(-rule.cut - m * g / (1 + g**2) - 2, NOWHERE), rule.cut + 2, step)
    missed = -np.expm1(setting.others * special.log_ndtr(m + g * x))
    error = step * np.exp(-(x**2) / 2) @ missed / np.sqrt(2 * np.pi)
    return float(setting.noise**2 + (1 + g**2) * error)


def linear_risk(setting: Setting) -> float:
    """eps^2 + gamma^2 - gamma^4/(L + gamma^2 - 1): Proposition 3 of Marion et al. with uniform
    locations. Exact."""
    square = setting.gamma**2
    return float(setting.noise**2 + square - square**2 / (setting.length + square - 1))


def fitted_risk(setting: Setting, M: Moments) -> float:
    """eps^2 + gamma^2 - E[Y T]^2/E[T^2]: at the truth with the length of v fitted too, from the
    moments of the weights at kappa = 1. As eps^2 + gamma^2 (gamma^2 Var p + E q)/(gamma^2 E p^2 + E
    q), which keeps the digits of a small risk. Exact, given the moments."""
    square = setting.gamma**2
    spread = M.rr[0] - M.r[0] ** 2 if M.p[0] > 0.5 else M.pp[0] - M.p[0] ** 2
    left, size = square * spread + M.q[0], square * M.pp[0] + M.q[0]
    return float(setting.noise**2 + square * left / size)


class _Law(NamedTuple):
    """A law of the log-likelihood ratio l of a token, values ascending: weights, and their running
    sums: of the first, of the last, and of the first times e^(l - tilt)."""

    values: Array
    weights: Array
    below: Array
    above: Array
    tilted: Array
    tilt: float


def _law(values: Array, logs: Array) -> _Law:
    """From values, ascending or descending, and logarithms of the weights."""
    if values[0] > values[-1]:
        values, logs = values[::-1], logs[::-1]
    weights, tilt = np.exp(logs), float(np.max(logs + values))
    sums = [np.append(0.0, np.cumsum(x)) for x in (weights, np.exp(logs + values - tilt))]
    above = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
    return _Law(values, weights, sums[0], above, sums[1], tilt)


def bayes_risk(setting: Setting, sees: Sees = "all", rule: Rule = FINE) -> float:
    """The least risk with k* and v* known; lambda plays no part.

    The posterior of the place is the softmax of l = log N(X; m k*, gamma^2 I)/N(X; 0, I), a
    quadratic in X, so that l is linear in Q = |X - mu k*|^2, mu = m/(1 - gamma^2), noncentral
    chi-square. With A = e^(w + l): risk - eps^2 = gamma^2 int dw E_1[e^-A] N E[A e^-A]
    E[e^-A]^(N-1). The error is weighed by (X_1 . v*)^2, which adds two degrees of freedom to the
    informative law. From the scores alone: weights gamma^2 pi/(gamma^2 pi + 1 - pi), no such
    weight, and l shifted by log gamma^2. At gamma = 1 all three are the softmax of m X k*.
    """
    square = setting.gamma**2
    if setting.gamma == 1:
        plain = setting._replace(inverse_temperature=setting.shift)
        return float(setting.noise**2 + moments(plain, 1.0, rule).r[0])
    degrees = {"all": setting.dim, "plane": 2.0, "scores": 1.0}[sees]
    own_degrees, own_shift = (degrees, np.log(square)) if sees == "scores" else (degrees + 2, 0.0)
    others, own = _laws(setting, degrees, own_degrees, rule)
    own = own._replace(values=own.values + own_shift)
    return float(setting.noise**2 + square * rule.step * _total(setting.others, others, own, rule))


def _laws(s: Setting, degrees: float, own_degrees: float, rule: Rule) -> tuple[_Law, _Law]:
    """The laws of l for an uninformative and the informative token, on one lattice of y = |X - mu
    k*|: y = log(1 + e^t), so that the lattice reaches y = 0 without an end."""
    centre, other_side = abs(s.shift / (1 - s.gamma**2)), abs(s.shift - s.shift / (1 - s.gamma**2))
    curvature = 1 / s.gamma**2 - 1
    typical = np.hypot(centre, degrees**0.5), np.hypot(other_side, s.gamma * own_degrees**0.5)
    room = (rule.cut + 1) * max(1.0, s.gamma)
    top = max(typical) + room
    low = min(typical) - room
    low = low if low > 3 else -5 * rule.cut / min(degrees, own_degrees)  # down to y = 0
    step = min(rule.widest / 2 * min(1.0, s.gamma), rule.step / (abs(curvature) * top))
    require(
        (top - low) / step <= MOST_NODES, "dim, gamma", (s.dim, s.gamma),
        f"would need more than {MOST_NODES} nodes for the laws of a token")
    from_centre = np.arange(low - centre, top - centre, step)
    t = from_centre + centre
    y, slope = np.logaddexp(0.0, t), special.expit(t)
    # y - centre, which far from the origin would lose digits as a difference
    away = np.where(t > 0, from_centre + np.log1p(np.exp(-np.abs(t))), y - centre)
    constant = -(s.shift**2) / (2 * s.gamma**2) - degrees * np.log(s.gamma)
    ratio = constant - curvature / 2 * away * (y + centre)
    shift = centre - other_side
    log_step = np.log(step * slope)
    own = _log_chi(y / s.gamma, (away + shift) / s.gamma, other_side / s.gamma, own_degrees)
    return (
        _law(ratio, log_step + _log_chi(y, away, centre, degrees)),
        _law(ratio, log_step - np.log(s.gamma) + own))


def _log_chi(y: Array, away: Array, centre: float, degrees: float) -> Array:
    """Log-density at y of the length of a normal vector with `degrees` coordinates around a point
    at distance `centre` from the origin; `away` = y - centre."""
    order = degrees / 2 - 1
    return (
        -(away**2) / 2 + log_bessel(order, y * centre) + np.log(y) * (degrees / 2)
        - order * np.log(centre))


def _total(count: float, others: _Law, own: _Law, rule: Rule) -> float:
    """The sum over w of E_1[e^-A] N E[A e^-A] E[e^-A]^(N-1). One node in ROWS is looked at first;
    what lies between is summed where that is not nil beside the largest."""
    # Of very many tokens even the likeliest one has A about 1/N where their sum begins to matter.
    low = min(-others.values[-1], -np.log(count)) - rule.left
    high = -others.values[0] + FULL
    places = low + rule.step * ROWS * np.arange(int((high - low) / (rule.step * ROWS)) + 2)
    look = np.array([_summands(place[None], count, others, own)[0] for place in places])
    seen = look > NEGLIGIBLE * look.max()
    near = seen | np.append(seen[1:], False) | np.append(False, seen[:-1])
    steps = rule.step * np.arange(ROWS)
    return sum(float(np.sum(_summands(p + steps, count, others, own))) for p in places[near])


def _summands(w: Array, count: float, others: _Law, own: _Law) -> Array:
    phi, missing, mean = _means(w, others)
    near_one = missing < 0.5
    log_phi = np.where(
        near_one, np.log1p(-np.where(near_one, missing, 0.0)), np.log(np.maximum(phi, TINY)))
    return _means(w, own)[0] * count * mean * np.exp((count - 1) * log_phi)


def _means(w: Array, law: _Law) -> tuple[Array, Array, Array]:
    """E[e^-A], E[1 - e^-A] and E[A e^-A] for A = e^(w + l). Only l with A neither nil (then 1 -
    e^-A and A e^-A are A) nor huge (then e^-A is nil) are exponentiated twice."""
    first, last = np.searchsorted(law.values, (NIL - w[-1], FULL - w[0]))
    values, weights = law.values[first:last], law.weights[first:last]
    A = np.exp(w[:, None] + values)
    kept = np.exp(-A)
    tiny = np.exp(np.minimum(w + law.tilt, LARGEST_EXPONENT)) * law.tilted[first]
    phi = kept @ weights + law.below[first]
    missing = -np.expm1(-A) @ weights + tiny + law.above[last]
    return phi, missing, (A * kept) @ weights + tiny
