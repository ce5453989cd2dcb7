"""How much room a verdict has: by what factor the prediction could be multiplied before the claim
would no longer hold, and by how much a bound holds.

A bound that holds by a factor of a thousand says little; one that holds whatever is predicted says
nothing, and is called loose.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from saccade.lab.kinds import Kind

LOOSE = 10.0
"""A bound is loose when its prediction may move by this factor, towards the measurement, and the
claim still holds."""


class Slack(NamedTuple):
    """The claim holds for predictions from `low` to `high` times the stated one (None where nothing
    limits it, or where the prediction is zero and no factor moves it); `share` is measured /
    predicted."""

    low: float | None
    high: float | None
    share: float | None

    @property
    def is_loose(self) -> bool:
        """Whether the nearer end is `LOOSE` or more away: for a bound the only end there is."""
        ends = [end for end in (self.low, self.high) if end is not None]
        return not ends or all(end <= 1 / LOOSE or end >= LOOSE for end in ends)


def slack(kind: Kind, part: Mapping[str, Any]) -> Slack | None:
    """The slack of one part of a row that holds; None for one that does not.

    The allowed region of measured minus predicted is `kind.region(resolution)` = [a, b], so a
    prediction f p is held by the interval [l, h] iff h - b <= f p <= l - a.
    """
    predicted, (low, high) = part["prediction"], part["interval"]
    if part["verdict"] != "holds" or None in (predicted, low, high):
        return None
    a, b = kind.region(part["resolution"] or 0.0)
    if predicted == 0:
        return Slack(None, None, None)
    ends = [_factor(high - b, predicted), _factor(low - a, predicted)]
    least, most = ends if predicted > 0 else ends[::-1]
    estimate = part["measurement"]
    return Slack(
        least if least is not None and least > 0 else None, most,
        None if estimate is None else estimate / predicted)


def _factor(value: float, predicted: float) -> float | None:
    return value / predicted if math.isfinite(value) else None
