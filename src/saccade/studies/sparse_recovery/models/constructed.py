"""Prompts of in-context regression, and the constructed transformer: a decoder with ReLU attention
whose layers are steps of LISTA-VM, for all prefixes of a prompt at once. Tokens are rows.

A token has 2d + 2 entries: x (d) | y (1) | beta (d, zeros at first) | indicator (1). The prompt
alternates x-tokens [x_i; 0; 0; 1] and y-tokens [x_i; y_i; 0; 0] and ends with the x-token of the
query, so that token 2n + 1 (1-based) sees exactly the first n pairs. Attention: out_i = h_i +
sum_heads (1/i) sum_{j <= i} relu(<Q h_i, K h_j>) V h_j. MLP: h + W2 relu(W1 h + b1) + b2. Two heads
of signs s = +1, -1 form -M X_[n]^T (X_[n] beta - y_[n])/i on the beta block of x-tokens; the MLP is
the soft threshold. Source: arXiv 2410.13981, Theorem 4.1; the weights and the size of the gate are
by saccade. Status: exact while the gate exceeds |x^T beta|.
"""

from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from saccade.networks.transformer import Transformer, init_transformer, small_decoder
from saccade.networks.transformer.layers import side_by_side

GATE = 1e30
"""B multiplies zeros and ones and costs no precision; one below max |x^T beta| leaks silently."""

Prompt = Float[Array, "token entry"]
Rows = Float[Array, "batch rows dim"]
Values = Float[Array, "batch rows"]
Matrices = Float[Array, "layer dim dim"]


def embed_prompt(X: Float[Array, "rows dim"], y: Float[Array, " pairs"]) -> Prompt:
    """H of shape (2N + 1) x (2d + 2) from N + 1 rows, the last one the query, and N values."""
    pairs, dim = y.shape[0], X.shape[1]
    H = jnp.zeros((2 * pairs + 1, 2 * dim + 2), X.dtype).at[::2, :dim].set(X).at[::2, -1].set(1.0)
    return H.at[1::2, :dim].set(X[:pairs]).at[1::2, dim].set(y)


paper_tokens = jax.vmap(embed_prompt)
"""The paper's prompts of a batch of tasks, (batch, 2N + 1, 2d + 2)."""


def pair_tokens(X: Rows, y: Values) -> Float[Array, "batch rows dim+1"]:
    """[x_i; y_i]: token n of a causal decoder has seen the first n pairs."""
    return jnp.concatenate([X, y[..., None]], axis=-1)


def zero_padded_tokens(X: Rows, y: Values) -> Float[Array, "batch T dim"]:
    """The prompt of the GPT-2-like decoder: x_1, (y_1, 0, ..), x_2, (y_2, 0, ..), .., query."""
    tokens = jnp.zeros((len(X), 2 * X.shape[1] - 1, X.shape[2]), X.dtype).at[:, ::2].set(X)
    return tokens.at[:, 1::2, 0].set(y)


class LayerWeights(NamedTuple):
    """The arrays of one or several layers (leading axes): full-size heads and a two-layer MLP."""

    Q: Float[Array, "*layer head entry entry"]
    K: Float[Array, "*layer head entry entry"]
    V: Float[Array, "*layer head entry entry"]
    W1: Float[Array, "*layer hidden entry"]
    b1: Float[Array, "*layer hidden"]
    W2: Float[Array, "*layer entry hidden"]
    b2: Float[Array, "*layer entry"]


def relu_attention(H: Prompt, Q, K, V) -> Prompt:
    """Causal ReLU attention, divided by the position; Q, K, V are (head, .., entry)."""
    tokens = H.shape[0]
    q, k, v = (H @ matrices.swapaxes(1, 2) for matrices in (Q, K, V))
    scores = jnp.einsum("mir,mjr->mij", q, k)
    causal = jnp.arange(tokens)[None, :] <= jnp.arange(tokens)[:, None]
    weights = jnp.where(causal, jax.nn.relu(scores), 0) / jnp.arange(1, tokens + 1)[:, None]
    return H + jnp.einsum("mij,mje->ie", weights, v)


def perceptron(H: Prompt, W1, b1, W2, b2) -> Prompt:
    """h + W2 relu(W1 h + b1) + b2, token by token."""
    return H + jax.nn.relu(H @ W1.T + b1) @ W2.T + b2


def _places(dim: int) -> tuple[int, slice, int, slice, int]:
    """How many entries a token has, and where x, y, beta and the indicator are."""
    return 2 * dim + 2, slice(0, dim), dim, slice(dim + 1, 2 * dim + 1), 2 * dim + 1


