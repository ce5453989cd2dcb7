"""The inner parts of a transformer layer on arrays, with their own derivatives where those save time on a CPU.

Queries, keys and values are (batch, heads, T, d_h). Each derivative is checked against finite differences in the tests.
"""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Heads = Float[Array, "batch heads T d"]
Weights = Float[Array, "batch heads T T"]

NORM_EPSILON = 1e-5
GELU_SLOPE = math.sqrt(2 / math.pi)
GELU_CUBIC = 0.044715


def visible(length: int, causal: bool) -> Array | None:
    """Which token (row) sees which (column); None when all see all."""
    return jnp.tril(jnp.ones((length, length), bool)) if causal else None


def softmax_weights(scores: Weights, causal: bool) -> Weights:
    """softmax over the tokens seen."""
    mask = visible(scores.shape[-1], causal)
    return jax.nn.softmax(scores if mask is None else jnp.where(mask, scores, -jnp.inf), axis=-1)


def relu_weights(scores: Weights, causal: bool) -> Weights:
    """relu(score) / i, with i the number of tokens seen. The mask selects rather than multiplies: 0 * inf would be NaN."""
    length = scores.shape[-1]
    mask = visible(length, causal)
    weights = jnp.maximum(scores, 0)
    if mask is None:
        return weights / length
    seen = jnp.arange(1, length + 1, dtype=scores.dtype)[:, None]
    return jnp.where(mask, weights, 0) / seen


def weights_of(scores: Weights, kind: str, causal: bool) -> Weights:
    return (relu_weights if kind == "relu" else softmax_weights)(scores, causal)


def mix(weights: Weights, values: Heads) -> Heads:
    """sum_j w_ij v_j; weights with a batch axis of one are shared by the whole batch."""
    if weights.shape[0] == 1 and values.shape[0] > 1:
        return jnp.einsum("hij,bhjd->bhid", weights[0], values)
    return weights @ values


def layer_norm(x: Float[Array, "*n d"], scale: Float[Array, " d"]) -> Float[Array, "*n d"]:
    """(x - mean) / sqrt(variance + epsilon) * scale."""
    return _layer_norm(x, scale)


@jax.custom_vjp
def _layer_norm(x: Array, scale: Array) -> Array:
    return _normalised(x)[0] * scale


def _normalised(x: Array) -> tuple[Array, Array]:
    centred = x - jnp.mean(x, axis=-1, keepdims=True)
    inverse = jax.lax.rsqrt(jnp.mean(centred * centred, axis=-1, keepdims=True) + NORM_EPSILON)
    return centred * inverse, inverse


def _layer_norm_forward(x: Array, scale: Array) -> tuple[Array, tuple[Array, Array, Array]]:
    unit, inverse = _normalised(x)
    return unit * scale, (unit, inverse, scale)


def _layer_norm_backward(kept: tuple[Array, Array, Array], slope: Array) -> tuple[Array, Array]:
    unit, inverse, scale = kept
    by_scale = jnp.sum(slope * unit, axis=tuple(range(slope.ndim - 1)))
    inner = slope * scale
    along = jnp.mean(inner * unit, axis=-1, keepdims=True)
    return inverse * (inner - jnp.mean(inner, axis=-1, keepdims=True) - unit * along), by_scale


_layer_norm.defvjp(_layer_norm_forward, _layer_norm_backward)


@jax.custom_vjp
def gelu(x: Array) -> Array:
    """x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), GPT-2's form of x Phi(x)."""
    return 0.5 * x * (1 + jnp.tanh(_gelu_argument(x)))


def _gelu_argument(x: Array) -> Array:
    return GELU_SLOPE * x * (1 + GELU_CUBIC * x * x)


def _gelu_forward(x: Array) -> tuple[Array, tuple[Array, Array]]:
    bend = jnp.tanh(_gelu_argument(x))
    return 0.5 * x * (1 + bend), (x, bend)


def _gelu_backward(kept: tuple[Array, Array], slope: Array) -> tuple[Array]:
    x, bend = kept
    inner = GELU_SLOPE * (1 + 3 * GELU_CUBIC * x * x)
    return (slope * (0.5 * (1 + bend) + 0.5 * x * (1 - bend * bend) * inner),)


gelu.defvjp(_gelu_forward, _gelu_backward)
