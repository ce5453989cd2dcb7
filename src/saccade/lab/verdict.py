"""Verdicts on claims: holds, refuted or undecided, from intervals whose errors add up to less than
1 % over a ledger.

The promise: the chance that a ledger of true claims refutes any of them stays below `LEDGER_ERROR`,
as long as no more than `LEDGER_CAPACITY` of them spend any of it: a claim judged by its mean, a
quantile or a fraction has an interval that may miss, one whose statistic is "exact" has none. It is
kept by a union bound over claims, components of a claim and looks at growing numbers of replicates
(`look_error`). A true claim is one whose truth lies within the resolution of its prediction, edges
included; to refute it an interval has to miss the truth on one given side.

The price: a truth at twice the resolution is refuted more than 99 % of the time within a budget of
N replicates, reached by doubling, once the resolution is 9 standard deviations over sqrt(N) for a
mean or a fraction; for a q-quantile, once the chance of a replicate within one resolution of it, on
either side, is 9 sqrt(q (1 - q) / N). The tests measure promise and price.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saccade.errors import require
from saccade.lab.intervals import Ends, Interval, intervals
from saccade.lab.kinds import IDENTITY, Kind

HOLDS, REFUTED, UNDECIDED = "holds", "refuted", "undecided"

LEDGER_ERROR = 0.01
LEDGER_CAPACITY = 512
"""How many claims that spend (`spends`) the error is split over: fixed, so that a claim's interval
does not depend on what else is run. A ledger may have any number of exact ones besides."""


def spends(kind: Kind, statistic: str) -> bool:
    """Whether a claim is judged by an interval that may miss."""
    return kind is not IDENTITY and statistic != "exact"


class Judgement(NamedTuple):
    """What one look at a claim says: the verdict, looks and replicates so far, and an interval and
    a verdict for each of its components."""

    verdict: str
    intervals: list[Interval]
    looks: int
    replicates: int
    verdicts: list[str]


def look_error(look: int, parts: int = 1) -> float:
    """Error allowed to one of `parts` components at look 0, 1, 2, ..: a half, a quarter, .. of the
    claim's share."""
    require(look >= 0, "look", look, "must be at least 0")
    require(parts >= 1, "parts", parts, "must be at least 1")
    return LEDGER_ERROR / LEDGER_CAPACITY / parts * 2.0 ** -(look + 1)


def decisions(
    kind: Kind, measured: Interval | Ends, prediction: ArrayLike, resolution: ArrayLike
) -> NDArray[np.str_]:
    """`decide` on arrays of intervals, predictions and resolutions that broadcast together."""
    with np.errstate(invalid="ignore"):  # an infinite end minus an infinite prediction: NaN
        low = np.subtract(measured.low, prediction)
        high = np.subtract(measured.high, prediction)
    slack = np.asarray(resolution, dtype=float)
    nothing_to_compare = np.isnan(low) | np.isnan(high)
    return np.select(
        [nothing_to_compare, kind.holds(low, high, slack), kind.refuted(low, high, slack)],
        [REFUTED, HOLDS, REFUTED], UNDECIDED)


def decide(kind: Kind, interval: Interval, prediction: float, resolution: float) -> str:
    """The verdict of one interval on one prediction, by the rule of its kind (see `lab.kinds`).

    What neither holds nor is refuted is undecided; NaN ends (nothing finite was measured) or a NaN
    prediction are refuted.
    """
    return str(decisions(kind, interval, prediction, resolution))


def combine(verdicts: Iterable[str]) -> str:
    """One verdict for several components: refuted if any is, else undecided if any is, else
    holds."""
    found = set(verdicts)
    return REFUTED if REFUTED in found else UNDECIDED if UNDECIDED in found else HOLDS


def judge(
    kind: Kind, samples: ArrayLike, predictions: ArrayLike, resolutions: ArrayLike, statistic: str,
    look: int,
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
        columns.T, statistic if spends(kind, statistic) else "exact", look_error(look, parts))
    verdicts = decisions(kind, measured, prediction, resolution).tolist()
    return Judgement(combine(verdicts), _by_part(measured), look + 1, replicates, verdicts)


def _per_part(name: str, values: ArrayLike, parts: int) -> NDArray:
    """One number for each component; a single number serves them all."""
    numbers = np.asarray(values, dtype=float)
    fits = numbers.shape in ((), (1,), (parts,))
    require(
        fits, name, numbers.tolist(), f"must hold one number, or one for each of the {parts} parts")
    return np.broadcast_to(numbers, (parts,))


def _by_part(measured: Ends) -> list[Interval]:
    return [Interval(*numbers) for numbers in zip(*(end.tolist() for end in measured), strict=True)]
