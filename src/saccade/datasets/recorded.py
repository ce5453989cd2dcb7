"""Real data as a task (`saccade.contracts`): labelled samples of which each is drawn at most once,
and an oracle that looks labels up in the place of the best predictor, which nobody knows."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from saccade.contracts import Kind
from saccade.errors import require


class Sample(NamedTuple):
    """Tokens, labels, which tokens matter (where that is known), and where there is a token."""

    X: np.ndarray
    y: np.ndarray
    where: np.ndarray
    mask: np.ndarray


@dataclass(frozen=True)
class Recorded:
    """Samples X (n, length, dim), padded with zeros outside `mask`, with labels -1 and 1; `where`
    is the mask if nobody knows better."""

    name: str
    X: np.ndarray
    y: np.ndarray
    mask: np.ndarray
    where: np.ndarray
    kind: ClassVar[Kind] = "classification"

    @classmethod
    def of_one_length(cls, name: str, X: np.ndarray, positive: np.ndarray) -> "Recorded":
        everywhere = np.ones(X.shape[:2], bool)
        return cls(name, X, np.where(positive, 1.0, -1.0), everywhere, everywhere)

    @property
    def length(self) -> int:
        return self.X.shape[1]

    @property
    def dim(self) -> int:
        return self.X.shape[2]

    def sample(self, key: Any, n: int) -> Sample:
        """n of the samples, none twice."""
        import jax

        count = len(self.y)
        require(1 <= n <= count, "n", n, f"must lie from 1 to {count}, the size of {self.name}")
        seeds = np.asarray(jax.random.key_data(key)).astype(np.uint64).tolist()
        chosen = np.random.default_rng(seeds).permutation(count)[:n]
        return Sample(self.X[chosen], self.y[chosen], self.where[chosen], self.mask[chosen])

    def best(self, X: Any) -> np.ndarray:
        """An oracle that looks labels up: error 0 stands for the unknown floor."""
        known = {x.tobytes(): label for x, label in zip(self.X, self.y, strict=True)}
        return np.array([known.get(np.asarray(x, float).tobytes(), 0.0) for x in X])
