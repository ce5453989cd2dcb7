"""Exponents and thresholds with intervals, for claims and for anybody's own runs.

    fit_exponent(dims, risks)                  # risks[replicate][dim] ~ dim^exponent
    locate_threshold(x, successes, trials)     # where a rising probability passes one half
    search_threshold(measure, 0.1, 4.0)        # the same, choosing where to measure

Every interval misses with probability at most `error` under what its function says it assumes.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from saccade.errors import InvalidInput, require, require_number, require_whole, shown
from saccade.lab.intervals import fraction_intervals


class Exponent(NamedTuple):
    """y ~ factor x^exponent, and the interval of the exponent."""

    exponent: float
    low: float
    high: float
    factor: float


def _numbers(name: str, values: ArrayLike) -> NDArray:
    """The values as an array of finite numbers, or a sentence."""
    try:
        array = np.asarray(values, float)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"{name} = {shown(values)} must be numbers, in rows of equal lengths.") from None
    bad = array[~np.isfinite(array)]
    require(not bad.size, name, bad[:1], "must be finite numbers")
    return array


def slopes(x: ArrayLike, y: ArrayLike) -> NDArray:
    """Least squares of y[..., point] on x[point]: a slope for each row."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    require(
        x.ndim == 1 and y.shape[-1:] == x.shape and np.unique(x).size > 1, "y", y.shape,
        f"must have an entry for each of the {x.size} points x, two of which differ")
    centred = x - x.mean()
    return (y - y.mean(-1, keepdims=True)) @ centred / (centred @ centred)


