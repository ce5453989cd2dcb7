"""Best errors with a known direction, from definitions: integrals, searches, sampled tokens."""

from itertools import combinations, pairwise
from typing import Any, Literal

import numpy as np
import xarray
from numpy.random import default_rng
from scipy import integrate, optimize
from scipy.special import log_ndtr, logsumexp, ndtr, softmax

from saccade.lab.experiment import experiment
from saccade.studies.sparse_token.experiments.draws import seeds_of

Growth = Literal["constant-snr", "log", "root-log", "times-root-log", "power"]


def signal_at(length: float, growth: str, offset: float) -> float:
    """The signal at a length: offset sqrt L, offset log L, sqrt(2 log L) + offset, offset sqrt(2
    log L), or L^offset."""
    laws = {
        "constant-snr": offset * np.sqrt(length), "log": offset * np.log(length),
        "root-log": np.sqrt(2 * np.log(length)) + offset,
        "times-root-log": offset * np.sqrt(2 * np.log(length)), "power": length**offset}
    return float(laws[growth])


def two_gaussians_error(
    mean: float, positive_rate: float, seen: float = 1.0
) -> tuple[float, float]:
    """Error of the best test of N(mean, 1) against N(0, 1): integral of the smaller density, and
    how much of it is positives that are missed. Of the positives a share `seen` counts."""

    def smaller(x: float, of_both: bool = True) -> float:
        positive, negative = (
            seen * positive_rate * np.exp(-0.5 * (x - mean) ** 2),
            (1 - positive_rate) * np.exp(-0.5 * x * x))
        missed = positive * (positive <= negative)
        return (min(positive, negative) if of_both else missed) / np.sqrt(2 * np.pi)

    odds = (1 - positive_rate) / (seen * positive_rate)
    cut = mean / 2 + np.log(odds) / max(mean, 1e-9)
    breaks = np.unique(np.clip([-12.0, 0.0, mean, mean + 12.0, cut], -12.0, mean + 12.0))
    error, missed = (
        sum(
            integrate.quad(smaller, a, b, (of_both,), epsabs=1e-15, epsrel=1e-13, limit=200)[0]
            for a, b in pairwise(breaks))
        for of_both in (True, False))
    return float(error), float(missed)


@experiment("sparse-token.pooled-integral")
def pooled_integral(
    key: Any, *, lengths: tuple[int, ...] = (2, 10, 100, 1000, 10_000), informative: int = 1,
    positive_rates: tuple[float, ...] = (0.5, 0.2, 0.03), growth: Growth = "log",
    offset: float = 1.0,
) -> xarray.Dataset:
    """Smallest error of a threshold on the mean token along the signal, from its densities, and
    the missed positives in it."""
    signals = [signal_at(length, growth, offset) for length in lengths]
    errors = [
        [
            two_gaussians_error(signal * informative / np.sqrt(length), rate)
            for rate in positive_rates]
        for length, signal in zip(lengths, signals, strict=True)]
    return xarray.Dataset(
        {
            "error": (("length", "positive_rate"), np.array(errors)[..., 0]),
            "missed": (("length", "positive_rate"), np.array(errors)[..., 1]),
            "signal": ("length", np.array(signals))},
        {"length": list(lengths), "positive_rate": list(positive_rates)})


Case = tuple[int, float, float]  # length, positive rate, signal
LINEAR_CASES: tuple[Case, ...] = (
    (2, 0.1, 2.0), (3, 0.3, 2.5), (10, 0.05, 4.0), (10, 0.5, 5.0), (20, 0.5, 7.0))


def best_linear_error(
    length: int, positive_rate: float, signal: float, rng: np.random.Generator, starts: int
) -> float:
    """Smallest error over token weights of any sign and thresholds (R = 1), restarted descent."""

    def error(x: np.ndarray) -> float:
        m = x[:-1] / np.linalg.norm(x[:-1])
        return float(
            positive_rate * ndtr(x[-1] - signal * m).mean() + (1 - positive_rate) * ndtr(-x[-1]))

    best = min(positive_rate, 1 - positive_rate)
    for start in range(starts):
        weights = (
            np.full(length, 0.1) + (np.arange(length) < 1 + start % length)
            + 0.1 * rng.standard_normal(length))
        first = np.append(weights, 0.5 * signal * np.max(weights / np.linalg.norm(weights)))
        best = min(
            best, float(optimize.minimize(error, first, method="BFGS", options={"gtol": 1e-9}).fun))
    return best


