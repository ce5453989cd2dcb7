"""The kinds of claims. Each says how a measured interval holds or refutes it, which values are
allowed, how far a measurement is from failing, and the words for its drawing.

    ESTIMATE, SLOPE   the number is the prediction, within the resolution
    IDENTITY          the same for numbers known to rounding: anything else refutes it
    BELOW, ABOVE      a bound, with the resolution as slack
    ORDERING          a paired difference lies above the prediction; the promise is to differences
                      of at least the resolution
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from saccade.errors import InvalidInput, unknown

Numbers = NDArray[Any]


@dataclass(frozen=True)
class Kind:
    """`holds(low, high, slack)` and `refuted(low, high, slack)` take the ends of an interval minus
    the prediction, as arrays; `region(slack)` gives the allowed values minus the prediction;
    `excess(low, high)` is large for an interval near to failing."""

    name: str
    side: str | None
    holds: Callable[[Numbers, Numbers, Numbers], Numbers]
    refuted: Callable[[Numbers, Numbers, Numbers], Numbers]
    region: Callable[[float], tuple[float, float]]
    excess: Callable[[float, float], float]
    rule: str


def _inside(low: Numbers, high: Numbers, slack: Numbers) -> Numbers:
    return (low >= -slack) & (high <= slack)


def _outside(low: Numbers, high: Numbers, slack: Numbers) -> Numbers:
    return (low > slack) | (high < -slack)


def _around(slack: float) -> tuple[float, float]:
    return -slack, slack


def _farther(low: float, high: float) -> float:
    return max(abs(low), abs(high))


_USUAL = "prediction ± resolution: all of the interval must lie here"
_BOUND = "allowed by the bound, with the resolution as slack"

ESTIMATE = Kind("estimate", None, _inside, _outside, _around, _farther, _USUAL)
SLOPE = Kind("slope", None, _inside, _outside, _around, _farther, _USUAL)
IDENTITY = Kind(
    "identity", None, _inside, lambda low, high, slack: ~_inside(low, high, slack), _around,
    _farther, "prediction ± resolution: the number must lie here")
BELOW = Kind(
    "bound", "below", lambda low, high, slack: high <= slack, lambda low, high, slack: low > slack,
    lambda slack: (-math.inf, slack), lambda low, high: high, _BOUND)
ABOVE = Kind(
    "bound", "above", lambda low, high, slack: low >= -slack,
    lambda low, high, slack: high < -slack, lambda slack: (-slack, math.inf),
    lambda low, high: -low, _BOUND)
ORDERING = Kind(
    "ordering", None, lambda low, high, slack: low > 0, lambda low, high, slack: high < slack,
    lambda slack: (0.0, math.inf), lambda low, high: -low,
    "the predicted order: all of the interval must lie here")

KINDS = (ESTIMATE, SLOPE, BELOW, ABOVE, ORDERING, IDENTITY)


def kind_named(name: str, side: str | None = None) -> Kind:
    """The kind that a row of a ledger names; a bound needs a side."""
    found = [kind for kind in KINDS if kind.name == name]
    if not found:
        raise unknown("kind of claim", name, dict.fromkeys(kind.name for kind in KINDS))
    fitting = [kind for kind in found if kind.side in (side, None)]
    if not fitting:
        raise InvalidInput(f"side = {side!r} must be 'below' or 'above' for a bound.")
    return fitting[0]
