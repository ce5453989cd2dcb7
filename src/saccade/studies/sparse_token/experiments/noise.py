"""The weights that softmax attention gives to noise tokens, by samples: log sums of e^{kg} over all
of a few dozen tokens, and over the largest of very many."""

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
