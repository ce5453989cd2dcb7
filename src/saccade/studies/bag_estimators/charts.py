"""Real series on the map of all learners and all tasks, where the sets are installed: windows as
tokens. Nobody knows the best predictor, nor which windows matter."""

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from saccade.contracts import Kind
from saccade.datasets.bags import load_bags
from saccade.errors import require
from saccade.lab.chart import ChartedTask
from saccade.studies.bag_estimators.task import Sample, generator


@cache
def _read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Standardised windows (n, L, d), which all bags have as many of, and labels."""
    read = load_bags(name)
    X = np.asarray(read.tokens, float).reshape(len(read), -1, read.tokens.shape[1])
    return (X - X.mean()) / X.std(), np.where(read.labels > 0, 1.0, -1.0)


@dataclass(frozen=True)
class Series:
    """Bags of a set, none twice in a sample."""

    name: str
    length: int
    dim: int
    kind: ClassVar[Kind] = "classification"

    def sample(self, key: Any, n: int) -> Sample:
        X, y = _read(self.name)
        require(1 <= n <= len(y), "n", n, f"must lie from 1 to {len(y)}, the size of {self.name}")
        chosen = generator(key).permutation(len(y))[:n]
        return Sample(X[chosen], y[chosen], np.ones((n, self.length), bool))

    def best(self, X: Any) -> np.ndarray:
        """An oracle that looks the label up: error 0 stands for the unknown floor."""
        known = {x.tobytes(): label for x, label in zip(*_read(self.name), strict=True)}
        return np.array([known.get(np.asarray(x, float).tobytes(), 0.0) for x in X])


def _charted(name: str, says: str, count: int, length: int, dim: int) -> ChartedTask:
    return ChartedTask(
        name, "bag-estimators", says, lambda key, *size: Series(name, length, dim),
        floor="unknown, 0 is taken", size=(length, dim), most=count, quick=False,
        requires=f"data:{name}", located=False)


SERIES = (
    _charted("italy", "days of power demand, windows as tokens: winter?", 1096, 19, 6),
    _charted("arrowhead", "outlines of points, windows as tokens: class 0?", 211, 29, 24))
