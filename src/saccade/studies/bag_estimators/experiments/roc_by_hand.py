"""The area under the best classifier's curve by summing over a grid of bags, and by itself the
likelihood that makes it the best."""

from typing import Any

import numpy as np
import xarray
from scipy.stats import norm

from saccade.lab.experiment import experiment
from saccade.studies.bag_estimators.models import likelihood_ratio
from saccade.studies.bag_estimators.task import generator

SETTINGS = ((1.2, 2), (0.8, 3), (1.6, 3))
"""theta and L"""
NODES = {2: 400, 3: 70}
PARTS = (*(f"theta = {signal:g}, L = {length}" for signal, length in SETTINGS), "likelihood ratio")


def _area(signal: float, length: int) -> float:
    """P(r- < r+) over a grid of bags of numbers: noise has the weights of its density, positive
    bags have those times the ratio of densities r = mean_l exp(theta u_l - theta^2/2)."""
    u = np.linspace(-5, 5 + signal, NODES[length])
    weight, ratio = np.ones(()), np.zeros(())
    for _ in range(length):
        weight = weight[..., None] * norm.pdf(u)
        ratio = ratio[..., None] + np.exp(signal * u - signal**2 / 2) / length
    values, at = np.unique(ratio.round(12), return_inverse=True)
    noise = np.bincount(at.ravel(), weight.ravel())
    noise, positive = noise / noise.sum(), noise * values / (noise @ values)
    return float(positive @ (np.cumsum(noise) - noise / 2))


def _ratio(random: np.random.Generator, signal: float, other: float) -> float:
    """How far differences of log-likelihood ratios of bags are from those of densities, a token
    after the other shifted by `other` along (1, .., 1)/sqrt d."""
    X = random.standard_normal((6, 4, 5))
    xi, densities = np.ones(5) / np.sqrt(5), []
    for bag in X:
        shifted = [np.prod(norm.pdf(x - other * xi) / norm.pdf(x)) for x in bag]
        densities.append(np.log(np.mean(shifted)))
    apart = likelihood_ratio(X, signal) - np.array(densities)
    return float(np.abs(apart - apart[0]).max())


@experiment("bag-estimators.roc-by-hand")
def roc_by_hand(key: Any, *, told: float = 1.7) -> xarray.Dataset:
    """The areas of SETTINGS, and how far the likelihood ratio is from densities whose shift is
    `told` for 1.7."""
    areas = [_area(*one) for one in SETTINGS]
    return xarray.Dataset({"value": ("part", [*areas, _ratio(generator(key), 1.7, told)])})
