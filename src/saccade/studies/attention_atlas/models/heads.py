"""Softmax attention as a function that is minimised, for samples laid out token by token.

    F = b + sum_h sum_l softmax_l(S_{q_h}) S_{w_h},     S_c = T_l . c + place_l . c'
    J = mean loss(F, y) + ridge/2 (|q|^2 + |w|^2 + |q'|^2 + |w'|^2),   b is free

T are standardised tokens, place_l (if places are seen) is the standardised one-hot code of l, which
is never written out: its product with c' is (c'_l - mean c')/deviation. Arrays are (column, place,
sample), so that sums over places run along memory. Status: exact gradient.
"""

from typing import Any, NamedTuple

import numpy as np

from saccade.estimators.fitting import descend
from saccade.studies.attention_atlas.models import (
    CLOSE,
    LOSSES,
    RIDGES,
    STEPS,
    Data,
    Fitted,
    Mask,
    scaled,
)


class Tokens:
    """Samples made ready; a column of parameters has `width` numbers: features, then places."""

    def __init__(self, data: Data, places: bool) -> None:
        self.n, self.length, self.dim = data.X.shape
        rows = data.X.reshape(-1, self.dim)
        here = rows if data.mask is None else rows[data.mask.ravel()]
        self.mean, deviation = here.mean(axis=0), here.std(axis=0)
        self.inverse = 1 / np.where(deviation > 0, deviation, 1.0)
        self.columns = np.ascontiguousarray(
            ((data.X - self.mean) * self.inverse).transpose(2, 1, 0)).reshape(self.dim, -1)
        self.absent = None if data.mask is None else ~data.mask.T
        self.places = self.length if places and self.length > 1 else 0
        self.code = np.sqrt(self.length - 1) / self.length  # deviation of a one-hot entry
        self.width = self.dim + self.places

    def offsets(self, K: np.ndarray) -> np.ndarray:
        """What places add to the scores of K (columns, width)."""
        own = K[:, self.dim :]
        return (own - own.mean(axis=1, keepdims=True)) / self.code

    def scores(self, K: np.ndarray) -> np.ndarray:
        S = (K[:, : self.dim] @ self.columns).reshape(len(K), self.length, self.n)
        if self.places:
            S += self.offsets(K)[:, :, None]
        return S

    def back(self, slopes: np.ndarray) -> np.ndarray:
        """dJ/dK from dJ/dS."""
        by_feature = slopes.reshape(len(slopes), -1) @ self.columns.T
        if not self.places:
            return by_feature
        by_place = slopes.sum(axis=2)
        centred = (by_place - by_place.mean(axis=1, keepdims=True)) / self.code
        return np.concatenate([by_feature, centred], axis=1)

    def softmax(self, S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Over places, in place, and the log of the sum of exponentials."""
        if self.absent is not None:
            S[:, self.absent] = -np.inf
        top = S.max(axis=1, keepdims=True)
        np.exp(np.subtract(S, top, out=S), out=S)
        total = S.sum(axis=1, keepdims=True)
        S /= total
        return S, (top + np.log(total))[:, 0]


class Tied:
    """F = b + log mean_l exp(S_w): one column serves as query and as value."""

    def __init__(self, tokens: Tokens, data: Data) -> None:
        self.tokens, self.loss, self.y = tokens, LOSSES[data.kind], scaled(data)[0]
        counts = tokens.length if data.mask is None else data.mask.sum(axis=1)
        self.level = np.log(counts)

    def __call__(self, theta: np.ndarray, ridge: float) -> tuple[float, np.ndarray]:
        weights, total = self.tokens.softmax(self.tokens.scores(theta[None, 1:]))
        losses, pull = self.loss(theta[0] + total[0] - self.level, self.y)
        pull = pull / len(pull)
        weights *= pull
        gradient = np.concatenate([[pull.sum()], self.tokens.back(weights)[0] + ridge * theta[1:]])
        return float(losses.mean() + ridge * theta[1:] @ theta[1:] / 2), gradient

    def model(self, theta: np.ndarray) -> Any:
        return theta


class Heads:
    """The layer; theta = (b, queries, values), one column of parameters each."""

    def __init__(self, data: Data, heads: int, places: bool) -> None:
        self.data, self.heads, self.tokens = data, heads, Tokens(data, places)
        self.loss = LOSSES[data.kind]
        self.y, self.level, self.spread = scaled(data)

    def __call__(self, theta: np.ndarray, ridge: float) -> tuple[float, np.ndarray]:
        K = theta[1:].reshape(2 * self.heads, -1)
        S = self.tokens.scores(K)
        weights, _ = self.tokens.softmax(S[: self.heads])
        values = S[self.heads :]
        means = np.einsum("hln,hln->hn", weights, values)
        losses, pull = self.loss(theta[0] + means.sum(axis=0), self.y)
        pull = pull / len(pull)
        weights *= pull
        values -= means[:, None]
        values *= weights  # S now holds dJ/dS of values, then of queries
        by_value, by_query = np.split(self.tokens.back(S), 2)
        gradient = ridge * theta
        gradient[0] = pull.sum()
        gradient[1:] += np.concatenate([by_query, by_value]).ravel()
        return float(losses.mean() + ridge * theta[1:] @ theta[1:] / 2), gradient

    def starts(self) -> list[np.ndarray]:
        """The tied solution for the first head, 0.3 of its query and noise for the others, whose
        values are 0; for numbers a random start too, since a sum may be carried by a token that
        another direction marks."""
        tied, width = Tied(self.tokens, self.data), self.tokens.width
        end = descend(tied, np.zeros(1 + width), RIDGES[0], STEPS, *CLOSE).theta
        random = np.random.default_rng(self.data.seed)
        queries = 0.3 * end[1:] + random.standard_normal((self.heads, width)) / np.sqrt(width)
        values = np.zeros_like(queries)
        queries[0] = values[0] = end[1:]
        starts = [np.concatenate([end[:1], queries.ravel(), values.ravel()])]
        if self.data.kind == "regression":
            starts.append(random.standard_normal(1 + 2 * self.heads * width) / np.sqrt(width))
        return starts

    def model(self, theta: np.ndarray) -> Fitted:
        tokens, K = self.tokens, theta[1:].reshape(2 * self.heads, -1)
        raw = K[:, : tokens.dim] * tokens.inverse
        offsets = np.tile(-(raw @ tokens.mean)[:, None], tokens.length)
        if tokens.places:
            offsets += tokens.offsets(K)
        made = Looking(
            float(theta[0]), raw, offsets, np.linalg.norm(K[self.heads :], axis=1), self.level,
            self.spread)
        return Fitted(made.predict, made.weigh, theta)


class Looking(NamedTuple):
    """The fitted function in the units of the tokens as they came."""

    b: float
    raw: np.ndarray
    offsets: np.ndarray
    strength: np.ndarray
    level: float
    spread: float

    def scores(self, X: np.ndarray, mask: Mask) -> tuple[np.ndarray, np.ndarray]:
        """Weights and values, (head, sample, place)."""
        S = np.moveaxis(X @ self.raw.T, 2, 0) + self.offsets[:, None]
        queries, values = np.split(S, 2)
        if mask is not None:
            queries = np.where(mask, queries, -np.inf)
        weights = np.exp(queries - queries.max(axis=2, keepdims=True))
        return weights / weights.sum(axis=2, keepdims=True), values

    def predict(self, X: np.ndarray, mask: Mask) -> np.ndarray:
        weights, values = self.scores(X, mask)
        return self.level + self.spread * (self.b + (weights * values).sum(axis=(0, 2)))

    def weigh(self, X: np.ndarray, mask: Mask) -> np.ndarray:
        """The heads' weights, averaged by how long the value of each is."""
        total = self.strength.sum()
        share = self.strength / total if total > 0 else np.full(len(self.strength), 1.0)
        return np.tensordot(share, self.scores(X, mask)[0], 1)
