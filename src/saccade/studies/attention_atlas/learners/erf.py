"""Attention whose weights are erf of a score instead of a softmax: the layer of single-location
regression.

    F(X) = b + sum_l erf(x_l . q) x_l . v,   ridges on q and v, from two random starts down the path
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.special import erf

from saccade.estimators.fitting import descend
from saccade.lab.chart import ChartedLearner
from saccade.studies.attention_atlas.learners import STUDY
from saccade.studies.attention_atlas.models import LOSSES, RIDGES, Data, Fitted, Tuned, scaled

STEPS, STARTS = 40, 2


class ErfObjective:
    """J of theta = (b, q, v) and its gradient."""

    def __init__(self, X: np.ndarray, y: np.ndarray, loss) -> None:
        self.X, self.y, self.loss = X, y, loss
        self.rows = X.reshape(-1, X.shape[2])

    def __call__(self, theta: np.ndarray, ridge: float) -> tuple[float, np.ndarray]:
        b, (q, v) = theta[0], np.split(theta[1:], 2)
        scores, values = (self.rows @ np.stack([q, v], axis=1)).T.reshape(2, *self.X.shape[:2])
        gate = erf(scores)
        losses, pull = self.loss(b + (gate * values).sum(axis=1), self.y)
        pull = pull / len(pull)
        steep = 2 / np.sqrt(np.pi) * np.exp(-np.square(scores)) * values
        back = np.stack([pull[:, None] * steep, pull[:, None] * gate]).reshape(2, -1)
        penalty = ridge * np.concatenate([[0.0], theta[1:]])
        gradient = np.concatenate([[pull.sum()], (back @ self.rows).ravel()])
        return float(losses.mean() + penalty @ theta / 2), gradient + penalty

    def model(self, theta: np.ndarray) -> Any:
        return theta


def _path(data: Data) -> Iterator[Fitted]:
    y, level, spread = scaled(data)
    objective, dim = ErfObjective(data.X, y, LOSSES[data.kind]), data.X.shape[2]
    random = np.random.default_rng(data.seed)
    starts = [
        np.concatenate([[0.0], random.standard_normal(2 * dim) / np.sqrt(dim)])
        for _ in range(STARTS)]
    for ridge in RIDGES:
        best = min(
            (descend(objective, start, ridge, STEPS) for start in starts), key=lambda end: end.value
        )
        starts = [best.theta]
        yield Fitted(partial(_predict, best.theta, level, spread), partial(_weigh, best.theta))


def _predict(theta: np.ndarray, level: float, spread: float, X: np.ndarray) -> np.ndarray:
    q, v = np.split(theta[1:], 2)
    return level + spread * (theta[0] + (erf(X @ q) * (X @ v)).sum(axis=1))


def _weigh(theta: np.ndarray, X: np.ndarray) -> np.ndarray:
    """|erf| of each token; its sign is taken up by the value."""
    return np.abs(erf(X @ np.split(theta[1:], 2)[0]))


ERF = ChartedLearner(
    "erf", STUDY, "erf attention by content, one head", lambda kind: Tuned(kind, _path))
