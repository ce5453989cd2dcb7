"""Moments of the bags that the estimators' own generators make."""

from typing import Any

import numpy as np
import xarray

from saccade.estimators import (
    make_group_bags,
    make_patch_bags,
    make_single_location_bags,
    make_sparse_token_bags,
)
from saccade.lab.experiment import experiment
from saccade.studies.bag_estimators.task import generator

MOMENTS = (
    "positive", "informative first", "shift along xi", "other tokens", "informative along k",
    "its other coordinates", "y^2", "y with its coordinate", "group along its direction",
    "signal of patches", "clutter", "noise of patches")
DIRECTION = (0.0, 1.0, -1.0, 0.0, 0.0, 0.0)


@experiment("bag-estimators.made-bags")
def made_bags(
    key: Any, *, signal: float = 1.7, rate: float = 0.3, variance: float = 0.4, noise: float = 0.5,
    clutter: float = 0.4, bags: int = 1500, replicates: int = 32,
) -> xarray.Dataset:
    """By replicate: sparse tokens (two of five informative, six features), single location, groups
    whose third decides along DIRECTION, and patches in three sets of which one has four."""
    random, rows = generator(key), []
    for _ in range(replicates):
        X, y, where = make_sparse_token_bags(bags, 5, 6, 2, signal, rate, random_state=random)
        alone, numbers, place = make_single_location_bags(
            bags, 5, 6, variance, noise, random_state=random)
        groups, labels, _ = make_group_bags(bags, 4, 6, 2, DIRECTION, random_state=random)
        patches, signs, inside = make_patch_bags(
            bags, (0, 0, 0, 0, 1, 2), 6, clutter, random_state=random)
        own = alone[place]
        rows.append([
            y.mean(), where[y == 1, 0].mean(), X[where].sum(axis=1).mean() / np.sqrt(6),
            np.mean(X[~where] ** 2), own[:, 0].mean(), np.mean(own[:, 1:] ** 2),
            np.mean(numbers**2), np.mean(numbers * own[:, 1]),
            np.mean((2 * labels - 1) * (groups[:, 2] @ DIRECTION)) / np.sqrt(2),
            np.mean(signs[:, None] * patches[:, :, 0]), np.mean(patches[~inside][:, 0] ** 2),
            np.mean(patches[:, :, 1:] ** 2)])
    return xarray.Dataset({"moment": (("replicate", "name"), np.array(rows))})
