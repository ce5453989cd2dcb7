"""The Laplace transform that makes softmax exact: 1/S = int exp(-s S) ds turns the mean of a
function of L coupled weights into one integral over s = e^w of products over tokens.

With A = exp(w + lambda h) for an uninformative score h ~ N(0, 1), and A1 = exp(w + lambda (m kappa
+ gamma x)), x ~ N(0, 1), for the informative one, every power of s is absorbed in A or A1. All
integrals are trapezoidal sums, exponentially accurate because the integrands are analytic in a
strip. The lattice of h is a whole fraction of that of w, so that A has few different values and
each sum over h is a correlation; for many nodes it is one over the band of A in which 1 - e^-A is
neither A nor one, and running sums beyond. Status: quadrature.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from saccade.errors import require

from .setting import Array, Setting

LARGEST_EXPONENT = 700.0
TINY = 1e-300
MOST_NODES = 200_000
DENSE = 4  # lattice points a step of w beyond which a matrix has fewer entries
LONG = 4  # nodes of w, in widths of the band, beyond which only the band is summed
NIL, FULL = -40.0, 6.62  # log A below which 1 - e^-A is A, and above which e^-A is nil


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
        f"is too large: the integrals would need more than {MOST_NODES} nodes")
    return low - rule.left + rule.step * np.arange(int(count))


def _depth(setting: Setting, rule: Rule) -> float:
    """How far down scores of the others matter: where the layer looks away, E[1/S^2] weighs low
    scores, by 2 lambda if there is one other token, by a share of it if there are several."""
    return rule.cut + 2 * setting.inverse_temperature / setting.others


class Shape(NamedTuple):
    """A function of u = log A: A^nil below NIL, the constant `full` above FULL."""

    of: Callable[[Array], Array]
    nil: int
    full: float = 0.0


KEPT = Shape(lambda u: np.exp(-np.exp(u)), 0)
MISSING = Shape(lambda u: -np.expm1(-np.exp(u)), 1, 1.0)
ONCE = Shape(lambda u: np.exp(u - np.exp(u)), 1)
TWICE = Shape(lambda u: np.exp(2 * u - np.exp(u)), 2)
THRICE = Shape(lambda u: np.exp(3 * u - np.exp(u)), 3)


class _Scores:
    """Means over a normal number h of functions of u = w + offset + scale h, on the nodes of w. The
    steps of the lattice of h, times `scale`, divide the step in w."""

    def __init__(
        self, w: Array, rule: Rule, scale: float, ends: tuple[float, float], offset: float = 0.0
    ) -> None:
        self.per_step = int(np.ceil(rule.step / (scale * rule.widest)))
        self.start, self.scale, self.step = w + offset, scale, rule.step / self.per_step
        apart = self.step / scale
        self.first = int(np.floor(ends[0] / apart))
        self.values = apart * np.arange(self.first, int(np.ceil(ends[1] / apart)) + 1)
        self.weights = self._normal(0.0)

    def _normal(self, centre: float) -> Array:
        """Weights of a normal number around `centre` on the lattice of h."""
        heights = np.exp(-((self.values - centre) ** 2) / 2) / np.sqrt(2 * np.pi)
        return self.step / self.scale * heights

    def means(self, shape: Shape, powers: Sequence[int]) -> list[Array]:
        """E[h^power f(u)] for each power."""
        weights = [self.weights * self.values**power for power in powers]
        if self.per_step > DENSE:
            f = shape.of(
                np.minimum(self.start[:, None] + self.scale * self.values, LARGEST_EXPONENT))
            return [f @ one for one in weights]
        if len(self.start) * self.step > LONG * (FULL - NIL):
            return [self._by_band(shape, *pair) for pair in zip(powers, weights, strict=True)]
        places = self.first + np.arange((len(self.start) - 1) * self.per_step + len(self.values))
        f = shape.of(np.minimum(self.start[0] + self.step * places, LARGEST_EXPONENT))
        return [np.correlate(f, one, "valid")[:: self.per_step] for one in weights]

    def _by_band(self, shape: Shape, power: int, weights: Array) -> Array:
        """At each w the lattice has three ranges: A nil, in the band, huge."""
        width, size = int(np.ceil((FULL - NIL) / self.step)), len(weights)
        lowest = int(np.floor((NIL - self.start[0]) / self.step))
        band = shape.of(self.start[0] + self.step * (lowest + np.arange(width)))
        begins = lowest - self.first - self.per_step * np.arange(len(self.start))
        sums = np.correlate(np.pad(weights, width), band, "valid")
        total = sums[np.clip(begins + width, 0, size + width)]
        total = total + self._nil(shape.nil, power)(np.clip(begins, 0, size))
        if shape.full:
            above = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
            total = total + shape.full * above[np.clip(begins + width, 0, size)]
        return total

    def _nil(self, order: int, power: int) -> Callable[[Array], Array]:
        """sum of h^power A^order over the first points of the lattice: A tilts the normal weights
        to around order * scale. Logarithms, since the tilt alone may be no number."""
        tilt = order * self.scale
        below = np.append(0.0, np.cumsum(self._normal(tilt) * self.values**power))
        size = order * self.start + tilt**2 / 2

        def at(count: Array) -> Array:
            sums = below[count]
            there = np.abs(sums) > 0
            logs = np.log(np.where(there, np.abs(sums), 1.0)) + size
            return np.where(there, np.sign(sums) * np.exp(np.where(there, logs, 0.0)), 0.0)

        return at


def _other_scores(setting: Setting, w: Array, rule: Rule) -> _Scores:
    """The scores h of the others, whose upper end follows the tilt by up to 2 lambda."""
    lam = setting.inverse_temperature
    reach = rule.cut + max(0.0, min(2 * lam, -w[0] / lam))
    return _Scores(w, rule, lam, (-_depth(setting, rule), reach))


def uninformative(setting: Setting, w: Array, rule: Rule) -> Others:
    """The means over h."""
    scores = _other_scores(setting, w, rule)
    # From 1 - phi where phi is near one: N log(phi) would lose N times the rounding.
    (missing,), (phi,) = scores.means(MISSING, (0,)), scores.means(KEPT, (0,))
    near_one = missing < 0.5
    log_phi = np.where(
        near_one, np.log1p(-np.where(near_one, missing, 0.0)), np.log(np.maximum(phi, TINY)))
    return Others(log_phi, *scores.means(ONCE, (0, 1)), *scores.means(TWICE, (0, 1, 2)))


def third_score(setting: Setting, w: Array, rule: Rule) -> Array:
    """E[h A^3 e^-A] on the nodes of w, for derivatives by lambda."""
    return _other_scores(setting, w, rule).means(THRICE, (1,))[0]


def informative(setting: Setting, kappa: float, w: Array, rule: Rule) -> Informative:
    """The means over x, on a symmetric lattice, so that odd moments of a constant vanish."""
    spread = setting.inverse_temperature * setting.gamma
    offset = setting.inverse_temperature * setting.shift * kappa
    reach = rule.cut + 2 * spread
    scores = _Scores(w, rule, spread, (-reach, reach), offset)
    none, missing = scores.means(KEPT, range(4)), scores.means(MISSING, (1, 3))
    early = w + offset < 1  # where e^-A1 is nearly one, odd means are taken of e^-A1 - 1
    for power, one in zip((1, 3), missing, strict=True):
        none[power] = np.where(early, -one, none[power])
    return Informative(
        np.stack(none), *(np.stack(scores.means(shape, range(4))) for shape in (ONCE, TWICE)))
