"""Verdicts on claims: holds, refuted or undecided, from intervals whose errors add up to less than
1 % over a ledger.

The promise: the chance that a ledger of up to `LEDGER_CAPACITY` true claims refutes any of them
stays below `LEDGER_ERROR`. It is kept by a union bound over claims, components of a claim and looks
at growing numbers of replicates (`look_error`). A true claim is one whose truth lies within the
resolution of its prediction, edges included; to refute it an interval has to miss the truth on one
given side.

The price: a truth at twice the resolution is refuted more than 99 % of the time within a budget of
N replicates, reached by doubling, once the resolution is 9 standard deviations over sqrt(N) for a
mean or a fraction; for a q-quantile, once the chance of a replicate within one resolution of it, on
either side, is 9 sqrt(q (1 - q) / N). The tests measure promise and price.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saccade.errors import require, unknown
from saccade.lab.intervals import (
    MIN_REPLICATES,
    Ends,
    Interval,
    exact_interval,
    fraction_interval,
    interval,
    intervals,
    mean_interval,
    median_interval,
    quantile_interval,
)

__all__ = [
    "HOLDS", "KINDS", "LEDGER_CAPACITY", "LEDGER_ERROR", "MIN_REPLICATES", "REFUTED", "SIDES",
    "UNDECIDED", "Ends", "Interval", "Judgement", "combine", "decide", "decisions",
    "exact_interval", "fraction_interval", "interval", "intervals", "judge", "look_error",
    "mean_interval", "median_interval", "quantile_interval"]

HOLDS, REFUTED, UNDECIDED = "holds", "refuted", "undecided"
KINDS = ("estimate", "slope", "bound", "ordering", "identity")
SIDES = ("below", "above")

LEDGER_ERROR = 0.01
LEDGER_CAPACITY = 512
"""How many claims the error is split over: fixed, so that a claim's interval does not depend on
what else is run."""


class Judgement(NamedTuple):
    """What one look at a claim says: the verdict, looks and replicates so far, how many components
    are decided, and an interval and a verdict for each of them."""

    verdict: str
    intervals: list[Interval]
    looks: int
    replicates: int
    decided_parts: int
    verdicts: list[str]


def look_error(look: int, parts: int = 1) -> float:
    """Error allowed to one of `parts` components at look 0, 1, 2, ..: a half, a quarter, .. of the
    claim's share."""
    require(look >= 0, "look", look, "must be at least 0")
    require(parts >= 1, "parts", parts, "must be at least 1")
    return LEDGER_ERROR / LEDGER_CAPACITY / parts * 2.0 ** -(look + 1)


def decisions(
    kind: str, measured: Interval | Ends, prediction: ArrayLike, resolution: ArrayLike,
    side: str | None = None,
) -> NDArray[np.str_]:
    """`decide` on arrays of intervals, predictions and resolutions that broadcast together."""
    if kind not in KINDS:
        raise unknown("kind of claim", kind, KINDS)
    with np.errstate(
        invalid="ignore"):  # an infinite end against an infinite prediction: NaN, refuted below
        low, high = np.subtract(measured.low, prediction), np.subtract(measured.high, prediction)
    slack = np.asarray(resolution, dtype=float)
    if kind == "ordering":
        holds, refuted = low > 0, high < slack
    elif kind == "bound":
        require(side in SIDES, "side", side, "must be 'below' or 'above' for a bound")
        over, under = (low, high) if side == "below" else (-high, -low)
        holds, refuted = under <= slack, over > slack
    else:
        holds, refuted = (low >= -slack) & (high <= slack), (low > slack) | (high < -slack)
        refuted = ~holds if kind == "identity" else refuted
    nothing_to_compare = np.isnan(low) | np.isnan(high)
    return np.select([nothing_to_compare, holds, refuted], [REFUTED, HOLDS, REFUTED], UNDECIDED)


def decide(
    kind: str, interval: Interval, prediction: float, resolution: float, side: str | None = None
) -> str:
    """The verdict of one interval on one prediction.

    estimate, slope: holds inside prediction +- resolution, refuted wholly outside.
    bound: measured <= prediction ("below") or >= ("above"), with the resolution as slack: holds if
    the whole interval satisfies it, refuted if none of it does.
    ordering: a paired difference above prediction: holds if all of the interval is above; else
    refuted if all of it is below prediction + resolution, so that the promise is to differences of
    at least that much. identity: holds if |measured - prediction| <= resolution at both ends, else
    refuted. Anything between is undecided; NaN ends (nothing finite was measured) or a NaN
    prediction are refuted.
    """
    return str(decisions(kind, interval, prediction, resolution, side))


def combine(verdicts: Iterable[str]) -> str:
    """One verdict for several components: refuted if any is, else undecided if any is, else
    holds."""
    found = set(verdicts)
    return REFUTED if REFUTED in found else UNDECIDED if UNDECIDED in found else HOLDS


def judge(
    kind: str, samples: ArrayLike, predictions: ArrayLike, resolutions: ArrayLike, statistic: str,
    look: int, side: str | None = None,
) -> Judgement:
    """Judge all replicates so far, `(n, parts)`, at look 0, 1, 2, .. An identity is always judged
    as "exact"."""
    columns = np.asarray(samples, dtype=float)
    columns = columns[:, None] if columns.ndim == 1 else columns
    shape_is_right = columns.ndim == 2 and columns.size > 0
    require(
        shape_is_right, "samples.shape", columns.shape, "must be (replicates, parts), both above 0")
    replicates, parts = columns.shape
    prediction = _per_part("predictions", predictions, parts)
    resolution = _per_part("resolutions", resolutions, parts)
    require(bool(np.all(resolution >= 0)), "resolutions", resolution.tolist(), "must be at least 0")
    measured = intervals(
        columns.T, "exact" if kind == "identity" else statistic, look_error(look, parts))
    verdicts = decisions(kind, measured, prediction, resolution, side).tolist()
    decided = sum(verdict != UNDECIDED for verdict in verdicts)
    return Judgement(combine(verdicts), _by_part(measured), look + 1, replicates, decided, verdicts)


def _per_part(name: str, values: ArrayLike, parts: int) -> NDArray:
    """One number for each component; a single number serves them all."""
    numbers = np.asarray(values, dtype=float)
    fits = numbers.shape in ((), (1,), (parts,))
    require(
        fits, name, numbers.tolist(), f"must hold one number, or one for each of the {parts} parts")
    return np.broadcast_to(numbers, (parts,))


def _by_part(measured: Ends) -> list[Interval]:
    return [Interval(*numbers) for numbers in zip(*(end.tolist() for end in measured), strict=True)]