def exponents(x: ArrayLike, y: ArrayLike) -> NDArray:
    """Slopes of log y[..., point] against log x[point]; everything must be above zero."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    for name, values in (("x", x), ("y", y)):
        require(bool(np.all(values > 0)), name, values.min(initial=0.0), "must be above 0")
    return slopes(np.log(x), np.log(y))


def fit_exponent(x: ArrayLike, y: ArrayLike, error: float = 0.05) -> Exponent:
    """The exponent of a power law, with Student's interval.

    y[replicate][point]: a slope from each replicate, and the interval of their mean; replicates are
    independent and a mean of slopes is about normal. y[point]: the interval of a straight line
    through logarithms with independent normal errors of one size; it needs three points, and says
    nothing about a curve that is no power law.
    """
    _check_error(error)
    x, y = _numbers("x", x), _numbers("y", y)
    require(y.ndim in (1, 2), "y", y.shape, "must be y[point] or y[replicate][point]")
    found = np.atleast_1d(exponents(x, y))
    middle, freedom = float(found.mean()), len(found) - 1
    if y.ndim == 2:
        require(freedom >= 1, "y", y.shape, "must have two replicates or more (or be y[point])")
        spread = float(found.std(ddof=1) / np.sqrt(len(found)))
    else:
        freedom = x.size - 2
        require(freedom >= 1, "x", x.tolist(), "must have three points or more")
        centred = np.log(x) - np.log(x).mean()
        rest = np.log(y) - np.log(y).mean() - middle * centred
        spread = float(np.sqrt(rest @ rest / freedom / (centred @ centred)))
    reach = float(special.stdtrit(freedom, 1 - error / 2)) * spread
    factor = float(np.exp(np.log(y).mean() - middle * np.log(x).mean()))
    return Exponent(middle, middle - reach, middle + reach, factor)


class Threshold(NamedTuple):
    """Where a probability passes `level`; an infinite end means that no point shows that side."""

    estimate: float
    low: float
    high: float


def locate_threshold(
    x: ArrayLike, successes: ArrayLike, trials: int, *, level: float = 0.5, error: float = 0.05,
    falling: bool = False,
) -> Threshold:
    """Where the chance of success at x passes `level`, from `successes` of `trials` at each x.

    Assumes only that the chance does not fall with x (not rise, if `falling`): the threshold then
    lies above every point whose interval is below `level` and below every one whose is above. The
    intervals hold together with probability 1 - `error`. The estimate interpolates the monotone
    curve that fits best; it is NaN where that does not pass `level`.
    """
    _check_error(error)
    _check_level(level)
    require_whole("trials", trials, 1)
    x, count = _numbers("x", x), _numbers("successes", successes)
    increasing = x.ndim == 1 and x.size > 0 and bool(np.all(np.diff(x) > 0))
    require(increasing, "x", x.tolist(), "must be increasing")
    fits = count.shape == x.shape and bool(np.all((count >= 0) & (count <= trials)))
    require(fits, "successes", count.tolist(), f"must have an entry in 0..{trials} for each x")
    if falling:
        found = locate_threshold(-x[::-1], count[::-1], trials, level=level, error=error)
        return Threshold(-found.estimate, -found.high, -found.low)
    ends = fraction_intervals(count, trials, error / x.size)
    below, above = x[ends.high < level], x[ends.low > level]
    low, high = below.max(initial=-np.inf), above.min(initial=np.inf)
    return Threshold(_crossing(x, monotone(count / trials), level), float(low), float(high))


def monotone(values: ArrayLike) -> NDArray:
    """The non-decreasing sequence nearest in least squares: neighbours that fall are averaged."""
    blocks: list[list[float]] = []  # mean, size
    for value in np.asarray(values, float):
        blocks.append([float(value), 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            (one, m), (two, n) = blocks[-2:]
            blocks[-2:] = [[(m * one + n * two) / (m + n), m + n]]
    return np.repeat([mean for mean, _ in blocks], [int(size) for _, size in blocks])


def _crossing(x: NDArray, rising: NDArray, level: float) -> float:
    if not rising[0] <= level <= rising[-1]:
        return float("nan")
    at = np.flatnonzero(rising == level)
    if at.size:
        return float(x[at].mean())
    right = int(np.searchsorted(rising, level))
    share = (level - rising[right - 1]) / (rising[right] - rising[right - 1])
    return float(x[right - 1] + share * (x[right] - x[right - 1]))


def search_threshold(
    measure: Callable[[float, int], Any], low: float, high: float, *, level: float = 0.5,
    width: float = 0.02, trials: int = 32, most: int = 4096, error: float = 0.05,
    falling: bool = False,
) -> Threshold:
    """Halve (low, high) until it is `width` of its first size: `measure(x, n)` gives n independent
    outcomes, true or false, at x. At each x it is asked again, twice as often, until its interval
    excludes `level`; where that takes more than `most` outcomes in all the search ends.

    Assumes a monotone chance, below `level` at `low` and above it at `high` (the other way round if
    `falling`). What is spent of `error` halves from point to point and from look to look.
    """
    _check_error(error)
    for name, end in (("low", low), ("high", high)):
        require_number(name, end)
    require(low < high, "low", low, f"must be below high = {high:g}")
    _check_level(level)
    require_number("width", width)
    require(callable(measure), "measure", measure, "must be a function of x and n")
    require(1e-12 <= width <= 1, "width", width, "must lie between 1e-12 and 1")
    require_whole("trials", trials, 1)
    require_whole("most", most, trials)
    first, point = high - low, 0
    while high - low > width * first:
        point += 1
        middle = (low + high) / 2
        side = _side(measure, middle, level, trials, most, error / 2**point)
        if side == 0:
            return Threshold(middle, low, high)
        low, high = (low, middle) if (side > 0) != falling else (middle, high)
    return Threshold((low + high) / 2, low, high)


def _side(
    measure: Callable[[float, int], Any], x: float, level: float, trials: int, most: int,
    error: float,
) -> int:
    """1 if the chance at x is above `level`, -1 if below, 0 if `most` outcomes do not tell."""
    outcomes, look = np.zeros(0, bool), 0
    while outcomes.size + max(outcomes.size, trials) <= most:
        look += 1
        wanted = max(outcomes.size, trials)
        more = np.asarray(measure(x, wanted), bool).ravel()
        require(more.size == wanted, "measure(x, n)", more.size, f"must be {wanted} outcomes")
        outcomes = np.concatenate([outcomes, more])
        ends = fraction_intervals(np.asarray(outcomes.sum()), outcomes.size, error / 2**look)
        if ends.low > level or ends.high < level:
            return 1 if ends.low > level else -1
    return 0


def _check_level(level: float) -> None:
    require_number("level", level)
    require(0 < level < 1, "level", level, "must lie between 0 and 1")


def _check_error(error: float) -> None:
    require_number("error", error)
    require(0 < error < 1, "error", error, "must lie between 0 and 1")
