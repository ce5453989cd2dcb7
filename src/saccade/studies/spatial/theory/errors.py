"""Exact errors of what does not look: the labelling function, and generalised linear models."""

from typing import NamedTuple

import numpy as np

from saccade.errors import require
from saccade.studies.spatial.task import ROUNDING, check_rate, check_sizes


class LinearError(NamedTuple):
    """Errors with equal weights: under the best phi, and under the sign (a zero counts 1/2)."""

    bayes: float
    sign: float


def signal_sum_law(patches: int, spurious_rate: float) -> np.ndarray:
    """Law of the sum of `patches` spurious signals at -patches..patches. Status: exact."""
    return _power(np.array([spurious_rate / 2, 1 - spurious_rate, spurious_rate / 2]), patches)


def label_error(patches: int, set_size: int, spurious_rate: float, threshold: float = 0.9) -> float:
    """P[y f*(X) <= 0]: the law of the thresholded sum of one random set, convolved L - 1 times,
    plus the signal set. To leading order (L-1) (q/2)^C at threshold 0.9 and C <= 10, where one set
    all against the label cancels the signal. Status: exact."""
    check_sizes(patches, set_size)
    check_rate(spurious_rate)
    require(bool(threshold >= 0), "threshold", threshold, "must be at least 0")
    sums = np.arange(-set_size, set_size + 1)
    passes = np.abs(sums) > (threshold + ROUNDING) * set_size
    one_set = signal_sum_law(set_size, spurious_rate)
    thresholded = np.where(passes, one_set, 0.0)
    thresholded[set_size] = one_set[~passes].sum() + (
        one_set[set_size] if passes[set_size] else 0.0)
    sets = patches // set_size
    total = _power(thresholded, sets - 1)
    signal = set_size if passes[-1] else 0
    values = np.arange(-(sets - 1) * set_size, (sets - 1) * set_size + 1) + signal
    return float(min(1.0, total[values <= 0].sum()))


def linear_error(patches: int, set_size: int, spurious_rate: float) -> LinearError:
    """Theorem 3.1 for equal weights, exactly: g sees K = y C + sum of D - C spurious signals.

    The best phi errs with probability sum_k min(P[K = k | +], P[K = k | -]) / 2; the sign errs with
    P[K < 0 | +] + P[K = 0 | +] / 2.
    """
    check_sizes(patches, set_size)
    check_rate(spurious_rate)
    law = signal_sum_law(patches - set_size, spurious_rate)
    plus = np.concatenate([np.zeros(2 * set_size), law])
    minus = np.concatenate([law, np.zeros(2 * set_size)])
    values = np.arange(len(law)) - (patches - set_size) + set_size
    return LinearError(
        float(np.minimum(plus, minus).sum() / 2),
        float(law[values < 0].sum() + law[values == 0].sum() / 2))


def _power(law: np.ndarray, times: int) -> np.ndarray:
    """The law convolved `times` times with itself (0 times: a point mass at 0), by squaring."""
    total, base = np.ones(1), law
    while times:
        total = np.convolve(total, base) if times & 1 else total
        times >>= 1
        base = np.convolve(base, base) if times else base
    return total
