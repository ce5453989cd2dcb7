"""The group lasso on places: linear in all tokens, whole places left out.

    minimise (1/n) sum_i loss(b + <w, x_i>, y_i) + alpha sum_l |w_l|,   w_l the weights of place l

by accelerated proximal steps down a path of alphas, each started where the last one ended.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from saccade.lab.chart import ChartedLearner
from saccade.studies.attention_atlas.learners import STUDY
from saccade.studies.attention_atlas.learners.linear import of_places
from saccade.studies.attention_atlas.models import LOSSES, Data, Fitted, Mask, Tuned, scaled

SHARES = (0.5, 0.2, 0.05, 0.01)
STEPS = 150


def shrunk(w: np.ndarray, by: float) -> np.ndarray:
    """The proximal step: each row shorter by `by`, or gone."""
    norms = np.linalg.norm(w, axis=1, keepdims=True)
    return w * np.maximum(1 - by / np.maximum(norms, 1e-300), 0)


def _path(data: Data) -> Iterator[Fitted]:
    y, level, spread = scaled(data)
    loss, shape, n = LOSSES[data.kind], data.X.shape[1:], len(y)
    table = data.X.reshape(n, -1)
    curvature = 1.0 if data.kind == "regression" else 0.25
    step = 1 / (curvature * (np.linalg.eigvalsh(table.T @ table / n)[-1] + 1))

    def slope(w: np.ndarray, b: float) -> tuple[np.ndarray, float]:
        pull = loss(table @ w.ravel() + b, y)[1] / n
        return (table.T @ pull).reshape(shape), float(pull.sum())

    w, b = np.zeros(shape), 0.0
    largest = np.linalg.norm(slope(w, b)[0], axis=1).max()
    for share in SHARES:
        w, b = _minimised(w, b, slope, step, share * largest)
        yield Fitted(
            partial(_predict, spread * w.ravel(), level + spread * b), partial(of_places, w.ravel())
        )


def _minimised(w: np.ndarray, b: float, slope, step: float, alpha: float):
    """Nesterov's steps with their momentum t."""
    ahead, ahead_b, t = w, b, 1.0
    for _ in range(STEPS):
        pull, pull_b = slope(ahead, ahead_b)
        new, new_b = shrunk(ahead - step * pull, step * alpha), ahead_b - step * pull_b
        t_new = (1 + np.sqrt(1 + 4 * t * t)) / 2
        ahead, ahead_b = new + (t - 1) / t_new * (new - w), new_b + (t - 1) / t_new * (new_b - b)
        w, b, t = new, new_b, t_new
    return w, b


def _predict(w: np.ndarray, b: float, X: np.ndarray, mask: Mask) -> np.ndarray:
    return X.reshape(len(X), -1) @ w + b


LASSO = ChartedLearner(
    "group-lasso", STUDY, "linear in all tokens, places left out by a group lasso",
    lambda kind: Tuned(kind, _path))
