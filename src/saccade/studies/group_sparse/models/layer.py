"""The merged-QK transformer, summed over queries, its variants as options of one definition, and
where its training starts.

With the tokens z_1 .. z_D as the rows of Z, the paper's layer is
    f(Z; W, v) = sum_j sum_i S_ij <v, z_i>,     S[key i][query j] = softmax over i of z_i^T W z_j.
There is no 1/sqrt scale and the output is a SUM over the D queries, so f is of size D. Predict
sign(f).

One definition for every variant, for layer l = 1 .. layers:
    N = LayerNorm(H) if layer_norm else H
    S_l = softmax_keys(N W_l N^T)
    H <- (H if residual else 0) + S_l^T N
and then f = sum_j head(h_j), head(h) = v^T h, or v^T relu(U h) when hidden > 0. LayerNorm has no
learned gain. A token that a mask leaves out is neither a key nor a query.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

Tokens = Float[Array, "n groups token_dim"]
Mask = Bool[Array, "n groups"] | None


class Architecture(NamedTuple):
    """Which variant: the defaults are the paper's layer. Hashable, so that it can be a static
    argument of a compiled program."""

    layers: int = 1
    residual: bool = False
    layer_norm: bool = False
    hidden: int = 0


PAPER_LAYER = Architecture()


class Parameters(NamedTuple):
    """W (one matrix a layer), v, and the hidden weights U (with zero rows when there is no MLP)."""

    attention: Float[Array, "layers token_dim token_dim"]
    value: Float[Array, " width"]
    hidden: Float[Array, "hidden token_dim"]


def tokens(
    X: Float[Array, "n groups group_dim"], matrix: Float[Array, "encoding_dim groups"]
) -> Tokens:
    """Z: behind the features of each group its positional encoding (concatenated, not added)."""
    positions = jnp.broadcast_to(matrix.T, (X.shape[0], *matrix.T.shape))
    return jnp.concatenate([X, positions], axis=2)


def _normalise(state: Tokens) -> Tokens:
    """LayerNorm over the coordinates of each token, without gain; the small constant keeps constant
    tokens finite."""
    centred = state - jnp.mean(state, axis=2, keepdims=True)
    return centred / jnp.sqrt(jnp.mean(centred**2, axis=2, keepdims=True) + 1e-5)


def _forward(parameters: Parameters, architecture: Architecture, state: Tokens, mask: Mask):
    """The tokens after the last layer, and the attention map of every layer."""
    maps = []
    for layer in range(architecture.layers):
        rows = _normalise(state) if architecture.layer_norm else state
        scores = rows @ parameters.attention[layer] @ jnp.swapaxes(rows, 1, 2)
        keys = None if mask is None else mask[:, :, None]
        attention = jax.nn.softmax(scores, axis=1, where=keys)
        mixed = jnp.swapaxes(attention, 1, 2) @ rows
        state = state + mixed if architecture.residual else mixed
        maps.append(attention)
    return state, jnp.stack(maps)


def output(
    parameters: Parameters, architecture: Architecture, token_batch: Tokens, mask: Mask = None
) -> Float[Array, " n"]:
    """f(Z): the head applied to every token after the last layer, summed over tokens."""
    state, _ = _forward(parameters, architecture, token_batch, mask)
    if architecture.hidden:
        state = jax.nn.relu(state @ parameters.hidden.T)
    return jnp.sum(state @ parameters.value, axis=1, where=mask)


def attention_maps(
    parameters: Parameters, architecture: Architecture, token_batch: Tokens, mask: Mask = None
) -> Float[Array, "layers n groups groups"]:
    """S[layer][sample][key][query]; columns (over keys) sum to one."""
    return _forward(parameters, architecture, token_batch, mask)[1]


def logistic_loss(
    parameters: Parameters, architecture: Architecture, token_batch: Tokens, y: Float[Array, " n"]
) -> Float[Array, ""]:
    """The mean of log(1 + exp(-y f)) over the batch."""
    return jnp.mean(jax.nn.softplus(-y * output(parameters, architecture, token_batch)))


def value_direction(
    parameters: Parameters, architecture: Architecture
) -> Float[Array, " token_dim"]:
    """The vector that the head reads: v, or U^T v for the MLP (its linear part up to the factor 1/2
    of a ReLU on symmetric input)."""
    return parameters.hidden.T @ parameters.value if architecture.hidden else parameters.value


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


class Transformer(eqx.Module):
    """The layer, or a variant, with the encodings of its D places inside: a model of X."""

    parameters: Parameters
    matrix: Float[Array, "encoding_dim groups"]
    architecture: Architecture = eqx.field(static=True, default=PAPER_LAYER)

    def __call__(
        self, X: Float[Array, "n groups group_dim"], mask: Mask = None
    ) -> Float[Array, " n"]:
        """The margin f, whose sign is the label."""
        return output(self.parameters, self.architecture, self._tokens(X, mask), mask)

    def attention(
        self, X: Float[Array, "n groups group_dim"], mask: Mask = None
    ) -> Float[Array, "n groups"]:
        """What each token receives in the last layer, averaged over the queries."""
        maps = attention_maps(self.parameters, self.architecture, self._tokens(X, mask), mask)
        return jnp.mean(maps[-1], axis=2, where=None if mask is None else mask[:, None, :])

    def _tokens(self, X: Float[Array, "n groups group_dim"], mask: Mask) -> Tokens:
        return tokens(X if mask is None else jnp.where(mask[:, :, None], X, 0.0), self.matrix)
