"""What bags lost when held out: which setting is best, and whether a model beats another."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Target(NamedTuple):
    """What one model is fitted to: y (+1 and -1, or numbers) and the share of each bag in J."""

    y: np.ndarray
    share: np.ndarray


class HeldOut:
    """Losses of bags (last axis) that were held out, for each target and setting."""

    def __init__(self, targets: Sequence[Target], settings: int) -> None:
        self.share = np.stack([target.share for target in targets])
        self.total = np.zeros((len(targets), settings, self.share.shape[1]))
        self.count = np.zeros((len(targets), 1, self.share.shape[1]))

    def add(self, row: int, test: np.ndarray, losses: np.ndarray) -> None:
        self.total[row][:, test] += losses
        self.count[row][:, test] += 1

    @property
    def mean(self) -> np.ndarray:
        """(targets, settings), each bag by its share; NaN where none was judged."""
        weight = self.share[:, None] * self.count
        sums, total = (self.share[:, None] * self.total).sum(axis=2), weight.sum(axis=2)
        return np.divide(sums, total, out=np.full_like(sums, np.nan), where=total > 0)

    def best(self) -> np.ndarray:
        """The setting with the smallest loss of each target; the middle one where none was
        judged."""
        middle = self.total.shape[1] // 2
        judged = ~np.isnan(self.mean).any(axis=1)
        return np.where(judged, np.argmin(self.mean, axis=1), middle)

    def loss(self) -> float:
        """Of the best settings, averaged over targets."""
        return float(np.mean(np.take_along_axis(self.mean, self.best()[:, None], axis=1)))

    def of_bags(self) -> np.ndarray:
        """(targets, bags): the losses of the best settings; 0 for bags that were not judged."""
        rows = np.take_along_axis(self.total, self.best()[:, None, None], axis=1)
        return (rows / np.maximum(self.count, 1))[:, 0]


STANDARD_ERRORS = 2.0
"""By how many a difference of losses must exceed 0 to be called one."""


def is_better(first: HeldOut, second: HeldOut) -> bool | None:
    """Whether the first lost less on the same bags: the paired difference of their losses is above
    two of its standard errors. None where nothing was judged."""
    if np.isnan(first.loss() + second.loss()):
        return None
    share = np.where(first.count[:, 0] > 0, first.share, 0.0)
    share = share / share.sum(axis=1, keepdims=True)
    gains = (share * (second.of_bags() - first.of_bags())).mean(axis=0)
    gain, n = gains.sum(), gains.size
    error = np.sqrt(n / max(1, n - 1) * np.square(gains - share.mean(axis=0) * gain).sum())
    return bool(gain > STANDARD_ERRORS * error)
