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
    numbers and that of the others (1 for even classes); and a crossing point, a slope and five
    bends for two curves, drawn at random."""
    rows = []
    for seed in seeds_of(key, blocks):
        rng = default_rng(seed)
        numbers, positive = rng.standard_normal((draws, samples)), round(positive_rate * samples)
        gaps = numbers[:, :positive].mean(1) - numbers[:, positive:].mean(1)
        crossing, slope = np.exp(rng.uniform(*np.log([7.0, 250.0]))), rng.uniform(0.02, 0.1)
        rows.append([samples / 4 * np.mean(gaps**2), crossing, slope, *rng.uniform(0.3, 3.0, 5)])
    square, crossing, slope, *bends = np.array(rows).T
    return xarray.Dataset({
        "square": ("block", square), "crossing": ("block", crossing), "slope": ("block", slope),
        "bend": (("block", "point"), np.stack(bends, 1))})