def construct_layer(M: Float[Array, "dim dim"], threshold, gate: float = GATE) -> LayerWeights:
    """One LISTA-VM step with matrix M and thresholds theta >= 0: two heads, 2d hidden units."""
    dim = M.shape[0]
    entries, x, y, beta, indicator = _places(dim)
    eye, empty = jnp.eye(dim, dtype=M.dtype), jnp.zeros((entries, entries), M.dtype)
    K = empty.at[x, x].set(eye).at[dim, y].set(-1.0).at[dim + 1, indicator].set(-gate)
    Q = [
        empty.at[x, beta].set(s * eye).at[dim, indicator].set(s).at[dim + 1, indicator].set(1.0)
        for s in (1.0, -1.0)]
    V = [empty.at[beta, x].set(-s * M) for s in (1.0, -1.0)]
    W1 = jnp.zeros((2 * dim, entries), M.dtype).at[:dim, beta].set(eye).at[dim:, beta].set(eye)
    W2 = jnp.zeros((entries, 2 * dim), M.dtype).at[beta, :dim].set(-eye).at[beta, dim:].set(eye)
    b1 = jnp.concatenate([threshold, -threshold])
    b2 = jnp.zeros(entries, M.dtype).at[beta].set(threshold)
    return LayerWeights(jnp.stack(Q), jnp.stack([K, K]), jnp.stack(V), W1, b1, W2, b2)


def construct(M: Matrices, thresholds: Float[Array, "layer dim"], gate=GATE) -> LayerWeights:
    """The weights of K layers, stacked."""
    return jax.vmap(partial(construct_layer, gate=gate))(
        M, jnp.broadcast_to(thresholds, M.shape[:2]))


@jax.jit
def run_layers(H: Prompt, weights: LayerWeights) -> Float[Array, "layer token entry"]:
    """The tokens after each of the stacked layers."""

    def layer(H: Prompt, w: LayerWeights):
        H = perceptron(relu_attention(H, w.Q, w.K, w.V), w.W1, w.b1, w.W2, w.b2)
        return H, H

    return jax.lax.scan(layer, H, weights)[1]


def estimates(H: Float[Array, "*batch token entry"]) -> Float[Array, "*batch prefix dim"]:
    """The beta parts of the x-tokens: row n is the estimate from the first n pairs."""
    return H[..., ::2, H.shape[-1] // 2 : -1]


def quadratic_readout(H: Float[Array, "*batch token entry"]) -> Float[Array, "*batch prefix"]:
    """x_{n+1}^T beta of every x-token, a quadratic form of the token."""
    return (H[..., ::2, : H.shape[-1] // 2 - 1] * estimates(H)).sum(-1)


def linear_readout(H: Prompt) -> Float[Array, " prefix"]:
    """The y entry of the x-tokens after one more attention layer, in which token i takes (1/i) sum
    over x-tokens j <= i of x_i^T beta_j: x_{n+1}^T (beta_0 + .. + beta_n)/(2n + 1). A token cannot
    single itself out, so it reads the average of all prefixes; twice it estimates the label."""
    dim = H.shape[1] // 2 - 1
    entries, x, y, beta, indicator = _places(dim)
    eye, empty = jnp.eye(dim, dtype=H.dtype), jnp.zeros((entries, entries), H.dtype)
    Q = jnp.stack([empty.at[x, x].set(s * eye) for s in (1.0, -1.0)])
    K = jnp.stack([empty.at[x, beta].set(eye)] * 2)
    V = jnp.stack([empty.at[y, indicator].set(s) for s in (1.0, -1.0)])
    return relu_attention(H, Q, K, V)[::2, y]


def as_transformer(M: Matrices, thresholds, gate=GATE, dtype=jnp.float64) -> Transformer:
    """The constructed network as an ordinary deep transformer, to be run, trained, saved and loaded
    like any other: from prompts, (batch, 2N + 1, 2d + 2), to the quadratic read-out x^T beta of
    every token."""
    M, thresholds = jnp.asarray(M, dtype), jnp.asarray(thresholds, dtype)
    layers, dim, _ = M.shape
    w = construct(M, thresholds, gate)
    config = small_decoder(dim, layers=layers, heads=2, hidden=2 * dim, read_out="quadratic")
    model = init_transformer(jax.random.key(0), config, dtype)
    entries, x, _, beta, _ = _places(dim)
    form = jnp.zeros((entries, entries), dtype).at[x, beta].set(jnp.eye(dim, dtype=dtype))
    leaves = {
        "qkv": side_by_side(w.Q, w.K, w.V), "first": jnp.swapaxes(w.W1, 1, 2), "first_bias": w.b1,
        "second": jnp.swapaxes(w.W2, 1, 2), "second_bias": w.b2}
    return eqx.tree_at(
        lambda m: (*(getattr(m.layers, name) for name in leaves), m.read_out), model,
        tuple(value.astype(dtype) for value in (*leaves.values(), form)))