@experiment("sparse-token.linear-search", scales={"standard": {"starts": 200}})
def linear_search(
    key: Any, *, cases: tuple[Case, ...] = LINEAR_CASES, starts: int = 24
) -> xarray.Dataset:
    """Smallest error of any linear classifier that knows the direction (R = 1), by search."""
    rng = default_rng(seeds_of(key, 1)[0])
    errors = [best_linear_error(*case, rng, starts) for case in cases]
    return xarray.Dataset({"error": ("case", np.array(errors))})


@experiment("sparse-token.bound-integral")
def bound_integral(
    key: Any, *, cases: tuple[Case, ...] = LINEAR_CASES, informative: int = 2, seen: float = 0.5
) -> xarray.Dataset:
    """What no linear rule gets below, from densities: of the positives only the half counts whose
    places have at most twice the mean weight, theta R/sqrt(L), in any unit weights."""
    errors = [
        two_gaussians_error(signal * informative / np.sqrt(length) / seen, rate, seen)[0]
        for length, rate, signal in cases]
    return xarray.Dataset({"error": ("case", np.array(errors))})


@experiment("sparse-token.hardmax-grid")
def hardmax_grid(
    key: Any, *, lengths: tuple[int, ...] = (10, 100, 1000, 10_000, 100_000, 1_000_000),
    informative: int = 1, positive_rate: float = 0.5, growth: Growth = "log", offset: float = 1.0,
    pooled: bool = False,
) -> xarray.Dataset:
    """Error of the best threshold on the largest token (or the mean token), for growing lengths."""
    signals, errors = [], []
    for length in lengths:
        signal = signal_at(length, growth, offset)
        t = np.linspace(-8, signal + 12, 400_001)
        if pooled:
            missed, false = ndtr(t - signal * informative / np.sqrt(length)), ndtr(-t)
        else:
            missed = np.exp(
                informative * log_ndtr(t - signal) + (length - informative) * log_ndtr(t))
            false = -np.expm1(length * log_ndtr(t))
        signals.append(signal)
        errors.append(float(np.min(positive_rate * missed + (1 - positive_rate) * false)))
    return xarray.Dataset(
        {"error": ("length", np.array(errors)), "signal": ("length", np.array(signals))},
        {"length": list(lengths)})


THRESHOLDS = tuple(float(t) for t in np.round(np.arange(-2.0, 9.0, 0.05), 10))


def threshold_errors(
    statistic: np.ndarray, positive: np.ndarray, positive_rate: float, thresholds
) -> np.ndarray:
    """Error of `statistic > t` for every t, with the two classes weighted by their true rates."""
    high, low = np.sort(statistic[positive]), np.sort(statistic[~positive])
    missed = np.searchsorted(high, thresholds) / len(high)
    return positive_rate * missed + (1 - positive_rate) * (
        1 - np.searchsorted(low, thresholds) / len(low))


@experiment("sparse-token.sampled-maxima")
def sampled_maxima(
    key: Any, *, lengths: tuple[int, ...] = (10, 100, 1000), informative: int = 2,
    positive_rate: float = 0.3, offset: float = 1.0, samples: int = 2000, replicates: int = 32,
) -> xarray.Dataset:
    """Errors of thresholds on the largest of `length` sampled tokens, theta = sqrt(2 log L) +
    offset."""
    thresholds, positive = np.array(THRESHOLDS), np.arange(samples) < samples // 2
    signals, rows = [signal_at(length, "root-log", offset) for length in lengths], []
    for seed in seeds_of(key, replicates):
        rng, row = default_rng(seed), []
        for length, signal in zip(lengths, signals, strict=True):
            u = rng.standard_normal((samples, length), np.float32)
            u[:, :informative] += signal * positive[:, None]
            row.append(threshold_errors(u.max(1), positive, positive_rate, thresholds))
        rows.append(row)
    return xarray.Dataset(
        {
            "error": (("replicate", "length", "threshold"), np.array(rows)),
            "signal": ("length", np.array(signals))},
        {"length": list(lengths), "threshold": thresholds})


