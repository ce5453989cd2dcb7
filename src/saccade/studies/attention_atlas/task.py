"""A task that none of the papers has: a signal split between a place and a mark.

split    tokens N(0, I) in R^d. The first token, unmarked, carries <u, x_1>. One other token J,
         uniform, is N(sqrt(d/2) k, I/2) and carries <v, x_J>, as in single-location regression;
         y = sqrt(1 - s) <u, x_1> + sqrt(2 s) <v, x_J>, so that Var y = 1 for every share s.
         k, u and v are orthonormal.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax
import numpy as np
from scipy.special import softmax

from saccade.contracts import Kind
from saccade.errors import require


class Sample(NamedTuple):
    """Tokens, targets, and which tokens matter."""

    X: np.ndarray
    y: np.ndarray
    where: np.ndarray


def generator(key: Any) -> np.random.Generator:
    """NumPy's generator of a JAX key."""
    return np.random.default_rng(np.asarray(jax.random.key_data(key)).astype(np.uint64).tolist())


@dataclass(frozen=True)
class Split:
    """`share` (s) of the variance of y is read at the marked token, the rest at the first."""

    length: int
    directions: np.ndarray
    share: float
    kind: ClassVar[Kind] = "regression"

    @classmethod
    def create(cls, key: Any, length: int, dim: int, share: float) -> "Split":
        require(length >= 2, "length", length, "must be at least 2 for the task 'split'")
        require(dim >= 3, "dim", dim, "must be at least 3 for the task 'split'")
        require(0 <= share <= 1, "share", share, "must lie from 0 to 1")
        axes, _ = np.linalg.qr(generator(key).standard_normal((dim, 3)))
        return cls(length, axes.T, share)

    @property
    def dim(self) -> int:
        return self.directions.shape[1]

    def sample(self, key: Any, n: int) -> Sample:
        random, (k, _, _) = generator(key), self.directions
        X = random.standard_normal((n, self.length, self.dim))
        marked = np.zeros((n, self.length), bool)
        marked[np.arange(n), random.integers(1, self.length, n)] = True
        X[marked] = np.sqrt(0.5) * X[marked] + np.sqrt(self.dim / 2) * k
        where = marked & (self.share > 0)
        where[:, 0] = self.share < 1
        return Sample(X, self._read(X, marked), where)

    def _read(self, X: Any, weights: Any) -> np.ndarray:
        _, u, v = self.directions
        marked = (weights * (X @ v)).sum(axis=1)
        return np.sqrt(1 - self.share) * (X[:, 0] @ u) + np.sqrt(2 * self.share) * marked

    def _evidence(self, X: np.ndarray) -> np.ndarray:
        away = X - np.sqrt(self.dim / 2) * self.directions[0]
        return np.square(X).sum(axis=2) / 2 - np.square(away).sum(axis=2)

    def best(self, X: Any) -> np.ndarray:
        """Bayes, E[y | X]: the posterior of J is a softmax over the other tokens of log N(x;
        sqrt(d/2) k, I/2) - log N(x; 0, I)."""
        X = np.asarray(X)
        evidence = self._evidence(X)
        evidence[:, 0] = -np.inf
        return self._read(X, softmax(evidence, axis=1))

    def without_order(self, X: Any, among: int) -> np.ndarray:
        """E[y | the tokens as a set] for s = 0: token l is the first with a chance in proportion to
        1 - p_l, p_l its chance of being the marked one; `among` so many first places."""
        require(self.share == 0, "share", self.share, "must be 0 for a guess without the order")
        X = np.asarray(X)
        chances = (1 - softmax(self._evidence(X), axis=1))[:, :among]
        return (chances * (X[:, :among] @ self.directions[1])).sum(axis=1) / chances.sum(axis=1)
