"""The layers: attention by tokens or positions, then an MLP, each added to the residual stream."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from saccade.arrays import drawn_normals
from saccade.networks.transformer import kernels
from saccade.networks.transformer.config import TransformerConfig
from saccade.networks.transformer.kernels import Norm, constant, init_norm, normalise


class Layers(eqx.Module):
    """The parameters of all layers, stacked along the first axis (or of one layer, without it).

    `qkv` holds queries, keys and values side by side, each of width heads * d_h with the heads side
    by side: the query of head m is columns m d_h .. (m+1) d_h - 1. States are rows, so a matrix Q
    acting on columns enters transposed.
    """

    qkv: Float[Array, "*layers D 3*heads*d"]
    qkv_bias: Float[Array, "*layers 3*heads*d"] | None
    projection: Float[Array, "*layers heads*d D"] | None
    projection_bias: Float[Array, "*layers D"] | None
    first: Float[Array, "*layers D hidden"]
    first_bias: Float[Array, "*layers hidden"]
    second: Float[Array, "*layers hidden D"]
    second_bias: Float[Array, "*layers D"]
    attention_norm: Norm | None
    mlp_norm: Norm | None
    position_norm: Norm | None

    def at(self, number: int) -> "Layers":
        """One layer of the stack."""
        return jax.tree.map(lambda stack: stack[number], self)


def init_layers(key: Array, config: TransformerConfig, dtype) -> Layers:
    """N(0, 1/fan_in); what is added to the residual stream (projection, or the values without one,
    and W_2) times `residual_init`."""
    L, D, hidden, inner = config.layers, config.width, config.hidden, config.heads * config.per_head
    keys = jax.random.split(key, 4)

    def normal(key: Array, rows: int, columns: int, scale: Any = 1.0) -> Array:
        return jnp.asarray(scale * rows**-0.5 * drawn_normals(key, (L, rows, columns)), dtype)

    # Without a projection the values are what is added to the residual stream.
    values = 1.0 if config.projection else config.residual_init
    biased = config.attention_bias
    return Layers(
        qkv=normal(keys[0], D, 3 * inner, np.repeat([1.0, 1.0, values], inner)),
        qkv_bias=constant(0, (L, 3 * inner), dtype) if biased else None,
        projection=normal(keys[1], inner, D, config.residual_init) if config.projection else None,
        projection_bias=constant(0, (L, D), dtype) if biased and config.projection else None,
        first=normal(keys[2], D, hidden), first_bias=constant(0, (L, hidden), dtype),
        second=normal(keys[3], hidden, D, config.residual_init),
        second_bias=constant(0, (L, D), dtype),
        attention_norm=init_norm(config.norm, (L,), D, dtype),
        mlp_norm=init_norm(config.norm, (L,), D, dtype),
        position_norm=(
            init_norm(config.norm, (L,), D, dtype) if config.looks_by == "positions" else None))


def one_layer(
    config: TransformerConfig, layer: Layers, state: Float[Array, "batch T D"],
    positions: Array | None,
) -> Float[Array, "batch T D"]:
    """The state after one layer."""
    batch, length, D = state.shape
    flat = state.reshape(batch * length, D)
    flat = flat + _attention(config, layer, normalise(flat, layer.attention_norm), positions, batch)
    flat = flat + _mlp(config, layer, normalise(flat, layer.mlp_norm))
    return flat.reshape(batch, length, D)


def attention_weights(
    config: TransformerConfig, layer: Layers, state: Float[Array, "batch T D"],
    positions: Array | None,
) -> Float[Array, "batch heads T T"]:
    """Where a layer looks; with attention by positions the batch axis has length one."""
    batch, length, D = state.shape
    if positions is not None and config.looks_by == "positions":
        return _position_weights(config, layer, positions)[None]
    flat = normalise(state.reshape(batch * length, D), layer.attention_norm)
    queries, keys, _ = _by_heads(config, _linear(flat, layer.qkv, layer.qkv_bias), batch, 3)
    return kernels.weights_of(
        _scaled(config, queries) @ jnp.swapaxes(keys, -1, -2), config.attention, config.causal)


def _mlp(config: TransformerConfig, layer: Layers, flat: Array) -> Array:
    inner = flat @ layer.first + layer.first_bias
    inner = kernels.gelu(inner) if config.activation == "gelu" else jnp.maximum(inner, 0)
    return inner @ layer.second + layer.second_bias


def _attention(
    config: TransformerConfig, layer: Layers, flat: Array, positions: Array | None, batch: int
) -> Float[Array, "batch*T D"]:
    """The update of every state."""
    if positions is not None and config.looks_by == "positions":
        values = _linear(flat, *_columns(config, layer, 2, 3))
        weights = _position_weights(config, layer, positions)
        mixed = kernels.attend_by(weights, values.reshape(batch, -1, config.heads, config.per_head))
    else:
        queries, keys, values = _by_heads(
            config, _linear(flat, layer.qkv, layer.qkv_bias), batch, 3)
        mixed: Any = kernels.attend(
            _scaled(config, queries), keys, values, config.attention, config.causal)
        mixed = jnp.swapaxes(mixed, 1, 2)
    if layer.projection is None:
        return jnp.sum(mixed, axis=2).reshape(flat.shape)  # (batch, T, heads, D) summed over heads
    return _linear(mixed.reshape(flat.shape[0], -1), layer.projection, layer.projection_bias)


def _position_weights(
    config: TransformerConfig, layer: Layers, positions: Array
) -> Float[Array, "heads T T"]:
    """Attention from LN_layer(P) alone."""
    looking = _linear(normalise(positions, layer.position_norm), *_columns(config, layer, 0, 2))
    queries, keys = _by_heads(config, looking, 1, 2)
    return kernels.weights_of(
        _scaled(config, queries) @ jnp.swapaxes(keys, -1, -2), config.attention, config.causal)[0]


def _by_heads(config: TransformerConfig, flat: Array, batch: int, parts: int) -> tuple[Array, ...]:
    """(batch * T, parts * heads * d_h) to `parts` arrays (batch, heads, T, d_h)."""
    length = flat.shape[0] // batch
    split = flat.reshape(batch, length, parts, config.heads, config.per_head).transpose(
        2, 0, 3, 1, 4)
    return tuple(split[part] for part in range(parts))


def _columns(
    config: TransformerConfig, layer: Layers, first: int, last: int
) -> tuple[Array, Array | None]:
    """Matrix and bias of the parts first .. last - 1 of queries, keys, values."""
    inner = config.heads * config.per_head
    chosen = slice(first * inner, last * inner)
    return layer.qkv[:, chosen], None if layer.qkv_bias is None else layer.qkv_bias[chosen]


def _scaled(config: TransformerConfig, queries: Array) -> Array:
    return queries * config.per_head**-0.5 if config.scaled else queries


def _linear(x: Array, matrix: Array, bias: Array | None) -> Array:
    return x @ matrix if bias is None else x @ matrix + bias


def side_by_side(queries: Array, keys: Array, values: Array) -> Float[Array, "layers D 3*heads*d"]:
    """`Layers.qkv` from per-head matrices (layers, heads, d_h, D) that act on column vectors."""
    layers, heads, per_head, D = jnp.shape(queries)
    by_columns = [
        jnp.moveaxis(jnp.asarray(part), 3, 1).reshape(layers, D, heads * per_head)
        for part in (queries, keys, values)]
    return jnp.concatenate(by_columns, axis=-1)
