"""Verdicts on claims: holds, refuted or undecided, from intervals whose errors add up to less than 1 % over a whole ledger.

The promise: the chance that a ledger of up to `LEDGER_CAPACITY` true claims refutes any of them stays below `LEDGER_ERROR`. It is kept by
a union bound over claims, components of a claim and looks at growing numbers of replicates (`look_error`). A true claim
is one whose truth lies within the resolution of its prediction, edge included; a refutation then needs an interval that misses the
truth on one given side, which costs half of the error. The price in power: with N replicates of standard deviation s in
all, a truth at twice the resolution is refuted more than 99 % of the time once the resolution is at least 9 s / sqrt(N)
(medians of normal replicates: 10 s / sqrt(N)); both measured in the tests.
"""

from typing import Iterable, NamedTuple, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saccade.errors import require, unknown
from saccade.lab.intervals import (
    MIN_REPLICATES,
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
    "HOLDS", "KINDS", "LEDGER_CAPACITY", "LEDGER_ERROR", "MIN_REPLICATES", "REFUTED", "SIDES", "UNDECIDED",
    "Interval", "Judgement", "combine", "decide", "decisions", "exact_interval", "fraction_interval", "interval", "intervals",
    "judge", "look_error", "mean_interval", "median_interval", "quantile_interval",
]  # fmt: skip

HOLDS, REFUTED, UNDECIDED = "holds", "refuted", "undecided"
KINDS = ("estimate", "slope", "bound", "ordering", "identity")
SIDES = ("below", "above")

LEDGER_ERROR = 0.01
LEDGER_CAPACITY = 512
"""How many claims the error is split over: fixed, so that a claim's interval does not depend on which others are run."""


class Judgement(NamedTuple):
    """What one look at a claim says: its verdict, an interval for each component, looks so far, replicates, components decided."""

    verdict: str
    intervals: list[Interval]
    looks: int
    replicates: int
    decided_parts: int


def look_error(look: int, parts: int = 1) -> float:
    """Error allowed to one of `parts` components at look 0, 1, 2, ..: half of the claim's share, then a quarter, an eighth, .."""
    require(look >= 0, "look", look, "must be at least 0")
    require(parts >= 1, "parts", parts, "must be at least 1")
    return LEDGER_ERROR / LEDGER_CAPACITY / parts * 2.0 ** -(look + 1)


def decisions(
    kind: str, measured: Interval, prediction: ArrayLike, resolution: ArrayLike, side: str | None = None
) -> NDArray[np.str_]:
    """`decide` on arrays of intervals, predictions and resolutions that broadcast together."""
    if kind not in KINDS:
        raise unknown("kind of claim", kind, KINDS)
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
    nothing_finite = np.isnan(low) | np.isnan(high)
    return np.select([nothing_finite, holds, refuted], [REFUTED, HOLDS, REFUTED], UNDECIDED)


def decide(kind: str, interval: Interval, prediction: float, resolution: float, side: str | None = None) -> str:
    """The verdict of one interval on one prediction.

    estimate, slope: holds inside prediction +- resolution, refuted wholly outside.
    bound: measured <= prediction ("below") or >= ("above"), with the resolution as slack: holds if the whole interval satisfies it,
    refuted if none of it does.
    ordering: a paired difference above prediction: holds if all of the interval is above; else refuted if all of it is below
    prediction + resolution, so that the promise is to differences of at least that much.
    identity: holds if |measured - prediction| <= resolution at both ends, else refuted.
    Anything between is undecided; NaN ends (nothing finite was measured) are refuted.
    """
    return str(decisions(kind, interval, prediction, resolution, side))


def combine(verdicts: Iterable[str]) -> str:
    """One verdict for several components: refuted if any is, else undecided if any is, else holds."""
    found = set(verdicts)
    return REFUTED if REFUTED in found else UNDECIDED if UNDECIDED in found else HOLDS


def judge(
    kind: str,
    samples: ArrayLike,
    predictions: ArrayLike,
    resolutions: ArrayLike,
    statistic: str,
    look: int,
    side: str | None = None,
) -> Judgement:
    """Judge all replicates so far, `(n, parts)`, at look 0, 1, 2, ..; an identity is always judged by the statistic "exact"."""
    columns = np.asarray(samples, dtype=float)
    columns = columns[:, None] if columns.ndim == 1 else columns
    require(columns.ndim == 2 and columns.size > 0, "samples", columns.shape, "must have shape (replicates, parts), none of them 0")
    replicates, parts = columns.shape
    prediction, resolution = _per_part("predictions", predictions, parts), _per_part("resolutions", resolutions, parts)
    require(bool(np.all(resolution >= 0)), "resolutions", resolution.tolist(), "must be at least 0")
    measured = intervals(columns.T, "exact" if kind == "identity" else statistic, look_error(look, parts))
    verdicts = decisions(kind, measured, prediction, resolution, side).tolist()
    return Judgement(combine(verdicts), _by_part(measured), look + 1, replicates, sum(verdict != UNDECIDED for verdict in verdicts))


def _per_part(name: str, values: ArrayLike, parts: int) -> NDArray:
    """One finite number for each component; a single number serves them all."""
    numbers = np.asarray(values, dtype=float)
    require(numbers.ndim == 0 or numbers.shape in ((1,), (parts,)), name, numbers.tolist(), f"must be {parts} numbers, one for each part")
    require(bool(np.all(np.isfinite(numbers))), name, numbers.tolist(), "must be finite")
    return np.broadcast_to(numbers, (parts,))


def _by_part(measured: Interval) -> list[Interval]:
    columns: Sequence[list[float]] = [np.asarray(end).tolist() for end in measured]
    return [Interval(*ends) for ends in zip(*columns, strict=True)]
