"""Estimators of saccade as models of the map."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from saccade.studies.attention_atlas.models import Fitted


class Quiet:
    """Estimators note how they compare with pooling; here that would cost as much as the fit."""

    looks = False


def last_quarter(n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The one split by which every learner of the map is tuned."""
    rows = np.arange(n)
    return [(rows[: n - n // 4], rows[n - n // 4 :])]


def fitted(model: Any, X: np.ndarray, y: np.ndarray, mask: Any) -> Fitted:
    """The estimator, fitted, as a model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y, mask)
    return Fitted(model.decision_function, lambda X, mask: np.asarray(model.attention(X, mask)))
