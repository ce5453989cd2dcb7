"""Bags that differ in their number of tokens on the map. Learners that read places cannot take
them. In MNIST bags the nines are what matters; in the others nobody knows."""

from functools import cache
from typing import Any

import numpy as np

from saccade.datasets.bags import load_bags
from saccade.datasets.recorded import Recorded
from saccade.lab.chart import ChartedTask
from saccade.studies.bag_estimators.charts import FLOOR, STUDY

SIDE, BLOCK = 28, 4
"""MNIST's images have 28 x 28 pixels; means of 4 x 4 of them are what a token holds here."""


@cache
def read(name: str) -> Recorded:
    """Standardised tokens, padded to the longest bag."""
    found = load_bags(name)
    tokens = np.asarray(found.tokens, float)
    if name == "mnist-bags":
        tokens = coarse(tokens)
    deviation = tokens.std(axis=0)
    tokens = (tokens - tokens.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    mask = np.arange(found.lengths.max()) < found.lengths[:, None]
    X, where = np.zeros((*mask.shape, tokens.shape[1])), mask.copy()
    X[mask] = tokens
    if found.where is not None:
        where[mask] = found.where
    return Recorded(name, X, np.where(found.labels > 0, 1.0, -1.0), mask, where)


def coarse(pixels: np.ndarray) -> np.ndarray:
    """Means of blocks of the pixels of square images."""
    side = SIDE // BLOCK
    return pixels.reshape(-1, side, BLOCK, side, BLOCK).mean(axis=(2, 4)).reshape(len(pixels), -1)


def _positive(sample: Any) -> np.ndarray:
    return np.asarray(sample.y) > 0


def _charted(
    name: str, says: str, count: int, longest: int, dim: int, located: bool = False
) -> ChartedTask:
    return ChartedTask(
        name, STUDY, says, lambda key, *size: read(name), floor=FLOOR, judged=_positive,
        size=(longest, dim), most=count, quick=False, requires=f"data:{name}", located=located,
        ragged=True)


BAGS = (
    _charted("musk1", "molecules, shapes as tokens: a musk?", 92, 40, 166),
    _charted("elephant", "pictures, segments as tokens: an elephant?", 200, 13, 230),
    _charted("birds", "recordings, syllables as tokens: a brown creeper?", 548, 43, 38),
    _charted("corel-dogs", "pictures, segments as tokens: a dog?", 2000, 13, 9),
    _charted("vowels3", "spoken vowels, times as tokens: speaker 3?", 640, 29, 12),
    _charted("mnist-bags", "handwritten digits: is there a nine?", 500, 16, 49, located=True))
