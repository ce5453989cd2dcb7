"""The inner parts of a transformer layer on arrays: attention, LayerNorm and gelu, with their own
derivatives where those save time on a CPU.

Queries, keys and values are (batch, heads, T, d_h). Each derivative is checked against finite
differences in the tests.
"""

import math
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

Heads = Float[Array, "batch heads T d"]
Weights = Float[Array, "batch heads T T"]

NORM_EPSILON = 1e-5
GELU_SLOPE = math.sqrt(2 / math.pi)
GELU_CUBIC = 0.044715


def weights_of(scores: Weights, kind: str, causal: bool) -> Weights:
    """softmax over the tokens a token sees, or relu(score) / i with i their number. The mask
    selects: 0 * inf would be NaN."""
    scores = jnp.maximum(scores, 0) if kind == "relu" else scores
    if causal:
        visible = jnp.tril(jnp.ones(scores.shape[-2:], bool))
        scores = jnp.where(visible, scores, 0 if kind == "relu" else -jnp.inf)
    return scores / _counts(scores, causal) if kind == "relu" else jax.nn.softmax(scores, axis=-1)


def _counts(scores: Weights, causal: bool) -> Array:
    """How many tokens each token sees, as a column."""
    length = scores.shape[-1]
    counts = jnp.arange(1, length + 1) if causal else jnp.full(length, length)
    return counts.astype(scores.dtype)[:, None]


@partial(jax.custom_vjp, nondiff_argnums=(3, 4))
def attend(queries: Heads, keys: Heads, values: Heads, kind: str, causal: bool) -> Heads:
    """sum_j w_ij v_j with the weights of the scores q_i . k_j."""
    return weights_of(queries @ _turned(keys), kind, causal) @ values


def _attend_forward(queries: Heads, keys: Heads, values: Heads, kind: str, causal: bool):
    weights = weights_of(queries @ _turned(keys), kind, causal)
    return weights @ values, (queries, keys, values, weights)


def _attend_backward(
    kind: str, causal: bool, kept: tuple, gradient: Heads
) -> tuple[Heads, Heads, Heads]:
    queries, keys, values, weights = kept
    by_weight = gradient @ _turned(values)
    if kind == "relu":
        by_score = jnp.where(weights > 0, by_weight, 0) / _counts(weights, causal)
    else:
        by_score = weights * (by_weight - jnp.sum(by_weight * weights, axis=-1, keepdims=True))
    # Many small products with a transposed left side are slow in XLA on a CPU (up to three times):
    # the barrier makes it copy first.
    turned_score, turned_weights = jax.lax.optimization_barrier(
        (_turned(by_score), _turned(weights)))
    return by_score @ keys, turned_score @ queries, turned_weights @ gradient


attend.defvjp(_attend_forward, _attend_backward)


def attend_by(weights: Float[Array, "heads T T"], values: Float[Array, "batch T heads d"]) -> Array:
    """sum_j w_ij v_j with the same weights for the whole batch: one product per head."""
    batch, length, heads, per_head = values.shape
    by_head = values.transpose(2, 1, 0, 3).reshape(heads, length, batch * per_head)
    return (weights @ by_head).reshape(heads, length, batch, per_head).transpose(2, 1, 0, 3)


def _turned(matrices: Array) -> Array:
    return jnp.swapaxes(matrices, -1, -2)


@jax.custom_vjp
def layer_norm(x: Float[Array, "*n d"], scale: Float[Array, " d"]) -> Float[Array, "*n d"]:
    """(x - mean) / sqrt(variance + epsilon) * scale."""
    return _normalised(x)[0] * scale


def _normalised(x: Array) -> tuple[Array, Array]:
    centred = x - jnp.mean(x, axis=-1, keepdims=True)
    inverse = jax.lax.rsqrt(jnp.mean(centred * centred, axis=-1, keepdims=True) + NORM_EPSILON)
    return centred * inverse, inverse


def _layer_norm_forward(x: Array, scale: Array) -> tuple[Array, tuple[Array, Array, Array]]:
    unit, inverse = _normalised(x)
    return unit * scale, (unit, inverse, scale)


def _layer_norm_backward(kept: tuple[Array, Array, Array], gradient: Array) -> tuple[Array, Array]:
    unit, inverse, scale = kept
    by_scale = jnp.sum(gradient * unit, axis=tuple(range(gradient.ndim - 1)))
    inner = gradient * scale
    along = jnp.mean(inner * unit, axis=-1, keepdims=True)
    return inverse * (inner - jnp.mean(inner, axis=-1, keepdims=True) - unit * along), by_scale


layer_norm.defvjp(_layer_norm_forward, _layer_norm_backward)


class Norm(eqx.Module):
    """LayerNorm with a scale, and a shift or None."""

    scale: Float[Array, "*layers D"]
    shift: Float[Array, "*layers D"] | None


def constant(value: float, shape: tuple[int, ...], dtype) -> Array:
    """An array of one number, by NumPy: JAX would compile a program for every shape."""
    return jnp.asarray(np.full(shape, value, dtype))


def init_norm(kind: str, stack: tuple[int, ...], width: int, dtype) -> Norm | None:
    """Ones (and zeros), stacked; None for "none"."""
    if kind == "none":
        return None
    return Norm(
        constant(1, (*stack, width), dtype),
        constant(0, (*stack, width), dtype) if kind == "affine" else None)


def normalise(x: Array, norm: Norm | None) -> Array:
    """LayerNorm over the last axis; x itself when there is no norm."""
    if norm is None:
        return x
    scaled = layer_norm(x, norm.scale)
    return scaled if norm.shift is None else scaled + norm.shift


@jax.custom_vjp
def gelu(x: Array) -> Array:
    """x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), GPT-2's form of x Phi(x)."""
    return 0.5 * x * (1 + jnp.tanh(_gelu_argument(x)))


def _gelu_argument(x: Array) -> Array:
    return GELU_SLOPE * x * (1 + GELU_CUBIC * x * x)


def _gelu_forward(x: Array) -> tuple[Array, tuple[Array, Array]]:
    bend = jnp.tanh(_gelu_argument(x))
    return 0.5 * x * (1 + bend), (x, bend)


def _gelu_backward(kept: tuple[Array, Array], gradient: Array) -> tuple[Array]:
    x, bend = kept
    inner = GELU_SLOPE * (1 + 3 * GELU_CUBIC * x * x)
    return (gradient * (0.5 * (1 + bend) + 0.5 * x * (1 - bend * bend) * inner),)


gelu.defvjp(_gelu_forward, _gelu_backward)
