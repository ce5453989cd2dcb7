"""Where things go when an interval is drawn against its prediction: positions only, the templates
hold the ink.

`draw_to_scale` is the large drawing of a claim's page, true to scale. `glyph` is the small one of
tables: distances are in units of the resolution, and what lies beyond three of them becomes an
arrow.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from saccade.errors import InvalidInput
from saccade.lab.kinds import ESTIMATE, Kind, kind_named
from saccade.report.words import finite, number

WIDTH, MARGIN = 440.0, 22.0
GLYPH_WIDTH, GLYPH_REACH = 96.0, 3.0


class Tick(NamedTuple):
    x: float
    label: str


class Drawing(NamedTuple):
    """`band` is where the claim holds (left, width); it and `interval` are cut at the frame."""

    ticks: list[Tick]
    title: str
    band: tuple[float, float]
    prediction: float
    interval: tuple[float, float] | None
    measurement: float | None
    rule: str
    words: str


class Glyph(NamedTuple):
    """The small drawing; `beyond` is -1 or 1 when the measurement lies outside the frame."""

    band: tuple[float, float]
    prediction: float
    interval: tuple[float, float] | None
    measurement: float
    beyond: int


def _short(place: float) -> float:
    """A tenth of a point is finer than a screen; whole numbers are written without a point."""
    near = round(float(place), 1)
    return int(near) if near.is_integer() else near


def _kind(row: Mapping[str, Any]) -> Kind:
    """The kind that a row names; an unknown one, or a bound without side, is an estimate."""
    try:
        return kind_named(row.get("kind") or "", row.get("side"))
    except InvalidInput:
        return ESTIMATE


def region(row: Mapping[str, Any], prediction: float, resolution: float) -> tuple[float, float]:
    """The values for which the claim holds; an end may be infinite."""
    low, high = _kind(row).region(resolution)
    return prediction + low, prediction + high


def draw_to_scale(row: Mapping[str, Any]) -> Drawing | None:
    """The large drawing, or None where there is no finite prediction and measurement to draw."""
    prediction, measured = finite(row["prediction"]), finite(row["measurement"])
    if prediction is None or (measured is None and not row["interval"]):
        return None
    resolution = finite(row["resolution"]) or 0.0
    ends = [finite(end) for end in row["interval"] or ()]
    shown = [prediction, prediction - resolution, prediction + resolution, measured, *ends]
    low, high = _frame([value for value in shown if value is not None])
    if not math.isfinite(high - low):
        return None

    def place(value: float) -> float:
        inside = min(max(value, low), high)
        return _short(MARGIN + (inside - low) / (high - low) * (WIDTH - 2 * MARGIN))

    left, right = map(place, region(row, prediction, resolution))
    ticks, title = _ticks(low, high, prediction, place)
    return Drawing(
        ticks, title, (left, _short(max(right - left, 1.5))), place(prediction),
        _stretch(ends, place), None if measured is None else place(measured), _kind(row).rule,
        f"Prediction {number(prediction)}, resolution {number(resolution)}, measured"
        f" {number(measured)}.")


def _frame(values: list[float]) -> tuple[float, float]:
    """The stretch of the axis that is shown: everything, with a little air; never empty."""
    low, high = min(values), max(values)
    tiny = 4 * math.ulp(max(abs(low), abs(high)))
    air = 0.08 * (high - low) if high - low > tiny else max(1e-3 * abs(high), tiny, 1e-12)
    return low - air, high + air


def _stretch(ends: list[float | None], place: Any) -> tuple[float, float] | None:
    """An interval's two positions, an end without a number at the frame; None without any end."""
    if len(ends) != 2 or ends == [None, None]:
        return None
    low, high = ends
    return place(-math.inf if low is None else low), place(math.inf if high is None else high)


def _ticks(low: float, high: float, prediction: float, place: Any) -> tuple[list[Tick], str]:
    """At most five round numbers; differences where six digits could not tell values apart."""
    fine = high - low < 1e-3 * abs(prediction)
    shift = prediction if fine else 0.0
    step = _round_step((high - low) / 4)
    first, last = math.ceil((low - shift) / step), math.floor((high - shift) / step)
    marks = [index * step for index in range(first, last + 1)]
    title = "difference from the prediction" if fine else "value"
    return [Tick(place(mark + shift), number(mark, 4)) for mark in marks], title


def _round_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next((factor * power for factor in (1, 2, 5) if factor * power >= rough), 10 * power)


def glyph(row: Mapping[str, Any]) -> Glyph | None:
    """The small drawing, or None where there is nothing finite to draw. Without a resolution the
    measurement sets the unit."""
    prediction, measured = finite(row["prediction"]), finite(row["measurement"])
    if prediction is None or measured is None:
        return None
    resolution = finite(row["resolution"]) or 0.0
    unit = resolution or abs(measured - prediction) / 2 or 1.0

    def place(value: float) -> float:
        reach = min(max((value - prediction) / unit, -GLYPH_REACH), GLYPH_REACH)
        return _short(GLYPH_WIDTH / 2 + reach / GLYPH_REACH * (GLYPH_WIDTH / 2 - 4))

    left, right = map(place, region(row, prediction, resolution))
    away = (measured - prediction) / unit
    beyond = 0 if abs(away) <= GLYPH_REACH else 1 if away > 0 else -1
    ends = [finite(end) for end in row["interval"] or ()]
    return Glyph(
        (left, _short(max(right - left, 1.0))), place(prediction), _stretch(ends, place),
        place(measured), beyond)
