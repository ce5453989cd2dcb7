"""Estimators of saccade as learners of the map."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from saccade.contracts import Kind
from saccade.studies.attention_atlas.models import Fitted, evenly
from saccade.studies.attention_atlas.task import generator

Split = list[tuple[np.ndarray, np.ndarray]]


class Quiet:
    """Estimators note how they compare with pooling; here that would cost as much as the fit."""

    looks = False


@dataclass(frozen=True)
class Estimated:
    """`build(split, seed)` is the estimator; `split` is the one by which every learner of the map
    is tuned, the last quarter held out."""

    kind: Kind
    build: Callable[[Split, int], Any]

    def fit(self, X: Any, y: Any, mask: Any = None, *, key: Any) -> Fitted:
        X, y = np.asarray(X, float), np.asarray(y)
        rows, kept = np.arange(len(y)), len(y) - len(y) // 4
        if len(set(y[:kept].tolist())) < 2:  # nothing to tell apart: the more frequent label
            level = float(np.mean(y))
            return Fitted(lambda X, mask: np.full(len(X), level), evenly)
        model = self.build([(rows[:kept], rows[kept:])], int(generator(key).integers(2**31)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y, mask)
        return Fitted(model.decision_function, lambda X, mask: np.asarray(model.attention(X, mask)))
