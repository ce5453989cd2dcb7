"""Small tasks and models of this study that `tests/test_contracts.py` holds to the contracts: the
bags of `task.py`, and estimators fitted to them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import logsumexp

from saccade.contracts import Kind, Symmetry
from saccade.estimators import AttentionClassifier, LogMeanExpClassifier, TwoStepAttentionClassifier
from saccade.studies.bag_estimators.task import Sample, generator, single_location, sparse_tokens


@dataclass(frozen=True)
class SparseBags:
    """Sparse tokens with labels -1 and 1."""

    length: int = 6
    dim: int = 4
    signal: float = 3.0
    kind: ClassVar[Kind] = "classification"

    def sample(self, key: Any, n: int) -> Sample:
        drawn = sparse_tokens(generator(key), n, self.length, self.dim, self.signal)
        return drawn._replace(y=2.0 * drawn.y - 1)

    def best(self, X: Any) -> np.ndarray:
        """Bayes: log mean_l e^{theta u_l - theta^2/2}, u = X xi."""
        along = np.asarray(X).sum(axis=2) / np.sqrt(self.dim)
        evidence = logsumexp(self.signal * along, axis=1) - np.log(self.length)
        return evidence - self.signal**2 / 2


@dataclass(frozen=True)
class LocatedBags:
    """Single location."""

    length: int = 6
    dim: int = 4
    kind: ClassVar[Kind] = "regression"

    def sample(self, key: Any, n: int) -> Sample:
        return single_location(generator(key), n, self.length, self.dim)

    def best(self, X: Any) -> np.ndarray:
        """Reads the token that is likeliest the informative one (an oracle, not Bayes)."""
        X = np.asarray(X)
        evidence = np.square(X).sum(axis=2) / 2
        evidence -= np.square(X - np.sqrt(self.dim / 2) * np.eye(self.dim)[0]).sum(axis=2)
        return X[np.arange(len(X)), evidence.argmax(axis=1), 1]


class Fitted(NamedTuple):
    """An estimator of bags as a model."""

    estimator: Any

    def __call__(self, X: Any, mask: Any = None) -> np.ndarray:
        return self.estimator.decision_function(np.asarray(X), _as_array(mask))

    def attention(self, X: Any, mask: Any = None) -> np.ndarray:
        return self.estimator.attention(np.asarray(X), _as_array(mask))


def _as_array(mask: Any) -> np.ndarray | None:
    return None if mask is None else np.asarray(mask)


def _fitted(build: Callable[[], Any]) -> Callable[[Any], Fitted]:
    def make(key: Any) -> Fitted:
        sample = SparseBags().sample(key, 200)
        return Fitted(build().fit(sample.X, sample.y))

    return make


TASKS: dict[str, Callable[[Any], Any]] = {
    "sparse-bags": lambda key: SparseBags(), "located-bags": lambda key: LocatedBags()}
MODELS: dict[str, Callable[[Any], Any]] = {
    "log-mean-exp": _fitted(lambda: LogMeanExpClassifier(ridges=0.03)),
    "attention": _fitted(lambda: AttentionClassifier(n_heads=1, ridges=0.03, max_iter=500)),
    "two-steps": _fitted(lambda: TwoStepAttentionClassifier(sharpness=(2.0,), ridges=0.03))}
SYMMETRIES = dict.fromkeys(MODELS, Symmetry("invariant"))
