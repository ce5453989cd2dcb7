"""Images, of which nobody knows the best predictor, nor which tokens matter: scikit-learn's digits,
rows as tokens, and CIFAR-10, patches as tokens, where it is installed."""

from functools import cache
from typing import Any

import numpy as np

from saccade.datasets.images import load_images
from saccade.datasets.recorded import Recorded
from saccade.lab.chart import ChartedTask
from saccade.studies.attention_atlas.charts import STUDY

DIGITS, PHOTOGRAPHS = 1797, 4000
PATCH, POOL = 8, 2
"""Pixels along a side of a patch, and of the blocks whose means are its features."""
ANIMALS = (2, 3, 4, 5, 6, 7)


@cache
def digits() -> Recorded:
    from sklearn.datasets import load_digits

    read: Any = load_digits()
    return Recorded.of_one_length("digits", read.images / 8.0 - 1, read.target >= 5)


@cache
def photographs() -> Recorded:
    """The first of CIFAR-10's test images: 16 patches of 4 x 4 x 3 means, standardised."""
    read = load_images("cifar10", "test").first(PHOTOGRAPHS)
    X, animals = patches(np.asarray(read.pixels, float)), np.isin(read.labels, ANIMALS)
    return Recorded.of_one_length("cifar10", (X - X.mean()) / X.std(), animals)


def patches(pixels: np.ndarray) -> np.ndarray:
    """(n, side, side, channels) as patches row by row, each of the means of blocks of pixels."""
    n, side, _, channels = pixels.shape
    across, inside = side // PATCH, PATCH // POOL
    cut = pixels.reshape(n, across, inside, POOL, across, inside, POOL, channels).mean(axis=(3, 6))
    return cut.transpose(0, 1, 3, 2, 4, 5).reshape(n, across**2, -1)


FLOOR = "unknown, 0 is taken"
IMAGES = (
    ChartedTask(
        "digits", STUDY, "scikit-learn's digits, rows as tokens: 5 to 9 or 0 to 4?",
        lambda key, *size: digits(), floor=FLOOR, size=(8, 8), most=DIGITS, located=False),
    ChartedTask(
        "cifar10", STUDY, "photographs, patches as tokens: an animal or a vehicle?",
        lambda key, *size: photographs(), floor=FLOOR, size=(16, 48), most=PHOTOGRAPHS, quick=False,
        requires="data:cifar10", located=False))
