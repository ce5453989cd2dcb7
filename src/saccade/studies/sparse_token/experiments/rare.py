"""Errors too rare to sample, of two and three tokens, by sums of densities over a grid."""

from itertools import combinations
from typing import Any

import numpy as np
import xarray
from scipy.special import expit

from saccade.lab.experiment import experiment


def _densities(length: int, informative: int, signal: float, cells: int) -> tuple[Any, ...]:
    """The axis, and the mass of negatives and of positives in every cell of length dimensions."""
    axis = np.linspace(-6.5, signal + 6.5, cells)
    mass = [
        np.exp(-((axis - at) ** 2) / 2) * (axis[1] - axis[0]) / np.sqrt(2 * np.pi)
        for at in (0.0, signal)]

    def product(places: tuple[int, ...]) -> np.ndarray:
        whole = np.ones(())
        for token in range(length):
            whole = np.multiply.outer(whole, mass[token in places])
        return whole

    placed = list(combinations(range(length), informative))
    return axis, product(()), sum(product(places) for places in placed) / len(placed)


def _smallest(statistic: np.ndarray, negative: np.ndarray, positive: np.ndarray, rate: float):
    """The error of the best threshold on the statistic."""
    order = np.argsort(statistic, axis=None)
    missed = np.cumsum(positive.ravel()[order])
    above = np.cumsum(negative.ravel()[order][::-1])[::-1]
    return float(np.min(rate * missed[:-1] + (1 - rate) * above[1:]))


@experiment("sparse-token.rare-errors")
def rare_errors(
    key: Any, *, positive_rate: float = 0.3, signal: float = 7.4, three_signal: float = 5.7,
    sharpness: float = 0.8, cells: int = 901, three_cells: int = 141,
) -> xarray.Dataset:
    """Bayes error and softmax error of two tokens, one informative, and the Bayes error of three
    with two informative ones."""
    axis, negative, positive = _densities(2, 1, signal, cells)
    share = expit(sharpness * np.subtract.outer(axis, axis))
    statistic = share * axis[:, None] + (1 - share) * axis
    _, none, two = _densities(3, 2, three_signal, three_cells)
    rate = positive_rate
    return xarray.Dataset({
        "bayes": np.minimum(rate * positive, (1 - rate) * negative).sum(),
        "softmax": _smallest(statistic, negative, positive, rate),
        "three": np.minimum(rate * two, (1 - rate) * none).sum()})
