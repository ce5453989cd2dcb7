"""The smallest error each kind of classifier can reach when it knows the signal direction xi
(threshold chosen best).

Phi is the normal distribution function, u = X xi = theta v 1{y=+} + g the tokens seen along xi. All
errors are at most min(pi, 1 - pi). Findings that follow from these formulas: theta = log L is
enough for hard attention but not necessary, sqrt(2 log L) + c already is; a linear classifier that
may weigh tokens unequally (`vectorised`) can beat uniform pooling when positives are rare.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, log_ndtr, logsumexp, ndtr, softmax

from saccade.errors import require
from saccade.studies.sparse_token.task import SparseTokenSetting, require_number
from saccade.studies.sparse_token.theory import rare
from saccade.studies.sparse_token.theory.law import LONGEST_SAMPLED, sorted_gaussian_nodes
from saccade.studies.sparse_token.theory.rare import log_symmetric_polynomial

MOST_WORK = 20
"""log2 of tokens times terms of the symmetric polynomial beyond which the Bayes error of several
informative tokens would take minutes"""
RARE = 0.01
"""errors of the exact rules below which plain nodes are too few"""


class OracleError(NamedTuple):
    """An error with its status word and the accuracy of its quadrature (0 for exact formulas)."""

    error: float
    status: str
    accuracy: float
    threshold: float


def smallest_over_threshold(
    error: Callable[[Any], Any], thresholds: np.ndarray
) -> tuple[float, float]:
    """(threshold, error) of an error curve's global minimum: the best of rising `thresholds`, then
    Brent between its neighbours. The curve takes one threshold or an array of them."""
    values = error(thresholds)
    best = int(values.argmin())
    around = thresholds[max(best - 1, 0)], thresholds[min(best + 1, len(thresholds) - 1)]
    answer: Any = minimize_scalar(error, bounds=around, method="bounded", options={"xatol": 1e-11})
    ends = (float(answer.fun), float(answer.x)), (float(values[best]), float(thresholds[best]))
    value, threshold = min(ends)
    return threshold, value


def _capped(
    setting: SparseTokenSetting, threshold: float, error: float, status: str, accuracy: float = 0.0
) -> OracleError:
    """Answering always the same label is also a threshold (at infinity)."""
    rate = setting.positive_rate
    if error > min(rate, 1 - rate):
        error, accuracy, threshold = min(rate, 1 - rate), 0.0, np.inf if rate < 0.5 else -np.inf
    return OracleError(error, status, accuracy, threshold)


def pooled_oracle_error(setting: SparseTokenSetting) -> OracleError:
    """min_t pi Phi(t - SNR) + (1-pi) Phi(-t) with SNR = theta R/sqrt L, at t = SNR/2 +
    log((1-pi)/pi)/SNR (exact)."""
    snr, rate = setting.signal_to_noise, setting.positive_rate
    if snr == 0:
        return _capped(setting, 0.0, 1.0, "exact")
    cut = snr / 2 + np.log((1 - rate) / rate) / snr
    return _capped(setting, cut, float(rate * ndtr(cut - snr) + (1 - rate) * ndtr(-cut)), "exact")


def vectorised_lower_bound(setting: SparseTokenSetting) -> OracleError:
    """No linear classifier of all tokens does better than min_t pi/2 Phi(t - 2 SNR) + (1-pi)
    Phi(-t) under uniform places (a bound).

    For unit weights m, E[v.|m|] = (R/L) sum |m_l| <= R/sqrt L, so by Markov v.m <= 2 R/sqrt L for
    at least half of the places.
    """
    mean = np.array([2 * setting.signal_to_noise])
    return _best_linear(setting.positive_rate, np.array([0.5]), mean)


def _best_linear(rate: float, chance, mean) -> OracleError:
    """min_t pi sum_j chance_j Phi(t - mean_j) + (1-pi) Phi(-t)."""
    threshold, error = smallest_over_threshold(
        lambda t: rate * (ndtr(np.subtract.outer(t, mean)) @ chance) + (1 - rate) * ndtr(-t),
        np.linspace(-8.0, float(mean.max()) + 8.0, 121))
    return OracleError(error, "bound", 0.0, threshold)


def hardmax_oracle_error(setting: SparseTokenSetting) -> OracleError:
    """Infinite sharpness: min_t pi Phi(t-theta)^R Phi(t)^{L-R} + (1-pi)(1 - Phi(t)^L) (exact)."""
    length, informative, rate = setting.length, setting.informative, setting.positive_rate

    def error(t: Any) -> Any:
        below = log_ndtr(t)
        miss = informative * log_ndtr(t - setting.signal) + (length - informative) * below
        return rate * np.exp(miss) - (1 - rate) * np.expm1(length * below)

    threshold, smallest = smallest_over_threshold(
        error, np.linspace(-8.0, setting.signal + np.sqrt(2 * np.log(length + 1)) + 8.0, 401))
    return _capped(setting, threshold, smallest, "exact")


def softmax_oracle_error(
    setting: SparseTokenSetting, sharpness: float, log2_points: int = 15
) -> OracleError:
    """Attention with q = k xi, w = xi: threshold on sum u e^{ku} / sum e^{ku} (quadrature, with at
    most 2^log2_points nodes)."""
    require_number("sharpness", sharpness)
    if setting.signal == 0:
        return _capped(setting, 0.0, 1.0, "exact")

    def statistic(u):
        return (softmax(sharpness * u, axis=1) * u).sum(1)

    points = min(log2_points, _log2_points(setting))

    def best(less: int, rarely: bool) -> tuple[float, float]:
        curve = smoothed_error(setting, statistic, 1.0, points - less, rarely=rarely)
        return smallest_over_threshold(np.vectorize(curve), curve.thresholds())

    # Weights of nodes for rare errors sum to 1 within some per cent only: too coarse for others.
    rarely = is_rare(setting) and best(2, False)[1] < RARE
    (_, coarse), (threshold, fine) = best(2, rarely), best(0, rarely)
    return _capped(setting, threshold, fine, "quadrature", abs(fine - coarse))


def bayes_error(setting: SparseTokenSetting) -> OracleError:
    """The smallest error of any classifier that knows xi (R = 1, quadrature): it thresholds log
    mean_l e^{theta u_l - theta^2/2} at log((1-pi)/pi)."""
    require(
        setting.informative == 1, "informative", setting.informative,
        "must be 1 for the Bayes error")

    def evidence(u):
        return np.asarray(logsumexp(u, axis=1)) - np.log(setting.length)

    return _likelihood_ratio_error(setting, evidence, _log2_points(setting))


def subset_bayes_error(setting: SparseTokenSetting) -> OracleError:
    """`bayes_error` for any R (quadrature): the evidence is log e_R(e^{theta u})/C(L, R) - R
    theta^2/2 with e_R the elementary symmetric polynomial. Where that is too long a sum (L times
    the smaller of R and L - R above 2^20), the better of two exact rules stands in: a bound."""
    count, length = setting.informative, setting.length
    if count == 1:
        return bayes_error(setting)
    points = _log2_points(setting)
    work = np.ceil(np.log2(length * max(1, min(count, length - count))))
    if work > MOST_WORK and setting.signal > 0:
        rules = pooled_oracle_error(setting), hardmax_oracle_error(setting)
        return min(rules)._replace(status="bound")
    points = int(min(points, MOST_WORK + 5 - work))
    subsets = gammaln(length + 1) - gammaln(count + 1) - gammaln(length - count + 1)
    return _likelihood_ratio_error(
        setting, lambda u: log_symmetric_polynomial(u, count) - subsets, points)


def _likelihood_ratio_error(
    setting: SparseTokenSetting, evidence: Callable, log2_points: int
) -> OracleError:
    """Error of thresholding log E_v e^{theta u.v} - R theta^2/2, `evidence` of theta u giving the
    first term, at log((1-pi)/pi): held below two rules of exact error, because with thousands of
    tokens the quadrature can be coarser than the gap."""
    signal, count, rate = setting.signal, setting.informative, setting.positive_rate
    if signal == 0:
        return _capped(setting, 0.0, 1.0, "exact")
    cut = float(np.log((1 - rate) / rate))
    coarse, fine = (
        smoothed_error(
            setting, lambda u: evidence(signal * u) - count * signal**2 / 2, count * signal,
            log2_points - less, count, is_rare(setting))(cut)
        for less in (2, 0))
    exact = min(pooled_oracle_error(setting).error, hardmax_oracle_error(setting).error)
    return _capped(setting, cut, min(fine, exact), "quadrature", abs(fine - coarse))


def is_rare(setting: SparseTokenSetting) -> bool:
    """Whether a rule of exact error, pooling or the largest token, errs more rarely than `RARE`."""
    return min(pooled_oracle_error(setting).error, hardmax_oracle_error(setting).error) < RARE


def _log2_points(setting: SparseTokenSetting) -> int:
    """About 2^22 numbers a class at most, and between 2^9 and 2^15 nodes. The token quadrature has
    one coordinate a token; the hard-max formula has none."""
    require(
        setting.length <= LONGEST_SAMPLED, "length", setting.length,
        f"must be at most {LONGEST_SAMPLED} for softmax and Bayes errors")
    return int(np.clip(22 - np.ceil(np.log2(setting.length)), 9, 15))


class ErrorCurve(NamedTuple):
    """Error as a smooth function of the threshold: pi sum_i w_i Phi((t - high_i) gain) + (1 - pi)
    sum_i w_i Phi((low_i - t) gain), over values of the statistic for positives and negatives."""

    rate: float
    gain: float
    high: np.ndarray
    high_weight: np.ndarray
    low: np.ndarray
    low_weight: np.ndarray

    def __call__(self, t: float) -> float:
        missed = self.high_weight @ ndtr((t - self.high) * self.gain)
        alarms = self.low_weight @ ndtr((self.low - t) * self.gain)
        return float(self.rate * missed + (1 - self.rate) * alarms)

    def thresholds(self) -> np.ndarray:
        """Where to look for the smallest error: at quantiles of the values, even steps of their
        range, and 8/gain beyond it; one of those that differ by less than 1/(8 gain). At small
        sharpness the range itself is but a few 1/gain, a thousandth of the signal."""
        values = np.concatenate([self.high, self.low])
        steps, ends = np.linspace(0, 1, 61), (values.min(), values.max())
        beyond = np.linspace(0, 8, 17) / self.gain
        places = [np.quantile(values, steps), ends[0] + steps * np.ptp(ends)]
        every = np.concatenate([*places, ends[0] - beyond, ends[1] + beyond])
        return np.unique(np.round(every * self.gain * 8)) / (self.gain * 8)


def smoothed_error(
    setting: SparseTokenSetting, statistic: Callable, shift_gain: float, log2_points: int,
    raised: int = 1, rarely: bool = False,
) -> ErrorCurve:
    """The error curve of a statistic with T(u + c) = T(u) + shift_gain c that `raised` tokens of a
    negative can deceive.

    The mean noise of the tokens is N(0, 1/L), independent of their differences, and only shifts T:
    it is integrated exactly. The differences are `rare` nodes where errors are expected `rarely`.
    """
    length, informative, rate = setting.length, setting.informative, setting.positive_rate
    shifts = rare.ladder(setting.signal) if rarely else np.zeros(1)
    points = log2_points - int(np.ceil(np.log2(len(shifts))))
    with_signal, without, _ = sorted_gaussian_nodes(length, informative, points)
    positive = rare.missing(with_signal, informative, shifts)
    negative = rare.alarming(without, raised, shifts)
    planted = setting.signal * (np.arange(length) < informative)
    high, low = statistic(positive.noise + planted), statistic(negative.noise)
    return ErrorCurve(rate, length**0.5 / shift_gain, high, positive.weight, low, negative.weight)
