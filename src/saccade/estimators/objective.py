"""The function that is minimised, its gradient in one pass over the tokens, and the fitted model.

    J(b, W, c) = sum_i s_i loss(F_i, y_i) + lambda/2 (|w|^2 + ratio |q|^2 + |c|^2)
    F_i = b + head(T_i W) + phi_i c,     sum_i s_i = 1,   b is free

loss is log(1 + exp(-y F)) for y = +-1, or (F - y)^2/2. T are standardised tokens; standardising is
folded into W (T W = X (W/deviation) - mean (W/deviation)), so the tokens are never copied. One
evaluation goes over blocks of bags: scores, head, loss and the pull-back of each block while its
tokens are in the cache. Status: exact gradient.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from saccade.estimators.bags import Bags
from saccade.estimators.heads import Head
from saccade.estimators.segments import blocks
from saccade.estimators.standard import Standard, pooled

FAR = 100.0
"""A column this many deviations away from 0 loses two of the seven digits of float32 when the mean
is taken off after the product; its tokens are then standardised first, in a copy."""


def logistic(F: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log(1 + exp(-y F)) and its derivative in F."""
    margin = y * F
    return np.logaddexp(0, -margin), -y * expit(-margin)


def squared(F: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.square(F - y) / 2, F - y


Loss = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


class Data:
    """Bags made ready: how their tokens are standardised, their pooled features if any."""

    def __init__(self, bags: Bags, weight: np.ndarray, statistics: str | None = None) -> None:
        self.standard = Standard.of_tokens(bags, weight)
        scaled = np.abs(self.standard.mean) * self.standard.inverse
        self.copied = bags.tokens.dtype == np.float32 and bool(scaled.max() > FAR)
        self.bags, self.weight, self.statistics = bags, weight, statistics
        self.tokens, self.fold = bags.tokens, self.standard
        if self.copied:
            self.tokens = self.standard(bags.tokens).astype(bags.tokens.dtype)
            self.fold = Standard(np.zeros(len(scaled)), np.ones(len(scaled)))
        self.blocks = blocks(bags.offsets, bags.tokens.shape[1])
        self._make_features()

    def _make_features(self) -> None:
        self.features, self.feature_standard = np.empty((len(self.bags), 0)), None
        if self.statistics is not None:
            self.features = pooled(self.bags, self.standard, self.statistics)
            self.feature_standard = Standard.of_features(self.features, self.weight)
            self.features = self.feature_standard(self.features)

    def along(self, v: np.ndarray) -> np.ndarray:
        """T v: the product of every standardised token with v."""
        raw = v * self.fold.inverse
        return (self.tokens @ raw.astype(self.tokens.dtype) - raw @ self.fold.mean).astype(float)

    def pulled(self, by_token: np.ndarray) -> np.ndarray:
        """T^T g: the pull of one number a token on v."""
        raw = by_token.astype(self.tokens.dtype) @ self.tokens
        return (raw - by_token.sum() * self.fold.mean) * self.fold.inverse

    def with_features(self, statistics: str | None) -> "Data":
        """The same tokens, standardised as they are, with these pooled features."""
        if statistics == self.statistics:
            return self
        other = copy(self)
        other.statistics = statistics
        other._make_features()
        return other


def ridged(
    value: Any, gradient: np.ndarray, theta: np.ndarray, penalties: np.ndarray
) -> tuple[float, np.ndarray]:
    """A loss and its gradient with sum_k penalty_k theta_k^2/2 added."""
    pull = penalties * theta
    return float(value + pull @ theta / 2), gradient + pull


class Objective:
    """J for one head on one set of bags; parameters theta = (b, W row by row, c)."""

    def __init__(
        self, data: Data, y: np.ndarray, share: np.ndarray, head: Head | None, ratio: float = 1.0,
        loss: Loss = logistic,
    ) -> None:
        self.data, self.y, self.share, self.head, self.loss = data, y, share, head, loss
        self.width = data.tokens.shape[1]
        self.columns = head.columns if head else 0
        penalties = np.repeat(head.penalties(ratio), self.width) if head else np.empty(0)
        self.penalties = np.concatenate([[0.0], penalties, np.ones(data.features.shape[1])])

    @property
    def size(self) -> int:
        return len(self.penalties)

    def parts(self, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """b, W (columns, width), c."""
        last = 1 + self.columns * self.width
        return theta[0], theta[1:last].reshape(self.columns, self.width), theta[last:]

    def __call__(self, theta: np.ndarray, ridge: float) -> tuple[float, np.ndarray]:
        b, W, c = self.parts(theta)
        base = b + self.data.features @ c
        if self.head is None:
            losses, slope = self.loss(base, self.y)
            value, slope = self.share @ losses, self.share * slope
            pulled = np.empty(0)
        else:
            value, slope, pulled = self._through_tokens(base, W)
        gradient = np.concatenate([[slope.sum()], pulled, slope @ self.data.features])
        return ridged(value, gradient, theta, ridge * self.penalties)

    def _through_tokens(self, base: np.ndarray, W: np.ndarray):
        """(loss, dJ/dF, dJ/dW), block by block."""
        tokens, head, fold = self.data.tokens, self.head, self.data.fold
        assert head is not None
        raw = W * fold.inverse
        columns, shift = np.ascontiguousarray(raw.T, tokens.dtype), (raw @ fold.mean)[:, None]
        value, slopes = 0.0, np.empty(len(base))
        pulled, sums = np.zeros_like(W), np.zeros(self.columns)
        for part in self.data.blocks:
            rows = tokens[part.tokens]
            scores = np.subtract((rows @ columns).T, shift, dtype=tokens.dtype, order="C")
            level, kept = head.forward(scores, part.segments)
            losses, slope = self.loss(base[part.bags] + level, self.y[part.bags])
            value += self.share[part.bags] @ losses
            slopes[part.bags] = slope = self.share[part.bags] * slope
            back = head.backward(kept, slope, part.segments)
            pulled += (rows.T @ np.ascontiguousarray(back.T)).T
            sums += back.sum(axis=1, dtype=np.float64)
        return value, slopes, ((pulled - sums[:, None] * fold.mean) * fold.inverse).ravel()

    def model(self, theta: np.ndarray) -> "BagModel":
        """The fitted function in the units of the tokens as they came."""
        b, W, c = self.parts(theta)
        return BagModel(
            float(b), self.head, W * self.data.standard.inverse,
            (W * self.data.standard.inverse) @ self.data.standard.mean, c.copy(),
            self.data.statistics, self.data.standard, self.data.feature_standard,
            np.linalg.norm(W, axis=1))


@dataclass(frozen=True)
class BagModel:
    """F(X) = b + head(X W - shift) + phi(X) c, for tokens as they came."""

    intercept: float
    head: Head | None
    weights: np.ndarray
    shift: np.ndarray
    coefficients: np.ndarray
    statistics: str | None
    standard: Standard
    feature_standard: Standard | None
    strength: np.ndarray

    def features(self, bags: Bags) -> np.ndarray:
        """phi(X), standardised; no columns where the model pools nothing."""
        if self.statistics is None or self.feature_standard is None:
            return np.empty((len(bags), 0))
        return self.feature_standard(pooled(bags, self.standard, self.statistics))

    def decision(self, bags: Bags, features: np.ndarray | None = None) -> np.ndarray:
        """F of each bag; `features` are those of `features(bags)`, if they are known."""
        known = self.features(bags) if features is None else features
        F = self.intercept + known @ self.coefficients
        if self.head is not None:
            for part in blocks(bags.offsets, bags.tokens.shape[1]):
                scores = self._scores(bags.tokens[part.tokens])
                F[part.bags] += self.head.forward(scores, part.segments)[0]
        return F

    def attention(self, bags: Bags) -> np.ndarray:
        """The weight of each token in its bag, flat; all equal where the model does not look."""
        if self.head is None:
            return np.repeat(1 / bags.lengths, bags.lengths)
        weights = np.empty(len(bags.tokens))
        for part in blocks(bags.offsets, bags.tokens.shape[1]):
            scores = self._scores(bags.tokens[part.tokens])
            weights[part.tokens] = self.head.attention(scores, self.strength, part.segments)
        return weights

    def _scores(self, tokens: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray((tokens @ self.weights.T - self.shift).T)
