"""The tasks of this study on the map of all learners and all tasks: one, two or four informative
tokens, and a place that is fixed or random with probability p."""

from functools import partial
from typing import Any

import numpy as np

from saccade.lab.chart import ChartedTask
from saccade.studies.single_location.task import SingleLocation

STUDY = "single-location"
SHARES = (0, 25, 50, 75, 100)


def _several(key: Any, length: int, dim: int, informative: int) -> SingleLocation:
    return SingleLocation.create(key, dim, length, informative=informative)


def _moving(key: Any, length: int, dim: int, share: float) -> SingleLocation:
    """The token that is marked and read is the first with probability 1 - share, else any."""
    law = (1 - share) * np.eye(length)[0] + share / length
    return SingleLocation.create(key, dim, length, location_probabilities=law / law.sum())


LOCATIONS = tuple(
    ChartedTask(
        f"single-location-{count}", STUDY,
        f"{count} random, marked token{'s' * (count > 1)} whose value is y",
        partial(_several, informative=count))
    for count in (1, 2, 4))
MOVING = tuple(
    ChartedTask(
        f"moving-{share}", STUDY,
        f"the marked token is at a fixed place, but at a random one in {share} of 100 samples",
        partial(_moving, share=share / 100), quick=share in (0, 50))
    for share in SHARES)
