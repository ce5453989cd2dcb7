"""How noisy a difference of class means is where classes are uneven, and curves that cross."""

from typing import Any

import numpy as np
import xarray
from numpy.random import default_rng

from saccade.lab.experiment import experiment
from saccade.studies.sparse_token.experiments.draws import seeds_of


@experiment("sparse-token.uneven-classes")
def uneven_classes(
    key: Any, *, positive_rate: float = 0.2, samples: int = 100, draws: int = 400, blocks: int = 64
) -> xarray.Dataset:
    """In blocks: n/4 times the mean square of the difference between the mean of pi n normal
    numbers and that of the others (1 for even classes); and a crossing point and a slope for two
    curves, drawn at random."""
    squares, crossings, slopes = np.zeros((3, blocks))
    for place, seed in enumerate(seeds_of(key, blocks)):
        rng = default_rng(seed)
        numbers, positive = rng.standard_normal((draws, samples)), round(positive_rate * samples)
        gaps = numbers[:, :positive].mean(1) - numbers[:, positive:].mean(1)
        squares[place] = samples / 4 * np.mean(gaps**2)
        crossings[place], slopes[place] = rng.uniform(12.0, 150.0), rng.uniform(0.02, 0.1)
    return xarray.Dataset({
        name: ("block", values)
        for name, values in (("square", squares), ("crossing", crossings), ("slope", slopes))})
