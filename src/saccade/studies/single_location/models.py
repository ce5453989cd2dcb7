"""The one-layer family: predictors that score tokens along k, read them along v, and can say where
they look.

All have the form T(X) = sum_l w_l(X k) (X_l . v); they differ in the weights w. X is (..., length,
dim), predictions are (...). Source: Marion, Berthier, Biau, Boyer 2025, section 2 (argmax oracle,
softmax, erf) and section 3 (attention read at [CLS]).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.errors import require, unknown

Tokens = Float[Array, "*batch length dim"]
Weights = Float[Array, "*batch length"]
Direction = Float[Array, " dim"]
Predictions = Float[Array, "*batch"]


def erf_weights(X: Tokens, k: Direction, inverse_temperature: ArrayLike) -> Weights:
    """w_l = erf(lambda X_l . k): signed, acting on each token alone, and odd in k, so that (-k, -v)
    predicts as (k, v) does."""
    return jax.scipy.special.erf(inverse_temperature * (X @ k))


def softmax_weights(X: Tokens, k: Direction, inverse_temperature: ArrayLike) -> Weights:
    """w = softmax(lambda X k) over tokens (the largest score is subtracted first, so large scores
    cannot overflow)."""
    return jax.nn.softmax(inverse_temperature * (X @ k), axis=-1)


def argmax_weights(X: Tokens, k: Direction) -> Weights:
    """w = one at the token with the largest X_l . k (the first of them on a tie): the limit of
    softmax as lambda grows."""
    scores = X @ k
    return jax.nn.one_hot(jnp.argmax(scores, axis=-1), scores.shape[-1], dtype=scores.dtype)


def read_along(X: Tokens, v: Direction, weights: Weights) -> Predictions:
    """sum_l w_l X_l . v."""
    return jnp.sum(weights * (X @ v), axis=-1)


def erf_predictor(
    X: Tokens, k: Direction, v: Direction, inverse_temperature: ArrayLike
) -> Predictions:
    """T(X) = sum_l erf(lambda X_l . k) X_l . v, the predictor whose training the paper follows."""
    return read_along(X, v, erf_weights(X, k, inverse_temperature))


def softmax_predictor(
    X: Tokens, k: Direction, v: Direction, inverse_temperature: ArrayLike
) -> Predictions:
    """T(X) = softmax(lambda X k)^T X v."""
    return read_along(X, v, softmax_weights(X, k, inverse_temperature))


def argmax_predictor(X: Tokens, k: Direction, v: Direction) -> Predictions:
    """T(X) = X_j . v with j = argmax_l X_l . k; at (k*, v*) the oracle that looks and reads."""
    return read_along(X, v, argmax_weights(X, k))


KINDS = ("erf", "softmax", "argmax")


def attention_weights(
    X: Tokens, k: Direction, inverse_temperature: ArrayLike = 1.0, kind: str = "softmax"
) -> Weights:
    """Where a predictor of this kind looks. For erf the weights are signed and do not sum to one;
    argmax ignores lambda."""
    if kind not in KINDS:
        raise unknown("kind of predictor", kind, KINDS)
    if kind == "argmax":
        return argmax_weights(X, k)
    return (erf_weights if kind == "erf" else softmax_weights)(X, k, inverse_temperature)


def predict(X, k, v, inverse_temperature: float = 1.0, kind: str = "softmax") -> Predictions:
    """T(X) on explicit data, with the input checked: X (..., length, dim), k and v (dim,), lambda
    above 0."""
    X, k, v = (np.asarray(a, dtype=float) for a in (X, k, v))
    require(
        X.ndim >= 2 and X.shape[-2] >= 1, "shape of X", X.shape, "must be (samples, length, dim)")
    for name, vector in (("k", k), ("v", v)):
        require(
            vector.shape == X.shape[-1:], f"shape of {name}", vector.shape,
            f"must be {X.shape[-1:]}, the last axis of X")
    for name, array in (("X", X), ("k", k), ("v", v)):
        require(
            bool(np.isfinite(array).all()), name, "an array with a value that is not finite",
            "must be finite")
    positive = np.isfinite(inverse_temperature) and inverse_temperature > 0
    require(
        bool(positive), "inverse_temperature", inverse_temperature, "must be finite and above 0")
    tokens, key_direction = jnp.asarray(X), jnp.asarray(k)
    return read_along(
        tokens, jnp.asarray(v), attention_weights(tokens, key_direction, inverse_temperature, kind))


class SingleHeadAttention(eqx.Module):
    """One attention head, softmax(lambda x Q K^T X^T) X V O^T, read at the row of a [CLS] token x.

    [CLS] asks and is not asked: the keys and values are those of the content tokens X only. (Kept
    among them, even a [CLS] with zero key and value would add exp(0) to the denominator, and the
    head would no longer be the softmax predictor.)
    """

    Q: Float[Array, "dim head"]
    K: Float[Array, "dim head"]
    V: Float[Array, "dim head"]
    O: Float[Array, "out head"]  # noqa: E741 (the paper's letter)
    inverse_temperature: float | Array = 1.0

    def __check_init__(self) -> None:
        shapes = {name: np.shape(getattr(self, name)) for name in "QKVO"}
        two_axes = all(len(shape) == 2 for shape in shapes.values())
        require(two_axes, "shapes of Q, K, V, O", shapes, "must have two axes each")
        require(
            shapes["Q"] == shapes["K"] == shapes["V"], "shapes of Q, K, V", shapes,
            "must be equal (dim, head)")
        require(
            shapes["O"][1] == shapes["V"][1], "shape of O", shapes["O"],
            f"must be (out, {shapes['V'][1]})")

    @classmethod
    def from_directions(
        cls, k: Direction, v: Direction, query: Direction, inverse_temperature: ArrayLike = 1.0
    ) -> "SingleHeadAttention":
        """The head of width one (K = k, V = v, O = 1): the softmax predictor with inverse
        temperature lambda (cls . query)."""
        Q, K, V = (jnp.asarray(a, float)[:, None] for a in (query, k, v))
        return cls(Q, K, V, jnp.ones((1, 1)), jnp.asarray(inverse_temperature, float))

    def attention_weights(self, X: Tokens, cls_token: Direction) -> Weights:
        """Where [CLS] looks: softmax over content tokens of lambda (cls Q) . (X_l K)."""
        query = cls_token @ self.Q
        return jax.nn.softmax(self.inverse_temperature * ((X @ self.K) @ query), axis=-1)

    def __call__(self, X: Tokens, cls_token: Direction) -> Float[Array, "*batch out"]:
        """The output row of [CLS]."""
        weights = self.attention_weights(X, cls_token)
        return jnp.einsum("...l,...lp,op->...o", weights, X @ self.V, self.O)
