"""The merged-QK transformer, summed over queries, and its variants as options of one definition.

The paper's layer: f(Z; W, v) = sum_j v^T Z softmax(Z^T W z_j) = v^T Z S 1, with S[key][query] =
softmax over keys. There is no 1/sqrt scale and the output is a SUM over the D queries, so f is of
size D. Predict sign(f).

One definition for every variant, for layer l = 1 .. layers:
    N = LayerNorm(H) if layer_norm else H
    S_l = softmax_keys(N^T W_l N)
    H <- (H if residual else 0) + N S_l
and then f = sum_j head(h_j), head(h) = v^T h, or v^T relu(U h) when hidden > 0. LayerNorm has no
learned gain.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


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
    inputs: Float[Array, "samples group_dim groups"], matrix: Float[Array, "encoding_dim groups"]
) -> Float[Array, "samples token_dim groups"]:
    """Z: the features of each group with its positional encoding appended below (concatenated, not
    added)."""
    positions = jnp.broadcast_to(matrix, (inputs.shape[0], *matrix.shape))
    return jnp.concatenate([inputs, positions], axis=1)


def _normalise(
    state: Float[Array, "samples token_dim groups"],
) -> Float[Array, "samples token_dim groups"]:
    """LayerNorm over the coordinates of each token, without gain; the small constant keeps constant
    tokens finite."""
    centred = state - jnp.mean(state, axis=1, keepdims=True)
    return centred / jnp.sqrt(jnp.mean(centred**2, axis=1, keepdims=True) + 1e-5)


def _forward(
    parameters: Parameters, architecture: Architecture,
    state: Float[Array, "samples token_dim groups"],
):
    """The tokens after the last layer, and the attention map of every layer."""
    maps = []
    for layer in range(architecture.layers):
        seen = _normalise(state) if architecture.layer_norm else state
        scores = jnp.matmul(jnp.swapaxes(seen, 1, 2), jnp.matmul(parameters.attention[layer], seen))
        attention = jax.nn.softmax(scores, axis=1)
        mixed = jnp.matmul(seen, attention)
        state = state + mixed if architecture.residual else mixed
        maps.append(attention)
    return state, jnp.stack(maps)


def output(
    parameters: Parameters, architecture: Architecture,
    token_batch: Float[Array, "samples token_dim groups"],
) -> Float[Array, " samples"]:
    """f(Z): the head applied to every token after the last layer, summed over tokens."""
    state, _ = _forward(parameters, architecture, token_batch)
    if architecture.hidden:
        active = jax.nn.relu(jnp.einsum("hm,nmg->nhg", parameters.hidden, state))
        return jnp.einsum("h,nhg->n", parameters.value, active)
    return jnp.einsum("m,nmg->n", parameters.value, state)


def attention_maps(
    parameters: Parameters, architecture: Architecture,
    token_batch: Float[Array, "samples token_dim groups"],
) -> Float[Array, "layers samples groups groups"]:
    """S[layer][sample][key][query]; columns (over keys) sum to one."""
    return _forward(parameters, architecture, token_batch)[1]


def logistic_loss(
    parameters: Parameters, architecture: Architecture,
    token_batch: Float[Array, "samples token_dim groups"], labels: Float[Array, " samples"],
) -> Float[Array, ""]:
    """The mean of log(1 + exp(-y f)) over the batch."""
    return jnp.mean(jax.nn.softplus(-labels * output(parameters, architecture, token_batch)))


def value_direction(
    parameters: Parameters, architecture: Architecture
) -> Float[Array, " token_dim"]:
    """The vector that the head reads: v, or U^T v for the MLP (its linear part up to the factor 1/2
    of a ReLU on symmetric input)."""
    return parameters.hidden.T @ parameters.value if architecture.hidden else parameters.value
