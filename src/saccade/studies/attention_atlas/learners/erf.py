"""Attention whose weights are erf of a score instead of a softmax: the layer of single-location
regression.

    F(X) = b + sum_l erf(x_l . q) x_l . v,   ridges on q and v, from two random starts
"""

from functools import partial

import numpy as np
from scipy.special import erf

from saccade.lab.chart import ChartedLearner
from saccade.studies.attention_atlas.learners import STUDY
from saccade.studies.attention_atlas.models import LOSSES, Data, Descended, Fitted, Mask, scaled

STARTS = 2


class Erf:
    """J of theta = (b, q, v) and its gradient; where there is no token x_l = 0 adds nothing."""

    def __init__(self, data: Data) -> None:
        self.loss, self.seed = LOSSES[data.kind], data.seed
        self.y, self.level, self.spread = scaled(data)
        _, self.length, self.dim = data.X.shape
        self.columns = np.ascontiguousarray(data.X.transpose(2, 1, 0)).reshape(self.dim, -1)

    def __call__(self, theta: np.ndarray, ridge: float) -> tuple[float, np.ndarray]:
        K = theta[1:].reshape(2, -1)
        scores, values = (K @ self.columns).reshape(2, self.length, -1)
        gate = erf(scores)
        losses, pull = self.loss(theta[0] + (gate * values).sum(axis=0), self.y)
        pull = pull / len(pull)
        steep = 2 / np.sqrt(np.pi) * np.exp(-np.square(scores)) * values
        back = np.stack([steep * pull, gate * pull]).reshape(2, -1)
        gradient = np.concatenate([[pull.sum()], (back @ self.columns.T + ridge * K).ravel()])
        return float(losses.mean() + ridge * theta[1:] @ theta[1:] / 2), gradient

    def starts(self) -> list[np.ndarray]:
        random = np.random.default_rng(self.seed)
        return [
            np.concatenate([[0.0], random.standard_normal(2 * self.dim) / np.sqrt(self.dim)])
            for _ in range(STARTS)]

    def model(self, theta: np.ndarray) -> Fitted:
        q, v = np.split(theta[1:], 2)
        level = self.level + self.spread * theta[0]
        return Fitted(partial(_predict, level, q, self.spread * v), partial(_weigh, q), theta)


def _predict(level: float, q: np.ndarray, v: np.ndarray, X: np.ndarray, mask: Mask) -> np.ndarray:
    return level + (erf(X @ q) * (X @ v)).sum(axis=1)


def _weigh(q: np.ndarray, X: np.ndarray, mask: Mask) -> np.ndarray:
    """|erf| of each token; its sign is taken up by the value."""
    return np.abs(erf(X @ q))


ERF = ChartedLearner(
    "erf", STUDY, "erf attention by content, one head", lambda kind: Descended(kind, Erf),
    ragged=True)
