"""Where training starts, and the way from four weight blocks to parameters."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from saccade.studies.group_sparse.models.transformer import PAPER_LAYER, Architecture, Parameters


def zeros(
    token_dim: int, architecture: Architecture = PAPER_LAYER, key: PRNGKeyArray | None = None,
    hidden_scale: float = 0.1,
) -> Parameters:
    """The paper's start, W = 0 and v = 0. With an MLP zero is a stationary point, so its two
    matrices get small Gaussian entries (`key`)."""
    attention = jnp.zeros((architecture.layers, token_dim, token_dim))
    if not architecture.hidden:
        return Parameters(attention, jnp.zeros(token_dim), jnp.zeros((0, token_dim)))
    value_key, hidden_key = jax.random.split(jax.random.key(0) if key is None else key)
    value = hidden_scale * jax.random.normal(value_key, (architecture.hidden,))
    hidden = hidden_scale * jax.random.normal(hidden_key, (architecture.hidden, token_dim))
    return Parameters(attention, value, hidden)


def xavier(
    key: PRNGKeyArray, token_dim: int, architecture: Architecture = PAPER_LAYER, factor: float = 1.0
) -> Parameters:
    """Glorot's Gaussian start times `factor`: variance 2 / (inputs + outputs) for W, v and U. A
    sabotage of the zero start."""
    keys = jax.random.split(key, 3)
    width = architecture.hidden or token_dim
    attention = jax.random.normal(keys[0], (architecture.layers, token_dim, token_dim)) / jnp.sqrt(
        token_dim)
    value = jax.random.normal(keys[1], (width,)) * jnp.sqrt(2 / (width + 1))
    hidden = jax.random.normal(keys[2], (architecture.hidden, token_dim)) * jnp.sqrt(
        2 / (architecture.hidden + token_dim))
    return Parameters(factor * attention, factor * value, factor * hidden)


def from_blocks(
    feature_block: Float[Array, "group_dim group_dim"],
    position_block: Float[Array, "encoding_dim encoding_dim"], value: Float[Array, " group_dim"],
) -> Parameters:
    """One-layer parameters with W = diag(W11, W22) and v = [v1; 0]: the form that population
    descent keeps."""
    d, e = feature_block.shape[0], position_block.shape[0]
    attention = (
        jnp.zeros((d + e, d + e)).at[:d, :d].set(feature_block).at[d:, d:].set(position_block))
    return Parameters(
        attention[None], jnp.concatenate([value, jnp.zeros(e)]), jnp.zeros((0, d + e)))
