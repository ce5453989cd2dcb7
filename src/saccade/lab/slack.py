"""How much room a verdict has: by what factor the prediction could be multiplied before the claim
would no longer hold, how far it could be moved, and by how much a bound holds.

A bound that holds by a factor of a thousand says little; one that holds whatever is predicted says
nothing, and is called loose. So is an ordering. No factor moves a prediction of zero: there the
room is counted in resolutions.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from saccade.lab.kinds import Kind

LOOSE = 10.0
"""A bound or an ordering is loose when its prediction may move by this factor, or from zero by this
many resolutions, towards the measurement, and the claim still holds."""


class Slack(NamedTuple):
    """The claim holds for predictions from `low` to `high` times the stated one (None where nothing
    limits it, or where the prediction is zero and no factor moves it). `share` is measured /
    predicted; `factor` the one by which a bound or an ordering could be sharpened (None for a
    prediction within a resolution of zero); `room` how far the prediction could be moved towards
    failing, and `resolutions` the same in resolutions, if there is one."""

    low: float | None
    high: float | None
    share: float | None
    factor: float | None
    room: float
    resolutions: float | None
    loose: bool


def slack(kind: "Kind", part: Mapping[str, Any]) -> Slack | None:
    """The slack of one part of a row that holds; None for one that does not.

    The allowed region of measured minus predicted is `kind.region(resolution)` = [a, b], so a
    prediction p is held by the interval [l, h] iff h - b <= p <= l - a.
    """
    predicted, (low, high) = part["prediction"], part["interval"]
    if part["verdict"] != "holds" or None in (predicted, low, high):
        return None
    resolution = part["resolution"] or 0.0
    a, b = kind.region(resolution)
    least, most = high - b, low - a
    room = max(0.0, min(predicted - least, most - predicted))
    one_sided = math.isinf(a) or math.isinf(b)
    by_factor = abs(predicted) > resolution
    low_factor, high_factor = _factors(least, most, predicted)
    factor = _sharper(low_factor, high_factor) if one_sided and by_factor else None
    unit = resolution or high - low
    far = (factor or math.inf) >= LOOSE if by_factor else room > 0 and room >= LOOSE * unit
    return Slack(
        low_factor, high_factor, _ratio(part["measurement"], predicted), factor, room,
        _ratio(room, resolution), one_sided and far)


def _ratio(above: float | None, below: float) -> float | None:
    return None if above is None or below == 0 else above / below


def _factors(least: float, most: float, predicted: float) -> tuple[float | None, float | None]:
    """The factors between which the prediction could be multiplied."""
    if predicted == 0:
        return None, None
    ends = [end / predicted if math.isfinite(end) else None for end in (least, most)]
    low, high = ends if predicted > 0 else ends[::-1]
    return (low if low is not None and low > 0 else None), high


def _sharper(low: float | None, high: float | None) -> float | None:
    """By what factor a prediction with one end could move to it."""
    return high if high is not None else 1 / low if low else None


def loose_parts(row: Mapping[str, Any]) -> list[str]:
    """The parts of a row that are loose, also where the one that decided is not."""
    return [
        part["part"] for part in row.get("parts") or [] if (part.get("slack") or {}).get("loose")]


def loose_words(row: Mapping[str, Any]) -> str:
    """Whether a row is loose, in a word, or how many of its parts are; empty for none."""
    if (row.get("slack") or {}).get("loose"):
        return "loose"
    loose, parts = loose_parts(row), row.get("parts") or []
    return f"{len(loose)} of {len(parts)} parts loose" if loose else ""


def words(slack: Mapping[str, Any] | None) -> str:
    """The slack of a row in a word or two; rows of old ledgers lack some of it."""
    known = slack or {}
    factor, resolutions, room = (known.get(name) for name in ("factor", "resolutions", "room"))
    loose = " loose" if known.get("loose") else ""
    if factor is not None:
        return f"×{factor:.3g}{loose}"
    if resolutions is not None:
        return f"{resolutions:.3g} res{loose}"
    return (f"{room:.2g}{loose}" if room is not None else loose.strip()) or "-"
