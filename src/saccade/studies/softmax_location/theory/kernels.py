"""The Laplace transform that makes softmax exact: 1/S = int exp(-s S) ds turns the mean of a
function of L coupled weights into one integral over s = e^w of products over tokens.

With A = exp(w + lambda h) for an uninformative score h ~ N(0, 1), and A1 = exp(w + lambda (m kappa
+ gamma x)), x ~ N(0, 1), for the informative one, every power of s is absorbed in A or A1. All
integrals are trapezoidal sums, exponentially accurate because the integrands are analytic in a
strip. The lattice of h is a whole fraction of that of w, so that A has few different values and
each sum over h is a correlation. Status: quadrature.
"""

from typing import NamedTuple

import numpy as np

from saccade.errors import require

from .setting import Array, Setting

LARGEST_EXPONENT = 700.0
TINY = 1e-300
MOST_NODES = 200_000
DENSE = 4  # lattice points a step of w beyond which a matrix has fewer entries


class Rule(NamedTuple):
    """Steps in w, largest step in h or x, range in standard deviations, room on the left of w."""

    step: float
    widest: float
    cut: float
    left: float


ROUGH = Rule(0.42, 0.75, 6.8, 22.0)  # about 1e-8
FINE = Rule(0.28, 0.62, 8.2, 31.0)  # about 1e-12
FINEST = Rule(0.23, 0.5, 8.9, 37.0)  # about 1e-14


class Others(NamedTuple):
    """Means over one uninformative score h, on the nodes of w: log E e^-A, and g1 = E[A e^-A], h1 =
    E[h A e^-A], g2 = E[A^2 e^-A], h2 = E[h A^2 e^-A], hh2 = E[h^2 A^2 e^-A]."""

    log_phi: Array
    g1: Array
    h1: Array
    g2: Array
    h2: Array
    hh2: Array


class Informative(NamedTuple):
    """Means over x for j = 0..3 on the nodes of w: E[x^j e^-A1], E[x^j A1 e^-A1], E[x^j A1^2
    e^-A1]."""

    none: Array
    once: Array
    twice: Array


def nodes(setting: Setting, kappa: Array, rule: Rule) -> Array:
    """The lattice of w that serves all of the kappas: it follows the exponential tilt of the
    integrands, far to the left for large scores and to the right for small ones."""
    lam, gamma, shift = setting.inverse_temperature, setting.gamma, setting.shift
    spread = lam * gamma
    low = min(
        -lam * shift * np.max(kappa) - spread * rule.cut, -np.log(setting.others) - lam**2 / 2)
    high = min(
        lam * _depth(setting, rule), -lam * shift * np.min(kappa) + spread * (rule.cut + 2 * spread)
    )
    count = np.ceil((high + 4.5 - low + rule.left) / rule.step) + 1
    require(
        count <= MOST_NODES, "inverse_temperature * sqrt(dim / 2)", lam * shift,
        f"is too large: one table for all angles would need more than {MOST_NODES} nodes")
    return low - rule.left + rule.step * np.arange(int(count))


def _depth(setting: Setting, rule: Rule) -> float:
    """How far down scores of the others matter: where the layer looks away, E[1/S^2] weighs low
    scores, by 2 lambda if there is one other token, by a share of it if there are several."""
    return rule.cut + 2 * setting.inverse_temperature / setting.others


class _Lattice(NamedTuple):
    """Normal weights on a lattice of h whose steps times `scale` divide the step in w."""

    values: Array
    weights: Array
    per_step: int
    first: int


def _lattice(scale: float, low: float, high: float, rule: Rule) -> _Lattice:
    per_step = int(np.ceil(rule.step / (scale * rule.widest)))
    step = rule.step / (per_step * scale)
    first = int(np.floor(low / step))
    values = step * np.arange(first, int(np.ceil(high / step)) + 1)
    weights = step * np.exp(-(values**2) / 2) / np.sqrt(2 * np.pi)
    return _Lattice(values, weights, per_step, first)


def _exponents(w: Array, lattice: _Lattice, rule: Rule, scale: float, offset: float) -> Array:
    """u = w + offset + scale h: on the joint lattice, from its lowest value on; where that is finer
    than it need be, as a matrix over (w, h)."""
    first = w[0] + offset
    if lattice.per_step > DENSE:
        u = (w + offset)[:, None] + scale * lattice.values
    else:
        count = (len(w) - 1) * lattice.per_step + len(lattice.values)
        places = np.arange(count) + lattice.first
        u = first + rule.step / lattice.per_step * places
    return np.minimum(u, LARGEST_EXPONENT)


def _mean(values: Array, lattice: _Lattice, power: int) -> Array:
    """E[h^power f(w + scale h)] on the nodes of w, for f on the joint lattice or over (w, h)."""
    weights = lattice.weights * lattice.values**power
    if values.ndim == 2:
        return values @ weights
    return np.correlate(values, weights, "valid")[:: lattice.per_step]


def _score_lattice(setting: Setting, w: Array, rule: Rule) -> tuple[_Lattice, Array]:
    """The lattice of h, whose upper end follows the tilt by up to 2 lambda, and the exponents."""
    lam = setting.inverse_temperature
    reach = rule.cut + max(0.0, min(2 * lam, -w[0] / lam))
    lattice = _lattice(lam, -_depth(setting, rule), reach, rule)
    return lattice, _exponents(w, lattice, rule, lam, 0.0)


def uninformative(setting: Setting, w: Array, rule: Rule) -> Others:
    """The means over h."""
    lattice, u = _score_lattice(setting, w, rule)
    A = np.exp(u)
    once, twice = np.exp(u - A), np.exp(2 * u - A)
    # From 1 - phi where phi is near one: N log(phi) would lose N times the rounding.
    missing, phi = _mean(-np.expm1(-A), lattice, 0), _mean(np.exp(-A), lattice, 0)
    near_one = missing < 0.5
    log_phi = np.where(
        near_one, np.log1p(-np.where(near_one, missing, 0.0)), np.log(np.maximum(phi, TINY)))
    return Others(
        log_phi, *(_mean(once, lattice, j) for j in (0, 1)),
        *(_mean(twice, lattice, j) for j in (0, 1, 2)))


def third_score(setting: Setting, w: Array, rule: Rule) -> Array:
    """E[h A^3 e^-A] on the nodes of w, for derivatives by lambda."""
    lattice, u = _score_lattice(setting, w, rule)
    return _mean(np.exp(3 * u - np.exp(u)), lattice, 1)


def informative(setting: Setting, kappa: float, w: Array, rule: Rule) -> Informative:
    """The means over x, on a symmetric lattice, so that odd moments of a constant vanish."""
    spread = setting.inverse_temperature * setting.gamma
    offset = setting.inverse_temperature * setting.shift * kappa
    reach = rule.cut + 2 * spread
    lattice = _lattice(spread, -reach, reach, rule)
    u = _exponents(w, lattice, rule, spread, offset)
    A = np.exp(u)
    kept, once, twice = np.exp(-A), np.exp(u - A), np.exp(2 * u - A)
    lost = np.expm1(-A)
    early = w + offset < 1  # where e^-A1 is nearly one, odd means are taken of e^-A1 - 1
    none = [
        np.where(early, _mean(lost, lattice, j), _mean(kept, lattice, j)) if j % 2
        else _mean(kept, lattice, j) for j in range(4)]
    return Informative(
        np.stack(none), np.stack([_mean(once, lattice, j) for j in range(4)]),
        np.stack([_mean(twice, lattice, j) for j in range(4)]))
