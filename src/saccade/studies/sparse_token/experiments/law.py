"""What attention makes of a sample, by quadrature over the noise of all its tokens."""

from itertools import product
from typing import Any

import numpy as np
import xarray

from saccade.lab.experiment import experiment

MOMENTS = ("A", "A^2", "S", "A S", "tau^2", "A tau^2")


def _moments(shift: np.ndarray, across: np.ndarray, sharpness: float, nodes: int) -> np.ndarray:
    """Means of `MOMENTS` over token noise g, token after token: t = shift + g, s = softmax(k t), A
    = s.t, S = s.across, tau = |s|."""
    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    weights = weights / weights.sum()
    means = np.zeros(len(MOMENTS))
    for last, rest in product(range(nodes), repeat=2):
        noise = np.stack([points, *[np.full(nodes, points[at]) for at in (last, rest)]], axis=1)
        t = shift + noise
        s = np.exp(sharpness * t)
        s = s / s.sum(axis=1, keepdims=True)
        A, S, square = (s * t).sum(1), s @ across, (s * s).sum(1)
        values = np.stack([A, A * A, S, A * S, square, A * square])
        means += weights[last] * weights[rest] * (values @ weights)
    return means


@experiment("sparse-token.feature-law")
def feature_moments(
    key: Any, *, signal: float = 1.5, informative: int = 2,
    alignments: tuple[float, ...] = (0.6, -0.8), sharpness: float = 1.3, nodes: int = 32,
) -> xarray.Dataset:
    """`MOMENTS` of positives and of negatives with three tokens, alignment by alignment."""
    rows = []
    for rho in alignments:
        planted = np.array([1.0] * informative + [0.0] * (3 - informative))
        across = signal * np.sqrt(1 - rho**2) * planted
        rows.append([
            _moments(signal * rho * planted, across, sharpness, nodes),
            _moments(np.zeros(3), np.zeros(3), sharpness, nodes)])
    return xarray.Dataset(
        {"mean": (("alignment", "label", "moment"), np.array(rows))},
        {"alignment": list(alignments), "label": [1, -1], "moment": list(MOMENTS)})
