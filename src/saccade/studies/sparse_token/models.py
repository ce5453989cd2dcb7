"""Three classifiers of a set of tokens: softmax attention with one query, mean pooling, and a
linear map of the whole matrix.

All three are linear in a feature f(X) of dimension d (attention, pooled) or L d (vectorised): the
prediction is sign(<w, f(X)> + b).
    attention   f_q(X) = X^T softmax(beta X q)      only k = beta |q| (the sharpness) and the
    direction of q matter pooled      f(X) = X^T 1/L                      attention at q = 0
    vectorised  f(X) = vec(X)
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

import saccade.precision  # noqa: F401  float64 before the first array

MODELS = ("attention", "pooled", "vectorised")


def softmax_pool(
    X: Float[Array, "*batch token dim"], scores: Float[Array, "*batch token"]
) -> Float[Array, "*batch dim"]:
    """sum_l softmax(scores)_l X_l: the tokens averaged with softmax weights."""
    return jnp.einsum("...l,...ld->...d", jax.nn.softmax(scores, axis=-1), X)


def attention_map(
    X: Float[Array, "*batch token dim"], query: Float[Array, " dim"], inverse_temperature=1.0
) -> Float[Array, "*batch token"]:
    """Where the attention classifier looks: softmax(beta X q), non-negative weights of the tokens
    that sum to one."""
    return jax.nn.softmax(inverse_temperature * (X @ query), axis=-1)


def attention_features(
    X: Float[Array, "*batch token dim"], query: Float[Array, " dim"], inverse_temperature=1.0
) -> Float[Array, "*batch dim"]:
    """f_q(X) = X^T softmax(beta X q)."""
    return softmax_pool(X, inverse_temperature * (X @ query))


def pooled_features(X: Float[Array, "*batch token dim"]) -> Float[Array, "*batch dim"]:
    """X^T 1/L, the mean token."""
    return X.mean(axis=-2)


def vectorised_features(X: Float[Array, "*batch token dim"]) -> Float[Array, "*batch entries"]:
    """All L d entries, token after token."""
    return X.reshape(*X.shape[:-2], X.shape[-2] * X.shape[-1])


class LinearReadout(eqx.Module):
    """<w, f> + b on given features, and its sign."""

    w: Float[Array, " feature"]
    b: Float[Array, ""]

    def margin(self, features: Float[Array, "*batch feature"]) -> Float[Array, "*batch"]:
        return features @ self.w + self.b

    def predict(self, features: Float[Array, "*batch feature"]) -> Float[Array, "*batch"]:
        """+1 or -1; a margin of exactly zero counts as -1."""
        return jnp.where(self.margin(features) > 0, 1.0, -1.0)


class AttentionClassifier(eqx.Module):
    """sign(<w, X^T softmax(beta X q)> + b)."""

    query: Float[Array, " dim"]
    readout: LinearReadout
    inverse_temperature: float = 1.0

    def features(self, X: Float[Array, "*batch token dim"]) -> Float[Array, "*batch dim"]:
        return attention_features(X, self.query, self.inverse_temperature)

    def attention(self, X: Float[Array, "*batch token dim"]) -> Float[Array, "*batch token"]:
        """Where it looks."""
        return attention_map(X, self.query, self.inverse_temperature)

    def margin(self, X: Float[Array, "*batch token dim"]) -> Float[Array, "*batch"]:
        return self.readout.margin(self.features(X))

    def predict(self, X: Float[Array, "*batch token dim"]) -> Float[Array, "*batch"]:
        return self.readout.predict(self.features(X))
