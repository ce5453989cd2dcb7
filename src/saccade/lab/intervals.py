"""Honest intervals for what a claim measures, at the very small errors (1e-5 and below) that a
whole ledger needs.

Every interval misses the truth with probability at most `error`, and at most `error / 2` on either
side (a mean: within the limits that `mean_intervals` states). The functions with a plural name work
on arrays `(..., n)` of replicates and return arrays of ends; the singular ones answer for one row
of replicates with plain numbers.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from saccade.errors import require, unknown

STATISTICS = ("mean", "median", "quantile:0.9", "fraction", "exact")

MIN_REPLICATES = 32
"""Fewest replicates from which a mean gets finite ends; the measurements behind the number are in
`mean_intervals`."""

SKEW_RESERVE = 32
"""Student's interval is taken at `error / SKEW_RESERVE`; skewed replicates use up the rest (see
`mean_intervals`)."""


class Interval(NamedTuple):
    """An estimate and the ends of its interval."""

    estimate: float
    low: float
    high: float


class Ends(NamedTuple):
    """Many intervals at once: arrays of one shape."""

    estimate: NDArray
    low: NDArray
    high: NDArray


def mean_intervals(samples: ArrayLike, error: float) -> Ends:
    """Student's interval for the mean, `mean +- t s / sqrt(n)`, taken at level `error /
    SKEW_RESERVE`.

    Status: a bound for normal replicates, measured for others. Far out in its tails Student's own
    interval breaks the promise: the chance of a miss on one side, over `error` = 1e-5, is at n = 32
    (importance sampling) 1.4 for uniform replicates and 2.7, 12, 112 for gamma ones of skewness
    0.5, 1, 2. With the reserve it is 0.09 and 0.15,
    1.2, 25. Over all the looks of a claim that starts with 32 replicates and doubles, skewness 1
    uses 0.91 of the claim's error. So the promise holds from `MIN_REPLICATES` on for replicates
    with one lump and |skewness| <= 1; average more skewed ones in blocks first (k exponentials:
    skewness 2 / sqrt(k)), or judge their median. Two lumps are harder: the mean of two outcomes
    with skewness 0.3, 0.4, 0.6, 1.0 needs 32, 48, 64, 112 replicates at the first look (exact
    sums). Judge a frequency as a `fraction`.

    The ends are infinite below `MIN_REPLICATES`; when some replicates are not finite, for their
    mean says nothing; and when all are equal, for then there is no spread to learn from (a
    deterministic measurement is `exact`, a frequency a `fraction`). When no replicate is finite all
    fields are NaN, which `decide` refutes.
    """
    rows = _rows(samples, error)
    n = rows.shape[-1]
    finite = np.isfinite(rows)
    kept = np.where(finite, rows, 0.0)
    mean = kept.mean(axis=-1)
    half_width = np.full(mean.shape, np.inf)
    if n >= MIN_REPLICATES:
        quantile = -special.stdtrit(n - 1, error / SKEW_RESERVE / 2)
        spread = np.where(np.ptp(kept, axis=-1) > 0, kept.std(axis=-1, ddof=1), np.inf)
        half_width = quantile * spread / np.sqrt(n)
    some_finite, all_finite = finite.any(axis=-1), finite.all(axis=-1)
    half_width = np.where(all_finite, half_width, np.where(some_finite, np.inf, np.nan))
    return Ends(np.where(all_finite, mean, np.nan), mean - half_width, mean + half_width)


def quantile_intervals(samples: ArrayLike, q: float, error: float) -> Ends:
    """Order statistics around the q-quantile, ranked by exact binomial tails. Status: exact bound
    for any distribution.

    +-inf are ordinary values and NaN counts as +inf. An end is infinite while n is too small: at a
    claim's first look a median has finite ends from 18 replicates on, a 0.9-quantile a finite upper
    end from 117.
    """
    require(0 < q < 1, "q", q, "must lie strictly between 0 and 1")
    rows = _rows(samples, error)
    rows = np.sort(np.where(np.isnan(rows), np.inf, rows), axis=-1)
    n = rows.shape[-1]
    counts = np.arange(n)
    below = int(np.sum(special.bdtr(counts, n, q) <= error / 2))
    above = int(np.sum(special.bdtrc(counts, n, q) > error / 2))
    nowhere = np.full(rows.shape[:-1], np.inf)
    low = rows[..., below - 1] if below > 0 else -nowhere
    high = rows[..., above] if above < n else nowhere
    position = round(n * q, 9)  # rounded: 0.7 * 10 must be 7
    left, right = rows[..., int(np.ceil(position)) - 1], rows[..., min(int(position), n - 1)]
    with np.errstate(invalid="ignore"):  # the median of -inf and +inf is nowhere: NaN
        estimate = np.where(left == right, left, (left + right) / 2)
    return Ends(estimate, low, high)


def fraction_intervals(successes: ArrayLike, n: int, error: float) -> Ends:
    """The union of Wilson's and of Clopper and Pearson's interval for a frequency. Status: exact
    bound for any p.

    Wilson's interval alone does not keep its promise. Its worst chance of a miss over p, by exact
    binomial sums for n = 64 .. 1024, is 0.11 at `error` = 0.01, 0.075 at 0.001 and 0.045 at the
    1e-5 of a first look, 4700 times too much: at n p (or n (1 - p)) just below 0.05 a single
    success already puts its lower end above p. The union never misses more than `error`, nor more
    than `error / 2` on one side.
    """
    require(n >= 1, "n", n, "must be at least 1")
    require(0 < error < 1, "error", error, "must lie strictly between 0 and 1")
    x = np.asarray(successes, dtype=float)
    require(
        bool(np.all((x >= 0) & (x <= n))), "successes", successes, f"must lie between 0 and {n}")
    wilson_low, wilson_high = wilson_ends(x, n, error)
    exact_low = _clopper_pearson_low(x, n, error)
    exact_high = 1 - _clopper_pearson_low(n - x, n, error)
    low, high = np.minimum(wilson_low, exact_low), np.maximum(wilson_high, exact_high)
    return Ends(x / n, np.clip(low, 0, 1), np.clip(high, 0, 1))


def wilson_ends(successes: NDArray, n: int, error: float) -> tuple[NDArray, NDArray]:
    """Wilson's interval alone: the p with `(x - n p)^2 <= z^2 n p (1 - p)`. Status: asymptotic."""
    z = -special.ndtri(error / 2)
    centre = (successes + z**2 / 2) / (n + z**2)
    half_width = z / (n + z**2) * np.sqrt(successes * (n - successes) / n + z**2 / 4)
    return centre - half_width, centre + half_width


def _clopper_pearson_low(successes: NDArray, n: int, error: float) -> NDArray:
    """The p at which `successes` or more out of n has probability `error / 2`; 0 when there is no
    success."""
    tried = np.maximum(successes, 1)
    return np.where(successes > 0, special.betaincinv(tried, n - tried + 1, error / 2), 0.0)


def exact_intervals(samples: ArrayLike) -> Ends:
    """The range of measurements without chance: degenerate when they agree, all NaN as soon as one
    is NaN."""
    rows = np.asarray(samples, dtype=float)
    low, high = rows.min(axis=-1), rows.max(axis=-1)
    with np.errstate(invalid="ignore"):
        return Ends(np.where(low == high, low, (low + high) / 2), low, high)


def intervals(samples: ArrayLike, statistic: str, error: float) -> Ends:
    """The interval of each row of `samples` `(..., n)`; "quantile:0.9" stands for any level."""
    name, _, level = statistic.partition(":")
    if name == "mean":
        return mean_intervals(samples, error)
    if name == "median":
        return quantile_intervals(samples, 0.5, error)
    if name == "quantile" and level:
        return quantile_intervals(samples, float(level), error)
    if name == "fraction":
        return fraction_intervals(*_successes(samples), error)
    if name == "exact":
        return exact_intervals(samples)
    raise unknown("statistic", statistic, STATISTICS)


def interval(samples: ArrayLike, statistic: str, error: float) -> Interval:
    """`intervals` for one row of replicates `(n,)`, in plain numbers."""
    return _plain(intervals(np.atleast_1d(np.asarray(samples, dtype=float)), statistic, error))


def mean_interval(samples: ArrayLike, error: float) -> Interval:
    """`mean_intervals` for one row of replicates."""
    return interval(samples, "mean", error)


def median_interval(samples: ArrayLike, error: float) -> Interval:
    """`quantile_intervals` at one half for one row of replicates."""
    return interval(samples, "median", error)


def quantile_interval(samples: ArrayLike, q: float, error: float) -> Interval:
    """`quantile_intervals` for one row of replicates."""
    return _plain(quantile_intervals(samples, q, error))


def fraction_interval(samples: list | NDArray | tuple[int, int], error: float) -> Interval:
    """`fraction_intervals` for an array or list of 0 and 1, or for a tuple `(successes, n)`."""
    if isinstance(samples, tuple):
        return _plain(fraction_intervals(*samples, error))
    return interval(samples, "fraction", error)


def exact_interval(value: float) -> Interval:
    """The degenerate interval of a deterministic measurement."""
    return interval([value], "exact", error=0.5)  # no chance, so any error will do


def _successes(samples: ArrayLike) -> tuple[NDArray, int]:
    """How many of the 0/1 replicates of each row are 1, and out of how many."""
    rows = np.asarray(samples, dtype=float)
    zero_or_one = (rows == 0) | (rows == 1)
    require(
        bool(zero_or_one.all()), "samples", rows[~zero_or_one][:3].tolist(),
        "must be 0 or 1 to be counted")
    return rows.sum(axis=-1), rows.shape[-1]


def _rows(samples: ArrayLike, error: float) -> NDArray:
    """The replicates as floats along the last axis, checked to be there, with an error that makes
    sense."""
    rows = np.asarray(samples, dtype=float)
    require(
        rows.ndim >= 1 and rows.shape[-1] >= 1, "samples", samples,
        "must hold at least one replicate")
    require(0 < error < 1, "error", error, "must lie strictly between 0 and 1")
    return rows


def _plain(ends: Ends) -> Interval:
    return Interval(*(float(end) for end in ends))