@experiment("sparse-token.token-statistics", scales={"standard": {"samples": 40_000}})
def token_statistics(
    key: Any, *, length: int = 10, informative: int = 1, positive_rate: float = 0.5,
    signal: float = 5.0, sharpness: tuple[float, ...] = (0.5, 1.0, 2.0), samples: int = 8000,
    replicates: int = 32,
) -> xarray.Dataset:
    """Errors of thresholds on sampled tokens: largest, softmax averages, mean, likelihood ratio."""
    thresholds, rows, ratio = np.array(THRESHOLDS), [], []
    for seed in seeds_of(key, replicates):
        rng = default_rng(seed)
        positive = np.arange(samples) < samples // 2
        u = rng.standard_normal((samples, length))
        u[:, :informative] += signal * positive[:, None]
        averages = [(softmax(k * u, axis=1) * u).sum(1) for k in sharpness]
        statistics = [u.max(1), *averages, u.mean(1) * np.sqrt(length)]
        rows.append(
            [threshold_errors(item, positive, positive_rate, thresholds) for item in statistics])
        sums = np.stack([u[:, list(v)].sum(1) for v in combinations(range(length), informative)], 1)
        evidence = np.asarray(logsumexp(signal * sums, axis=1)) - informative * signal**2 / 2
        evidence -= np.log(sums.shape[1])
        cut = np.log((1 - positive_rate) / positive_rate)
        ratio.append(float(threshold_errors(evidence, positive, positive_rate, np.array([cut]))[0]))
    names = ["hardmax", *[f"softmax {k:g}" for k in sharpness], "pooled"]
    return xarray.Dataset(
        {
            "error": (("replicate", "statistic", "threshold"), np.array(rows)),
            "bayes": ("replicate", np.array(ratio))},
        {"statistic": names, "threshold": thresholds})


@experiment("sparse-token.blunt-softmax")
def blunt_softmax(
    key: Any, *, length: int = 3000, informative: int = 1, positive_rate: float = 0.5,
    signal: float = 50.0, sharpness: tuple[float, ...] = (0.0, 0.01), samples: int = 600,
    replicates: int = 32,
) -> xarray.Dataset:
    """Errors of thresholds on softmax averages of very many sampled tokens with nearly even
    weights; thresholds in deviations 1/sqrt(L) of the mean token."""
    thresholds, rows = np.arange(-40, 121) / 10, []
    positive = np.arange(samples) < samples // 2
    for seed in seeds_of(key, replicates):
        u = default_rng(seed).standard_normal((samples, length), np.float32)
        u[:, :informative] += np.float32(signal) * positive[:, None]
        averages = []
        for k in sharpness:
            weights = np.exp(np.float32(k) * u)
            averages.append((weights * u).sum(1, dtype=float) / weights.sum(1, dtype=float))
        scaled = np.sqrt(length) * np.array(averages)
        rows.append(
            [threshold_errors(item, positive, positive_rate, thresholds) for item in scaled])
    return xarray.Dataset(
        {"error": (("replicate", "sharpness", "threshold"), np.array(rows))},
        {"sharpness": list(sharpness), "threshold": thresholds})


Many = tuple[int, int, float, float]  # length, informative, positive rate, signal
MANY: tuple[Many, ...] = (
    (4096, 300, 0.3, 0.45), (10_000, 105, 0.4, 2.5), (10_000, 9890, 0.6, 0.02))


@experiment("sparse-token.two-rules")
def two_rules(key: Any, *, cases: tuple[Many, ...] = MANY) -> xarray.Dataset:
    """Errors of the best thresholds on the sum and on the largest of all tokens."""
    rows = []
    for length, informative, rate, signal in cases:
        t = np.linspace(-8, signal + 12, 400_001)
        missed = [
            ndtr(t - signal * informative / np.sqrt(length)),
            ndtr(t - signal) ** informative * ndtr(t) ** (length - informative)]
        false = [ndtr(-t), -np.expm1(length * log_ndtr(t))]
        rows.append((rate * np.array(missed) + (1 - rate) * np.array(false)).min(axis=1))
    return xarray.Dataset(
        {"error": (("case", "rule"), np.array(rows))}, {"rule": ["pooled", "hardmax"]})
