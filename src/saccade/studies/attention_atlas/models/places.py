"""Attention by place alone, group-sparse's layer, as a function that is minimised.

    F = b + sum_l a_l v . x_l,   a = softmax(s),   J = mean loss(F, y) + ridge/2 (.1 |s|^2 + |v|^2)

F is linear in the table of all tokens, with the weights a_l v: one product with the table and one
back are an evaluation. For numbers the loss needs only the second moments of the table, so that an
evaluation costs the same from any number of samples. Tokens are standardised, places alike. Status:
exact gradient.
"""

from functools import partial

import numpy as np

from saccade.studies.attention_atlas.models import LOSSES, Data, Fitted, Mask, scaled

RATIO, STARTS = 0.1, 2


class Places:
    """The layer; theta = (b, s, v)."""

    def __init__(self, data: Data) -> None:
        n, self.length, self.dim = data.X.shape
        rows = data.X.reshape(-1, self.dim)
        self.mean, deviation = rows.mean(axis=0), rows.std(axis=0)
        self.inverse = 1 / np.where(deviation > 0, deviation, 1.0)
        self.table = ((data.X - self.mean) * self.inverse).reshape(n, -1)
        self.loss = LOSSES[data.kind]
        self.y, self.level, self.spread = scaled(data)
        self.penalties = np.repeat([0.0, RATIO, 1.0], [1, self.length, self.dim])
        self.moments = None
        if data.kind == "regression":
            whole = np.column_stack([self.table, np.ones(n), self.y])
            self.moments = whole.T @ whole / n

    def parts(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """a and v."""
        scores = theta[1 : 1 + self.length]
        weights = np.exp(scores - scores.max())
        return weights / weights.sum(), theta[1 + self.length :]

    def __call__(self, theta: np.ndarray, ridge: float) -> tuple[float, np.ndarray]:
        a, v = self.parts(theta)
        value, slope, by_weight = self._through(np.outer(a, v).ravel(), theta[0])
        by_place = by_weight.reshape(self.length, self.dim)
        pull = by_place @ v
        gradient = np.concatenate([[slope], a * (pull - a @ pull), a @ by_place])
        penalty = ridge * self.penalties * theta
        return value + float(penalty @ theta) / 2, gradient + penalty

    def _through(self, w: np.ndarray, b: float) -> tuple[float, float, np.ndarray]:
        """Mean loss of table . w + b, and its derivatives in b and in w."""
        if self.moments is not None:
            whole = np.concatenate([w, [b, -1.0]])
            pulled = self.moments @ whole
            return float(whole @ pulled) / 2, float(pulled[-2]), pulled[:-2]
        losses, pull = self.loss(self.table @ w + b, self.y)
        pull = pull / len(pull)
        return float(losses.mean()), float(pull.sum()), pull @ self.table

    def starts(self) -> list[np.ndarray]:
        """All places alike, and the places that screening ranks first, by |sum_i y_i x_il|: nine
        tenths of the attention there, with that sum as value."""
        sums = (self.y @ self.table / len(self.y)).reshape(self.length, self.dim)
        first = np.argsort(-np.linalg.norm(sums, axis=1), kind="stable")[:STARTS]
        starts = [np.zeros(len(self.penalties))]
        for place in first:
            start = np.zeros(len(self.penalties))
            start[1 + place] = np.log(max(1, 9 * (self.length - 1)))
            start[1 + self.length :] = sums[place]
            starts.append(start)
        return starts

    def model(self, theta: np.ndarray) -> Fitted:
        a, v = self.parts(theta)
        raw = v * self.inverse
        level = self.level + self.spread * (theta[0] - raw @ self.mean)
        return Fitted(
            partial(_predict, level, self.spread * np.outer(a, raw)), partial(_weigh, a), theta)


def _predict(level: float, weights: np.ndarray, X: np.ndarray, mask: Mask) -> np.ndarray:
    return level + X.reshape(len(X), -1) @ weights.ravel()


def _weigh(a: np.ndarray, X: np.ndarray, mask: Mask) -> np.ndarray:
    return a[None]
