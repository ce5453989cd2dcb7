"""Softmax attention of saccade's estimators: by content with one, two or four heads, and by content
and place, where a token carries its place as further features (one for each place)."""

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from saccade.contracts import Kind
from saccade.estimators import AttentionClassifier, AttentionRegressor
from saccade.lab.chart import ChartedLearner
from saccade.studies.attention_atlas.learners import STUDY
from saccade.studies.attention_atlas.models import RIDGES, Fitted
from saccade.studies.attention_atlas.task import generator

STEPS = 40


class Quiet:
    """Estimators note how they compare with pooling; here that would cost as much as the fit."""

    looks = False


class _Classifier(Quiet, AttentionClassifier):
    pass


class _Regressor(Quiet, AttentionRegressor):
    pass


def encoded(X: np.ndarray) -> np.ndarray:
    """Tokens with their place as further features."""
    places = np.broadcast_to(np.eye(X.shape[1]), (len(X), X.shape[1], X.shape[1]))
    return np.concatenate([X, places], axis=2)


def last_quarter(n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The one split by which every learner of the map is tuned."""
    rows = np.arange(n)
    return [(rows[: n - n // 4], rows[n - n // 4 :])]


class Softmax:
    """The learner: `heads` heads, with or without places."""

    def __init__(self, kind: Kind, heads: int, places: bool) -> None:
        self.kind, self.heads, self.places = kind, heads, places

    def fit(self, X: Any, y: Any, mask: Any = None, *, key: Any) -> Fitted:
        X, y, seed = np.asarray(X, float), np.asarray(y), int(generator(key).integers(2**31))
        common = {
            "n_heads": self.heads, "ridges": RIDGES, "max_iter": STEPS, "random_state": seed,
            "cv": last_quarter(len(y))}
        build: Any = _Regressor if self.kind == "regression" else _Classifier
        own = {"n_starts": 1} if self.kind == "regression" else {"class_weight": None}
        model = build(**common, **own)
        return fitted(model, X, y, mask, encoded if self.places else np.asarray)


def fitted(model: Any, X: np.ndarray, y: np.ndarray, mask: Any, read: Any) -> Fitted:
    """An estimator as a model of the map."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(read(X), y, mask)
    decide = getattr(model, "decision_function", None) or model.predict
    return Fitted(lambda X: decide(read(X)), lambda X: np.asarray(model.attention(read(X))))


def _charted(
    name: str, says: str, heads: int, places: bool = False, quick: bool = True
) -> ChartedLearner:
    make = partial(Softmax, heads=heads, places=places)
    return ChartedLearner(name, STUDY, says, make, quick=quick)


SOFTMAX = (
    _charted("softmax", "softmax attention by content, one head", 1),
    _charted("softmax-2", "softmax attention by content, two heads", 2),
    _charted("softmax-4", "softmax attention by content, four heads", 4, quick=False),
    _charted("content-place", "softmax attention by content and place, one head", 1, True),
    _charted(
        "content-place-2", "softmax attention by content and place, two heads", 2, True, False))
