"""Standardisation that does not copy the tokens, and the pooled statistics of bags.

A column whose deviation is rounding noise is a constant: it becomes 0, not noise blown up to 1.
"""

from dataclasses import dataclass

import numpy as np

from saccade.estimators.bags import Bags
from saccade.estimators.segments import blocks

NOISE = 1e-6
"""Deviations below this part of 1 and the mean are rounding noise of a constant."""
STATISTICS = {"mean": ("mean",), "all": ("mean", "max", "min", "std")}


@dataclass(frozen=True)
class Standard:
    """x -> (x - mean) * inverse, inverse = 1/deviation, 0 for constant columns."""

    mean: np.ndarray
    inverse: np.ndarray

    @classmethod
    def of_moments(
        cls, mean: np.ndarray, variance: np.ndarray, floor: np.ndarray | float
    ) -> "Standard":
        deviation = np.sqrt(variance)
        constant = deviation <= floor
        return cls(mean, np.where(constant, 0.0, 1 / np.where(constant, 1.0, deviation)))

    @classmethod
    def of_tokens(cls, bags: Bags, weight: np.ndarray) -> "Standard":
        """Over all tokens, each with the weight of its bag. A deviation of at most NOISE (1 +
        |mean|) is a constant's; where no column varies by 1, the largest deviation stands for the
        1, so that tokens in tiny units are still tokens."""
        width = bags.tokens.shape[1]
        parts = blocks(bags.offsets, width)
        weighted = len(weight) > 0 and (weight != weight[0]).any()
        total = float(weight @ bags.lengths)

        def average(of) -> np.ndarray:
            sums = np.zeros(width)
            for part in parts:
                values = of(bags.tokens[part.tokens])
                if weighted:
                    sums += part.segments.spread(weight[part.bags]) @ values
                else:
                    sums += weight[0] * values.sum(axis=0, dtype=np.float64)
            return sums / total

        mean = average(lambda tokens: tokens)
        variance = average(lambda tokens: np.square(tokens - mean))
        scale = min(1.0, float(np.sqrt(variance.max())))
        return cls.of_moments(mean, variance, NOISE * (scale + np.abs(mean)))

    @classmethod
    def of_features(cls, features: np.ndarray, weight: np.ndarray) -> "Standard":
        """Over bags, of features already in units of the tokens' deviations."""
        mean = weight @ features / weight.sum()
        variance = weight @ np.square(features - mean) / weight.sum()
        return cls.of_moments(mean, variance, NOISE * (1 + np.abs(mean)))

    def __call__(self, values: np.ndarray) -> np.ndarray:
        return (values - self.mean) * self.inverse


def pooled(bags: Bags, standard: Standard, statistics: str) -> np.ndarray:
    """(n, d or 4 d): mean, or mean, maximum, minimum and deviation of standardised tokens."""
    names = STATISTICS[statistics]
    width = bags.tokens.shape[1]
    table = np.empty((len(bags), len(names), width))
    for part in blocks(bags.offsets, width):
        table[part.bags] = _of_block(bags.tokens[part.tokens], part.segments, standard, names)
    return table.reshape(len(bags), -1)


def _of_block(tokens, segments, standard: Standard, names) -> np.ndarray:
    starts, count = segments.starts, segments.lengths[:, None]
    values = standard(tokens)
    mean = np.add.reduceat(values, starts, axis=0) / count
    made = {"mean": mean}
    if len(names) > 1:
        made["max"] = np.maximum.reduceat(values, starts, axis=0)
        made["min"] = np.minimum.reduceat(values, starts, axis=0)
        values -= np.repeat(mean, segments.lengths, axis=0)
        made["std"] = np.sqrt(np.add.reduceat(np.square(values), starts, axis=0) / count)
    return np.stack([made[name] for name in names], axis=1)
