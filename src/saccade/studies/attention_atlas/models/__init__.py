"""What a learner of the map is: a path of fitted functions, of which one is chosen on held-out
samples. Every learner has four settings to choose from, judged on the same last quarter of the
samples, and is then fitted to all of them: the same budget for each."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np

from saccade.contracts import Kind
from saccade.estimators.fitting import descend
from saccade.estimators.objective import Loss, logistic, squared
from saccade.studies.attention_atlas.task import generator

CHOICES, STEPS = 4, 40
RIDGES = (0.1, 0.03, 0.01, 0.001)
CLOSE = 1e-5, 1e-4
"""A descent ends where a step gains less than this share, or no slope is above this."""
LOSSES: dict[Kind, Loss] = {"regression": squared, "classification": logistic}
Mask = np.ndarray | None


class Fitted(NamedTuple):
    """A model from two functions of X and its mask: a prediction, and how much each token weighs in
    it; `theta` is where the descent that found it ended."""

    predict: Callable[[np.ndarray, Mask], np.ndarray]
    weigh: Callable[[np.ndarray, Mask], np.ndarray]
    theta: np.ndarray | None = None

    def __call__(self, X: Any, mask: Any = None) -> np.ndarray:
        return self.predict(_filled(X, mask), mask)

    def attention(self, X: Any, mask: Any = None) -> np.ndarray:
        """To one in each sample; equal where nothing weighs; zero where there is no token."""
        X = _filled(X, mask)
        here = np.ones(X.shape[:2]) if mask is None else np.asarray(mask, float)
        weights = np.broadcast_to(self.weigh(X, mask), X.shape[:2]) * here
        total = weights.sum(axis=1, keepdims=True)
        even = here / np.maximum(here.sum(axis=1, keepdims=True), 1)
        return np.where(total > 0, weights / np.where(total > 0, total, 1), even)


def _filled(X: Any, mask: Any) -> np.ndarray:
    """Zeros where there is no token, whatever stands there."""
    X = np.asarray(X, float)
    return X if mask is None else np.where(np.asarray(mask)[:, :, None], X, 0.0)


def evenly(X: np.ndarray, mask: Mask = None) -> np.ndarray:
    """What does not look weighs all tokens alike."""
    return np.ones(X.shape[:2])


class Data(NamedTuple):
    """What is fitted: numbers, or labels -1 and 1; where there is no token X is 0 and `mask` says
    so."""

    X: np.ndarray
    y: np.ndarray
    kind: Kind
    seed: int
    mask: Mask = None

    def rows(self, chosen: slice) -> "Data":
        mask = None if self.mask is None else self.mask[chosen]
        return self._replace(X=self.X[chosen], y=self.y[chosen], mask=mask)


Path = Callable[[Data], Iterable[Fitted]]
"""Models in the order of the settings."""


@dataclass(frozen=True)
class Tuned:
    """A learner: the path, and the choice among its models."""

    kind: Kind
    path: Path

    def fit(self, X: Any, y: Any, mask: Any = None, *, key: Any) -> Fitted:
        y, seed = np.asarray(y, float), int(generator(key).integers(2**31))
        mask = None if mask is None else np.asarray(mask)
        data = Data(_filled(X, mask), y, self.kind, seed, mask)
        kept = len(y) - len(y) // 4
        tried = list(islice(self.path(data.rows(slice(kept))), CHOICES))
        best, left = 0, data.rows(slice(kept, None))
        if len(tried) > 1:
            held = [LOSSES[self.kind](one(left.X, left.mask), left.y)[0].mean() for one in tried]
            best = int(np.argmin(np.nan_to_num(held, nan=np.inf)))
        return self.whole(data, best, tried[best])

    def whole(self, data: Data, best: int, model: Fitted) -> Fitted:
        """The model of the chosen setting, fitted to all samples."""
        return next(islice(self.path(data), best, None))


class Layer(Protocol):
    """J and its gradient at parameters and a ridge, where to start, and the function they are."""

    def __call__(self, theta: np.ndarray, ridge: float) -> tuple[float, np.ndarray]: ...

    def model(self, theta: np.ndarray) -> Any: ...

    def starts(self) -> list[np.ndarray]: ...


class Descended(Tuned):
    """A learner whose path is L-BFGS: from the best of its starts at the largest ridge down to the
    smallest, each from where the last one ended. The chosen one goes on to all samples from there.
    """

    def __init__(self, kind: Kind, layer: Callable[[Data], Layer]) -> None:
        object.__setattr__(self, "layer", layer)
        super().__init__(kind, self._walk)

    layer: Callable[[Data], Layer]

    def _walk(self, data: Data) -> Iterator[Fitted]:
        layer = self.layer(data)
        starts = layer.starts()
        for ridge in RIDGES:
            ends = [descend(layer, start, ridge, STEPS, *CLOSE) for start in starts]
            best = min(ends, key=lambda end: end.value)
            starts = [best.theta]
            yield best.model

    def whole(self, data: Data, best: int, model: Fitted) -> Fitted:
        assert model.theta is not None
        return descend(self.layer(data), model.theta, RIDGES[best], STEPS, *CLOSE).model


def scaled(data: Data) -> tuple[np.ndarray, float, float]:
    """Targets centred and of deviation one, with both numbers; labels as they are."""
    if data.kind == "classification":
        return data.y, 0.0, 1.0
    mean, spread = float(data.y.mean()), float(data.y.std()) or 1.0
    return (data.y - mean) / spread, mean, spread
