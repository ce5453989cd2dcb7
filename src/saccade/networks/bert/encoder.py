"""The BERT encoder (Devlin et al. 2019) as a pure function of its weights: embeddings, then
post-LayerNorm attention layers, in float32.

One layer maps the hidden states H to

    A = LayerNorm(H + concat_h softmax(Q_h K_h' / sqrt(d_h) + mask) V_h W_O),     H' = LayerNorm(A +
    gelu(A W_1) W_2),

with the exact gelu x Phi(x). Activations are kept as one (sentences * length, hidden) array: on a
CPU, plain 2-D products with the three projections fused into one are faster than a product per
sentence.
"""

import math
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

# Added to the scores of padding: exp of it is 0 in float32, and unlike -inf it keeps a row without
# any token finite.
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
    """Self-attention, then a two-layer network, each with a residual path and a LayerNorm after
    it."""

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
    """The states after the embeddings (index 0) and after every layer. `mask` is True at real
    tokens; padding rows carry no meaning."""
    states = [encoder.embeddings(tokens)]
    # Unrolled: six to twelve layers compile fast enough, and no weight is sliced at run time.
    for layer in encoder.layers:
        states.append(layer(states[-1], mask))
    return jnp.stack(states).reshape(len(states), *tokens.shape, -1)
