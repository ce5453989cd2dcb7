"""Moments of the bags that the study draws."""

from typing import Any

import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.bag_estimators.task import generator, single_location, sparse_tokens

MOMENTS = (
    "positive", "first place", "last place", "shift along xi", "negatives along xi", "other tokens",
    "informative along k", "its spread", "its other coordinates", "unmarked along k",
    "y with its coordinate")


@experiment("bag-estimators.drawn-bags")
def drawn_bags(
    key: Any, *, signal: float = 1.7, length: int = 5, dim: int = 6, bags: int = 4000,
    replicates: int = 32,
) -> xarray.Dataset:
    """By replicate, of sparse tokens: how often a bag is positive, and its place the first and the
    last; the mean of that token along (1, .., 1)/sqrt d in positive and in negative bags, and the
    mean square of all others. Of single location: mean and variance of the informative token along
    k, its mean square elsewhere, its mean along k without mark, and the mean of y times its
    second coordinate."""
    random, rows = generator(key), []
    for _ in range(replicates):
        X, y, where = sparse_tokens(random, bags, length, dim, signal)
        along = X[where].sum(axis=1) / np.sqrt(dim)
        located, numbers, place = single_location(random, bags, length, dim)
        own = located[place]
        plain = single_location(random, bags, length, dim, marked=False)
        others = np.concatenate([X[~where].ravel(), located[~place].ravel()])
        rows.append([
            y.mean(), where[:, 0].mean(), where[:, -1].mean(), along[y == 1].mean(),
            along[y == 0].mean(), np.mean(others**2), own[:, 0].mean(), own[:, 0].var(),
            np.mean(own[:, 1:] ** 2), plain.X[plain.where][:, 0].mean(),
            np.mean(numbers * own[:, 1])])
    return xarray.Dataset({"moment": (("replicate", "name"), np.array(rows))})
