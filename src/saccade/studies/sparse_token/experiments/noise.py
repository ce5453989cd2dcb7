"""The weights that softmax attention gives to noise tokens, by samples: log sums of e^{kg} over all
of a few dozen tokens, and over the largest of very many; and without samples, by integrals."""

from typing import Any

import numpy as np
import xarray
from numpy.random import default_rng
from scipy.special import logsumexp, ndtri

from saccade.lab.experiment import experiment
from saccade.studies.sparse_token.experiments.draws import seeds_of
from saccade.studies.sparse_token.experiments.readouts import table


@experiment("sparse-token.summed-noise")
def summed_noise(
    key: Any, *, counts: tuple[int, ...] = (20, 60), sharpness: tuple[float, ...] = (1.0, 1.2),
    length: int = 43, informative: int = 3, positive_rate: float = 0.4, signal: float = 2.3,
    odds_sharpness: float = 1.2, samples: int = 2000, draws: int = 8, replicates: int = 32,
) -> xarray.Dataset:
    """Mean log sum of e^{kg} over each count of tokens at its sharpness, and the mean log odds of
    the informative tokens of a positive sample; to each noise `draws` sets of informative ones."""
    rows = []
    for seed in seeds_of(key, replicates):
        rng = default_rng(seed)
        noise = [
            np.log(np.exp(k * rng.standard_normal((samples, count))).sum(1)).mean()
            for count, k in zip(counts, sharpness, strict=True)]
        scores = odds_sharpness * rng.standard_normal((samples, length - informative))
        tokens = odds_sharpness * (signal + rng.standard_normal((samples * draws, informative)))
        found = np.log(np.exp(tokens).sum(1)).mean() - np.log(np.exp(scores).sum(1)).mean()
        rows.append([*noise, found])
    return table((*(f"noise {count}" for count in counts), "odds"), rows, ("replicate",))


@experiment("sparse-token.largest-noise")
def largest_noise(
    key: Any, *, count: float = 1e12, sharpness: tuple[float, ...] = (14.0, 18.0),
    largest: int = 200, samples: int = 512, replicates: int = 32,
) -> xarray.Dataset:
    """Mean log sum of e^{kg} over the largest of very many normal numbers, whose upper tails are
    arrivals of a Poisson process: Phi(-g_j) = (e_1 + ... + e_j)/N with exponential e."""
    rows = []
    for seed in seeds_of(key, replicates):
        tails = default_rng(seed).standard_exponential((samples, largest)).cumsum(1) / count
        heights = -ndtri(tails)
        rows.append([np.asarray(logsumexp(k * heights, axis=1)).mean() for k in sharpness])
    return table(tuple(f"k={k:g}" for k in sharpness), rows, ("replicate",))


@experiment("sparse-token.integrated-noise")
def integrated_noise(
    key: Any, *, counts: tuple[int, ...] = (60, 180, 540), sharpness: float = 0.9,
    log_counts: tuple[float, ...] = (30.0, 100.0, 300.0),
    high_sharpness: tuple[float, ...] = (15.0, 28.0, 49.0),
) -> xarray.Dataset:
    """E log Z of Z = sum of e^{kg} over N normal numbers, E log Z = int (e^{-e^u} - E e^{-e^u Z})
    du: for the counts, and for numbers so many that they are a Poisson process."""
    shared = [_mean_log_sum(count, sharpness) for count in counts]
    held = [_mean_log_of_points(*pair) for pair in zip(log_counts, high_sharpness, strict=True)]
    return xarray.Dataset(
        {"shared": ("count", np.array(shared)), "held": ("log_count", np.array(held))},
        {"count": list(counts), "log_count": list(log_counts)})


def _mean_log_sum(count: int, k: float) -> float:
    """With E e^{-tZ} = (E e^{-t e^{kg}})^N; sums over even steps, exact for smooth functions."""
    g, u = np.arange(-12, 12, 0.05), np.arange(-60, 12, 0.02)
    density = np.exp(-g * g / 2) / np.sqrt(2 * np.pi) * 0.05
    left = np.exp(-np.exp(u[:, None] + k * g)) @ density
    return float(np.sum(np.exp(-np.exp(u)) - left**count) * 0.02)


def _mean_log_of_points(log_count: float, k: float) -> float:
    """With E e^{-tZ} = exp(-int N phi(g) (1 - e^{-t e^{kg}}) dg), t counted from the top."""
    top, step = np.sqrt(2 * log_count), 0.05 / k
    g, u = np.arange(top - 5, top + 4, step), np.arange(-100, 60, 0.1)
    density = np.exp(log_count - g * g / 2) / np.sqrt(2 * np.pi) * step
    reached = -np.expm1(-np.exp(np.minimum(u[:, None] + k * (g - top), 50.0))) @ density
    return float(k * top + np.sum(np.exp(-np.exp(u)) - np.exp(-reached)) * 0.1)
