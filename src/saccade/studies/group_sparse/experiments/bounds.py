"""What the terms of Theorem 4.2 count: mistakes of a perceptron on its worst stream, and the error
rate that may pass unseen."""

from typing import Any

import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.group_sparse.experiments.common import along

Setting = tuple[int, int, float, float]  # groups, group_dim, margin, delta


def mistakes(size: int, margin: float, rounds: int = 2) -> int:
    """Of a perceptron on orthogonal inputs of squared length `size`, all of label +1, that the unit
    vector with equal entries tells from zero by this margin."""
    count = round(size / margin**2)
    weights, wrong = np.zeros(count), 0
    for row in np.tile(np.sqrt(size) * np.eye(count), (rounds, 1)):
        if weights @ row <= 0:
            weights, wrong = weights + row, wrong + 1
    return wrong


@experiment("group-sparse.bound-terms")
def bound_terms(
    key: Any, *, settings: tuple[Setting, ...] = ((9, 5, 0.5, 0.1), (4, 12, 2.0, 0.01)),
    samples: int = 100_000, longer: float = 1.0,
) -> xarray.Dataset:
    """Mistakes at d + D (times `longer`) and the margin, [setting]; the error rate at which
    `samples` samples hold no mistake with chance delta; and log(samples) by the harmonic sum."""
    counts = [mistakes(round(longer * (D + d)), margin) for D, d, margin, _ in settings]
    unseen = [1 - delta ** (1 / samples) for *_, delta in settings]
    harmonic = np.sum(1 / np.arange(1, samples + 1)) - np.euler_gamma - 0.5 / samples
    return xarray.Dataset(
        along("setting", mistakes=counts, unseen=unseen) | {"logarithm": float(harmonic)})
