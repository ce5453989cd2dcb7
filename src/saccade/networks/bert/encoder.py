"""The BERT encoder (Devlin et al. 2019) as a pure function of its weights, in float32: embeddings,
then post-LayerNorm attention layers; and the [CLS] vectors of every layer for many sentences.

One layer maps the hidden states H to

    A  = LayerNorm(H + concat_h softmax(Q_h K_h' / sqrt(d_h) + mask) V_h W_O)
    H' = LayerNorm(A + gelu(A W_1) W_2)

with the exact gelu x Phi(x). States are kept as one (sentences * length, hidden) array: on a CPU,
plain 2-D products with fused projections are faster than a product per sentence.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from saccade.errors import require

# Sentences are padded to a multiple of this: smaller wastes less, larger compiles fewer programs.
LENGTH_STEP = 2
# Added to the scores of padding: exp of it is 0 in float32, and an empty row stays finite.
MASKED_SCORE = -1e9


@dataclass(frozen=True)
class BertConfig:
    """The sizes of an encoder, in the words of `config.json` without its abbreviations."""

    vocabulary: int
    hidden: int
    layers: int
    heads: int
    intermediate: int
    positions: int
    token_types: int
    norm_epsilon: float
    padding_token: int


class Linear(eqx.Module):
    """x -> x W + b, with W stored as (in, out)."""

    weight: Float[Array, "inputs outputs"]
    bias: Float[Array, " outputs"]

    def __call__(self, x: Float[Array, "rows inputs"]) -> Float[Array, "rows outputs"]:
        return x @ self.weight + self.bias


class LayerNorm(eqx.Module):
    """Each row to mean 0 and variance 1, then an elementwise scale and shift."""

    scale: Float[Array, " hidden"]
    shift: Float[Array, " hidden"]
    epsilon: float = eqx.field(static=True)

    def __call__(self, x: Float[Array, "rows hidden"]) -> Float[Array, "rows hidden"]:
        centred = x - x.mean(-1, keepdims=True)
        variance = (centred**2).mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt(variance + self.epsilon) * self.scale + self.shift


class Embeddings(eqx.Module):
    """Word + position + first token type, normalised."""

    word: Float[Array, "vocabulary hidden"]
    position: Float[Array, "positions hidden"]
    token_type: Float[Array, "types hidden"]
    norm: LayerNorm

    def __call__(self, tokens: Int[Array, "n length"]) -> Float[Array, "rows hidden"]:
        length = tokens.shape[1]
        summed = self.word[tokens] + self.position[:length] + self.token_type[0]
        return self.norm(summed.reshape(-1, summed.shape[-1]))


class EncoderLayer(eqx.Module):
    """Self-attention, then a two-layer network, each with a residual path and then a LayerNorm."""

    query_key_value: Linear
    attention_output: Linear
    attention_norm: LayerNorm
    expand: Linear
    contract: Linear
    output_norm: LayerNorm
    heads: int = eqx.field(static=True)

    def __call__(
        self, states: Float[Array, "rows hidden"], mask: Bool[Array, "n length"]
    ) -> Float[Array, "rows hidden"]:
        attended = self.attention_norm(states + self.attention_output(self._attend(states, mask)))
        inner = self.expand(attended)
        activated = 0.5 * inner * (1 + jax.lax.erf(inner * math.sqrt(0.5)))
        return self.output_norm(attended + self.contract(activated))

    def _attend(
        self, states: Float[Array, "rows hidden"], mask: Bool[Array, "n length"]
    ) -> Float[Array, "rows hidden"]:
        n, length = mask.shape
        head_width = states.shape[-1] // self.heads
        projected = self.query_key_value(states).reshape(n, length, 3, self.heads, head_width)
        query, key, value = (projected[:, :, i] for i in range(3))
        scores = jnp.einsum("nqhw,nkhw->nhqk", query, key) / math.sqrt(head_width)
        masking = jnp.where(mask, 0.0, MASKED_SCORE).astype(scores.dtype)
        weights = jax.nn.softmax(scores + masking[:, None, None])
        return jnp.einsum("nhqk,nkhw->nqhw", weights, value).reshape(states.shape)


class BertEncoder(eqx.Module):
    """Embeddings and layers; the pooler of the published weights is not used."""

    embeddings: Embeddings
    layers: tuple[EncoderLayer, ...]
    config: BertConfig = eqx.field(static=True)


def hidden_states(
    encoder: BertEncoder, tokens: Int[Array, "n length"], mask: Bool[Array, "n length"]
) -> Float[Array, "layers+1 n length hidden"]:
    """The states after the embeddings (index 0) and every layer; padding rows carry no meaning."""
    states = [encoder.embeddings(tokens)]
    # Unrolled: six to twelve layers compile fast enough, and no weight is sliced at run time.
    for layer in encoder.layers:
        states.append(layer(states[-1], mask))
    return jnp.stack(states).reshape(len(states), *tokens.shape, -1)


@eqx.filter_jit
def _cls_of_batch(
    encoder: BertEncoder, tokens: Int[Array, "n length"], mask: Bool[Array, "n length"]
) -> Float[Array, "layers+1 n hidden"]:
    return hidden_states(encoder, tokens, mask)[:, :, 0]


def _batches(
    lengths: Int[np.ndarray, " n"], batch_size: int, longest: int
) -> Iterator[tuple[np.ndarray, int]]:
    """The indices of each batch and the length it is padded to."""
    padded = np.minimum(-(-lengths // LENGTH_STEP) * LENGTH_STEP, longest)
    for length in np.unique(padded):
        members = np.flatnonzero(padded == length)
        for start in range(0, len(members), batch_size):
            yield members[start : start + batch_size], int(length)


def _check(encoder: BertEncoder, tokens: np.ndarray, mask: np.ndarray, batch_size: int) -> None:
    require(batch_size >= 1, "batch_size", batch_size, "must be at least 1")
    fits = tokens.ndim == 2 and tokens.shape == mask.shape
    require(fits, "mask", mask.shape, f"must have the shape {tokens.shape} of tokens")
    lengths = mask.sum(1)
    first = (mask == (np.arange(mask.shape[1]) < lengths[:, None])).all() and (lengths > 0).all()
    require(bool(first), "mask", mask.astype(int)[:2], "must mark at least one token, padding last")
    longest, positions = int(lengths.max(initial=0)), encoder.config.positions
    rule = f"must be at most {positions} tokens, all that this encoder has"
    require(longest <= positions, "sentence length", longest, rule)
    largest, vocabulary = int(tokens.max(initial=0)), encoder.config.vocabulary
    known = int(tokens.min(initial=0)) >= 0 and largest < vocabulary
    require(known, "token", largest, f"must be in [0, {vocabulary})")


def cls_states(
    encoder: BertEncoder, tokens: Int[np.ndarray, "n length"], mask: Bool[np.ndarray, "n length"],
    *, batch_size: int = 64,
) -> Float[np.ndarray, "layers+1 n hidden"]:
    """The first token's state after the embeddings (index 0) and after each layer.

    `mask` is True at real tokens, which come first. Sentences are sorted by length into a few fixed
    shapes, so that only a few programs are compiled.
    """
    tokens, mask = np.asarray(tokens, np.int32), np.asarray(mask, bool)
    _check(encoder, tokens, mask, batch_size)
    config = encoder.config
    room = ((0, 0), (0, LENGTH_STEP))
    wide_tokens = np.pad(tokens, room, constant_values=config.padding_token)
    wide_mask = np.pad(mask, room)
    states = np.empty((config.layers + 1, len(tokens), config.hidden), np.float32)
    for members, length in _batches(mask.sum(1), batch_size, config.positions):
        # The last batch of a length is filled up with its own sentences: no further compilation.
        filled = np.resize(members, batch_size)
        batch_states = _cls_of_batch(
            encoder, jnp.asarray(wide_tokens[filled, :length]),
            jnp.asarray(wide_mask[filled, :length]))
        states[:, members] = np.asarray(batch_states)[:, : len(members)]
    return states
