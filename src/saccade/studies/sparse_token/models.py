"""Three classifiers of a set of tokens: softmax attention with one query, mean pooling, and a
linear map of the whole matrix.

All three are linear in a feature f(X) of dimension d (attention, pooled) or L d (vectorised), with
the margin <w, f(X)> + b, whose sign is the label:

    attention    f_q(X) = X^T softmax(beta X q)     only k = beta |q| (the sharpness) and the
                                                    direction of q matter
    pooled       f(X) = X^T 1/L                     attention at q = 0
    vectorised   f(X) = vec(X)

A masked token gets no attention; the vectorised classifier, whose places are fixed, reads it as
zeros.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

import saccade.precision  # noqa: F401  float64 before the first array

Tokens = Float[Array, "*batch token dim"]
Present = Bool[Array, "*batch token"] | None
Margins = Float[Array, "*batch"]
Shares = Float[Array, "*batch token"]


def attention_map(
    X: Tokens, query: Float[Array, " dim"], inverse_temperature=1.0, mask: Present = None
) -> Shares:
    """Where the attention classifier looks: softmax(beta X q), zero for masked tokens."""
    scores = inverse_temperature * (X @ query)
    if mask is None:
        return jax.nn.softmax(scores, axis=-1)
    shares = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), axis=-1)
    return jnp.where(mask, shares, 0.0)


@jax.jit
def attention_features(
    X: Tokens, query: Float[Array, " dim"], inverse_temperature=1.0, mask: Present = None
) -> Float[Array, "*batch dim"]:
    """f_q(X) = X^T softmax(beta X q)."""
    return jnp.einsum("...l,...ld->...d", attention_map(X, query, inverse_temperature, mask), X)


def pooled_features(X: Tokens) -> Float[Array, "*batch dim"]:
    """X^T 1/L, the mean token."""
    return X.mean(axis=-2)


def vectorised_features(X: Tokens) -> Float[Array, "*batch entries"]:
    """All L d entries, token after token."""
    return X.reshape(*X.shape[:-2], X.shape[-2] * X.shape[-1])


class AttentionClassifier(eqx.Module):
    """The margin <w, X^T softmax(beta X q)> + b."""

    query: Float[Array, " dim"]
    w: Float[Array, " dim"]
    b: Float[Array, ""]
    inverse_temperature: float = 1.0

    def __call__(self, X: Tokens, mask: Present = None) -> Margins:
        X = without_masked(X, mask)
        return attention_features(X, self.query, self.inverse_temperature, mask) @ self.w + self.b

    def attention(self, X: Tokens, mask: Present = None) -> Shares:
        """The softmax weights."""
        X = without_masked(X, mask)
        return attention_map(X, self.query, self.inverse_temperature, mask)


class PooledClassifier(eqx.Module):
    """The margin <w, X^T 1/L> + b: attention at q = 0."""

    w: Float[Array, " dim"]
    b: Float[Array, ""]

    def __call__(self, X: Tokens, mask: Present = None) -> Margins:
        return AttentionClassifier(jnp.zeros_like(self.w), self.w, self.b)(X, mask)

    def attention(self, X: Tokens, mask: Present = None) -> Shares:
        """The same for every token there is."""
        return attention_map(without_masked(X, mask), jnp.zeros_like(self.w), mask=mask)


class VectorisedClassifier(eqx.Module):
    """The margin sum_l <W_l, x_l> + b, with weights of its own for every place."""

    W: Float[Array, "token dim"]
    b: Float[Array, ""]

    def __call__(self, X: Tokens, mask: Present = None) -> Margins:
        return self._parts(X, mask).sum(axis=-1) + self.b

    def attention(self, X: Tokens, mask: Present = None) -> Shares:
        """Shares of the tokens in the margin, |<W_l, x_l>| over their sum: its only weights."""
        parts = jnp.abs(self._parts(X, mask))
        return parts / jnp.maximum(parts.sum(axis=-1, keepdims=True), jnp.finfo(parts.dtype).tiny)

    def _parts(self, X: Tokens, mask: Present) -> Shares:
        return (without_masked(X, mask) * self.W).sum(axis=-1)


def without_masked(X: Tokens, mask: Present) -> Tokens:
    """The tokens, zeros where there is none."""
    return X if mask is None else jnp.where(mask[..., None], X, 0.0)
