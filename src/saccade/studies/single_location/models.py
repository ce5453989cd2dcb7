"""The one-layer family: predictors that score tokens along k and read them along v.

All have the form T(X) = sum_l w_l(X k) (X_l . v); they differ in the weights w. X is (..., length,
dim), predictions are (...); a token that the mask leaves out changes nothing and has weight zero.
Source: Marion, Berthier, Biau, Boyer 2025, section 2 (argmax oracle, softmax, erf) and section 3
(attention read at [CLS]).
"""

from abc import abstractmethod

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Bool, Float

from saccade.arrays import Array, floats, namespace, special
from saccade.errors import require

Tokens = Float[Array, "*batch length dim"]
Mask = Bool[Array, "*batch length"]
Weights = Float[Array, "*batch length"]
Direction = Float[Array, " dim"]
Predictions = Float[Array, "*batch"]


def _present(X: Tokens, mask: Mask | None) -> Tokens:
    """The tokens, with zeros where there is none: what stands there may be no number at all."""
    return X if mask is None else namespace(X, mask).where(mask[..., None], X, 0.0)


def _softmax(scores: Weights, mask: Mask | None) -> Weights:
    """Over the tokens that are there."""
    if mask is None and namespace(scores) is np:
        return special(scores).softmax(scores, axis=-1)
    return jax.nn.softmax(scores, axis=-1, where=mask)


class _Predictor(eqx.Module):
    """T(X) = sum_l w_l X_l . v, with weights made of the scores X_l . k."""

    k: Direction
    v: Direction

    def __check_init__(self) -> None:
        k, v = np.shape(self.k), np.shape(self.v)
        require(len(k) == 1 and k == v, "shapes of k and v", (k, v), "must be the same (dim,)")

    @abstractmethod
    def _weights(self, scores: Weights, mask: Mask | None) -> Weights: ...

    def attention(self, X: Tokens, mask: Mask | None = None) -> Weights:
        """Where it looks: the weights w."""
        return self._weights(_present(X, mask) @ self.k, mask)

    def __call__(self, X: Tokens, mask: Mask | None = None) -> Predictions:
        return (self.attention(X, mask) * (_present(X, mask) @ self.v)).sum(axis=-1)


class ErfAttention(_Predictor):
    """w_l = erf(lambda X_l . k), the predictor whose training the paper follows: signed weights,
    each of its token alone, and odd in k, so that (-k, -v) predicts as (k, v) does."""

    inverse_temperature: float | Array = 1.0

    def _weights(self, scores: Weights, mask: Mask | None) -> Weights:
        x = self.inverse_temperature * scores  # zero where there is no token: erf(0) = 0
        return special(x).erf(x)


class SoftmaxAttention(_Predictor):
    """w = softmax(lambda X k) over tokens; large scores do not overflow."""

    inverse_temperature: float | Array = 1.0

    def _weights(self, scores: Weights, mask: Mask | None) -> Weights:
        return _softmax(self.inverse_temperature * scores, mask)


class ArgmaxAttention(_Predictor):
    """w = one at the token with the largest X_l . k (the first on a tie): the limit of softmax as
    lambda grows, and at (k*, v*) the oracle that looks and reads."""

    def _weights(self, scores: Weights, mask: Mask | None) -> Weights:
        xp = namespace(scores)
        allowed = scores if mask is None else xp.where(mask, scores, -xp.inf)
        first = xp.argmax(allowed, axis=-1)[..., None] == xp.arange(scores.shape[-1])
        return (first if mask is None else mask & first).astype(scores.dtype)


class SingleHeadAttention(eqx.Module):
    """One attention head, softmax(lambda x Q K^T X^T) X V O^T, read at its [CLS] token x.

    [CLS] asks and is not asked: the keys and values are those of the content tokens X only. (Kept
    among them, even a [CLS] with zero key and value would add exp(0) to the denominator, and the
    head would no longer be the softmax predictor.)
    """

    Q: Float[Array, "dim head"]
    K: Float[Array, "dim head"]
    V: Float[Array, "dim head"]
    O: Float[Array, "out head"]  # noqa: E741 (the paper's letter)
    cls_token: Direction
    inverse_temperature: float | Array = 1.0

    def __check_init__(self) -> None:
        shapes = {name: np.shape(getattr(self, name)) for name in "QKVO"}
        two_axes = all(len(shape) == 2 for shape in shapes.values())
        require(two_axes, "shapes of Q, K, V, O", shapes, "must have two axes each")
        same = shapes["Q"] == shapes["K"] == shapes["V"]
        require(same, "shapes of Q, K, V", shapes, "must be equal (dim, head)")
        width = shapes["V"][1]
        require(shapes["O"][1] == width, "shape of O", shapes["O"], f"must be (out, {width})")

    @classmethod
    def from_directions(
        cls, k: Direction, v: Direction, query: Direction, cls_token: Direction,
        inverse_temperature: float | Array = 1.0,
    ) -> "SingleHeadAttention":
        """The head of width one (K = k, V = v, O = 1): softmax at lambda (cls . query)."""
        k, v, query, cls_token = floats(k, v, query, cls_token)
        Q, K, V = (vector[:, None] for vector in (query, k, v))
        return cls(Q, K, V, np.ones((1, 1)), cls_token, inverse_temperature)

    def attention(self, X: Tokens, mask: Mask | None = None) -> Weights:
        """Where [CLS] looks: softmax over content tokens of lambda (cls Q) . (X_l K)."""
        scores = (_present(X, mask) @ self.K) @ (self.cls_token @ self.Q)
        return _softmax(self.inverse_temperature * scores, mask)

    def output(self, X: Tokens, mask: Mask | None = None) -> Float[Array, "*batch out"]:
        """The whole output row of [CLS]."""
        values = _present(X, mask) @ self.V
        weights = self.attention(X, mask)
        return namespace(weights, values).einsum("...l,...lp,op->...o", weights, values, self.O)

    def __call__(self, X: Tokens, mask: Mask | None = None) -> Predictions:
        """The first entry of the output row of [CLS]."""
        return self.output(X, mask)[..., 0]
