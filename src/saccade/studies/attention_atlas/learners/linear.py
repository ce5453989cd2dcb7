"""Learners without attention: nothing at all, and a linear function of pooled or of all tokens."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from saccade.convex import fit_readout
from saccade.lab.chart import ChartedLearner
from saccade.studies.attention_atlas.learners import STUDY
from saccade.studies.attention_atlas.models import Data, Fitted, Mask, Tuned, evenly, scaled

RIDGES = (1.0, 0.1, 0.01, 0.001)
Features = Callable[[np.ndarray, Mask], np.ndarray]
Weigh = Callable[[np.ndarray, np.ndarray, Mask], np.ndarray]


def _nothing(data: Data) -> Iterator[Fitted]:
    """The mean, or the more frequent label."""
    level = float(data.y.mean())
    yield Fitted(lambda X, mask: np.full(len(X), level), evenly)


def read_out(features: np.ndarray, data: Data, ridge: float) -> tuple[np.ndarray, float]:
    """w and b of least squares or logistic regression with a ridge, in standardised features."""
    y, level, spread = scaled(data)
    mean, deviation = features.mean(axis=0), features.std(axis=0)
    deviation = np.where(deviation > 0, deviation, 1.0)
    table = (features - mean) / deviation
    if data.kind == "regression":
        gram = table.T @ table / len(y) + ridge * np.eye(table.shape[1])
        w, b = np.linalg.solve(gram, table.T @ y / len(y)), 0.0
    elif len(set(y.tolist())) < 2:
        w, b = np.zeros(table.shape[1]), float(y[0])
    else:
        made = fit_readout(table, y, ridge, tolerance=1e-6)
        w, b = made.w, made.b
    w = w / deviation
    return spread * w, level + spread * (b - mean @ w)


def _path(data: Data, features: Features, weigh: Weigh) -> Iterator[Fitted]:
    table = features(data.X, data.mask)
    for ridge in RIDGES:
        w, b = read_out(table, data, ridge)
        yield Fitted(lambda X, mask, w=w, b=b: features(X, mask) @ w + b, partial(weigh, w))


def _mean(X: np.ndarray, mask: Mask) -> np.ndarray:
    return X.mean(axis=1) if mask is None else X.sum(axis=1) / mask.sum(axis=1, keepdims=True)


def _ends(X: np.ndarray, mask: Mask) -> tuple[np.ndarray, np.ndarray]:
    """Largest and smallest of each feature over the tokens that are there."""
    if mask is None:
        return X.max(axis=1), X.min(axis=1)
    here = mask[:, :, None]
    return np.where(here, X, -np.inf).max(axis=1), np.where(here, X, np.inf).min(axis=1)


def _largest(X: np.ndarray, mask: Mask) -> np.ndarray:
    return np.concatenate(_ends(X, mask), axis=1)


def _flat(X: np.ndarray, mask: Mask) -> np.ndarray:
    return X.reshape(len(X), -1)


def _of_extremes(w: np.ndarray, X: np.ndarray, mask: Mask) -> np.ndarray:
    """How much of |w| is read at each token."""
    (up, down), (high, low) = np.abs(w).reshape(2, -1), _ends(X, mask)
    return (high[:, None] == X) @ up + (low[:, None] == X) @ down


def of_places(w: np.ndarray, X: np.ndarray, mask: Mask) -> np.ndarray:
    """The length of each place's own weights."""
    return np.linalg.norm(w.reshape(X.shape[1], X.shape[2]), axis=1)[None]


def _evenly(w: np.ndarray, X: np.ndarray, mask: Mask) -> np.ndarray:
    return evenly(X)


def _charted(
    name: str, says: str, features: Features, weigh: Weigh, ragged: bool = True
) -> ChartedLearner:
    path = partial(_path, features=features, weigh=weigh)
    return ChartedLearner(name, STUDY, says, lambda kind: Tuned(kind, path), ragged=ragged)


NULL = ChartedLearner(
    "null", STUDY, "the mean, or the more frequent label", lambda kind: Tuned(kind, _nothing),
    ragged=True)
POOLED = _charted("pooled", "linear in the mean token", _mean, _evenly)
LARGEST = _charted(
    "max-pooled", "linear in the largest and smallest of each feature", _largest, _of_extremes)
FLAT = _charted(
    "flattened", "linear in all tokens, each place with its own weights", _flat, of_places, False)
