"""What a learner of the map is: a path of fitted functions, of which one is chosen on held-out
samples. Every learner has four settings to choose from, judged on the same last quarter of the
samples, and is then fitted to all of them: the same budget for each."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from saccade.contracts import Kind
from saccade.estimators.objective import Loss, logistic, squared
from saccade.studies.attention_atlas.task import generator

CHOICES = 4
RIDGES = (0.1, 0.03, 0.01, 0.001)
LOSSES: dict[Kind, Loss] = {"regression": squared, "classification": logistic}


class Fitted(NamedTuple):
    """A model from two functions of X: a prediction, and how much each token weighs in it."""

    predict: Callable[[np.ndarray], np.ndarray]
    weigh: Callable[[np.ndarray], np.ndarray]

    def __call__(self, X: Any, mask: Any = None) -> np.ndarray:
        return self.predict(_filled(X, mask))

    def attention(self, X: Any, mask: Any = None) -> np.ndarray:
        """To one in each sample; equal where nothing weighs; zero where there is no token."""
        X = _filled(X, mask)
        here = np.ones(X.shape[:2]) if mask is None else np.asarray(mask, float)
        weights = np.broadcast_to(self.weigh(X), X.shape[:2]) * here
        total = weights.sum(axis=1, keepdims=True)
        even = here / np.maximum(here.sum(axis=1, keepdims=True), 1)
        return np.where(total > 0, weights / np.where(total > 0, total, 1), even)


def _filled(X: Any, mask: Any) -> np.ndarray:
    """Zeros where there is no token, whatever stands there."""
    X = np.asarray(X, float)
    return X if mask is None else np.where(np.asarray(mask)[:, :, None], X, 0.0)


def evenly(X: np.ndarray) -> np.ndarray:
    """What does not look weighs all tokens alike."""
    return np.ones(X.shape[:2])


class Data(NamedTuple):
    """What is fitted: targets are centred and scaled, labels are -1 and 1."""

    X: np.ndarray
    y: np.ndarray
    kind: Kind
    seed: int


Path = Callable[[Data], Iterable[Fitted]]
"""Models in the order of the settings."""


@dataclass(frozen=True)
class Tuned:
    """A learner: the path, and the choice among its models."""

    kind: Kind
    path: Path

    def fit(self, X: Any, y: Any, mask: Any = None, *, key: Any) -> Fitted:
        X, y = _filled(X, mask), np.asarray(y, float)
        seed = int(generator(key).integers(2**31))
        kept = len(y) - len(y) // 4
        tried = list(islice(self.path(Data(X[:kept], y[:kept], self.kind, seed)), CHOICES))
        best = 0
        if len(tried) > 1:
            held = [LOSSES[self.kind](model(X[kept:]), y[kept:])[0].mean() for model in tried]
            best = int(np.argmin(np.nan_to_num(held, nan=np.inf)))
        return next(islice(self.path(Data(X, y, self.kind, seed)), best, None))


def scaled(data: Data) -> tuple[np.ndarray, float, float]:
    """Targets centred and of deviation one, with both numbers; labels as they are."""
    if data.kind == "classification":
        return data.y, 0.0, 1.0
    mean, spread = float(data.y.mean()), float(data.y.std()) or 1.0
    return (data.y - mean) / spread, mean, spread
