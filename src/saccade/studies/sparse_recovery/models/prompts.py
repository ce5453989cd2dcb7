"""Prompts of in-context regression as tokens: one token per pair, or x- and y-tokens in turn;
(batch, T, features), tokens as rows."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from saccade.studies.sparse_recovery.models.constructed import embed_prompt

Rows = Float[Array, "batch rows dim"]
Values = Float[Array, "batch rows"]


def pair_tokens(X: Rows, y: Values) -> Float[Array, "batch rows dim+1"]:
    """[x_i; y_i]: token n of a causal decoder has seen the first n pairs."""
    return jnp.concatenate([X, y[..., None]], axis=-1)


def paper_tokens(X: Rows, y: Values) -> Float[Array, "batch T 2*dim+2"]:
    """The paper's prompt, x-token and y-token in turn and the query last: X has one row more than
    y. See `embed_prompt`."""
    return jnp.swapaxes(jax.vmap(embed_prompt)(X, y), 1, 2)


def zero_padded_tokens(X: Rows, y: Values) -> Float[Array, "batch T dim"]:
    """The prompt of the GPT-2-like decoder: x_1, (y_1, 0, ..), x_2, (y_2, 0, ..), .., query."""
    batch, rows, dim = X.shape
    tokens = jnp.zeros((batch, 2 * rows - 1, dim), X.dtype).at[:, ::2].set(X)
    return tokens.at[:, 1::2, 0].set(y)
