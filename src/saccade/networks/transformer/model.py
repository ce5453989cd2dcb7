"""The deep transformer: one definition for the decoders of sparse recovery (built or trained) and
for vision transformers.

    h_0     = tokens W_in + b_in (+ P)
    h'      = h_l + Attn(LN h_l)
    h_{l+1} = h' + W_2 act(W_1 LN h' + b_1) + b_2,         read-out of LN h_L

with every part an option of `TransformerConfig`. Use:

    config = vision_transformer(looks_by="positions")   # or small_decoder(), gpt2_decoder(), ...
    model = init_transformer(jax.random.key(0), config)  # an Equinox module of float32 arrays
    outputs = model(tokens)         # (batch, T, features) -> (batch, T or pooled, outputs)
    trace = model.trace(tokens)     # with the states and attention weights of every layer
    estimates = model.read(trace.states[2])              # the read-out of intermediate states

The arrays of all layers are stacked along a first axis, so that deep nets are scanned and shallow
ones unrolled. Activations are kept as one (batch * T, D) array: on a CPU plain 2-D products with
fused projections are what is fast.
"""

import os
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from saccade.arrays import drawn_normals
from saccade.errors import InvalidInput, require
from saccade.networks.saving import fill, named_leaves, read_arrays, write_arrays
from saccade.networks.transformer.config import TransformerConfig
from saccade.networks.transformer.kernels import Norm, constant, init_norm, normalise
from saccade.networks.transformer.layers import Layers, attention_weights, init_layers, one_layer

KIND = "transformer"
UNROLLED = 7  # up to this many layers are unrolled: faster steps, and compiling stays short

Tokens = Float[Array, "batch T features"]
States = Float[Array, "batch T D"]


class Trace(NamedTuple):
    """The outputs with all states, the read-in first, and attention weights. Attention by positions
    does not depend on the input: its batch axis has length one."""

    outputs: Array
    states: Float[Array, "depth batch T D"]
    attention: Float[Array, "layers batch heads T T"]


class Transformer(eqx.Module):
    """Parameters and how they act; `config` is static, everything else is an array or None."""

    config: TransformerConfig = eqx.field(static=True)
    read_in: Float[Array, "features D"] | None
    read_in_bias: Float[Array, " D"] | None
    positions: Float[Array, "positions D"] | None
    layers: Layers
    last_norm: Norm | None
    read_out: Float[Array, "D outputs"] | None
    read_out_bias: Float[Array, " outputs"] | None

    def __call__(self, tokens: Tokens) -> Array:
        """The read-out at every token, or of the mean over tokens."""
        return self.read(self._through(self._start(tokens)))

    def trace(self, tokens: Tokens) -> Trace:
        """The outputs with the states and the attention weights of every layer."""
        state = self._start(tokens)
        states, attention = [state], []
        for number in range(self.config.layers):
            layer = self.layers.at(number)
            attention.append(attention_weights(self.config, layer, state, self.positions))
            state = one_layer(self.config, layer, state, self.positions)
            states.append(state)
        length = state.shape[1]
        none = jnp.zeros((0, state.shape[0], self.config.heads, length, length), state.dtype)
        return Trace(
            self.read(state), jnp.stack(states), jnp.stack(attention) if attention else none)

    def read(self, state: States) -> Array:
        """The read-out of any state: last norm, pool, then h W + b or h' W h."""
        if self.last_norm is not None:
            state = normalise(state, self.last_norm)
        if self.config.pool == "mean":
            state = jnp.mean(state, axis=1)
        if self.read_out is None:
            return state
        if self.config.read_out == "quadratic":
            return jnp.sum((state @ self.read_out) * state, axis=-1, keepdims=True)
        product = state @ self.read_out
        return product if self.read_out_bias is None else product + self.read_out_bias

    def _start(self, tokens: Tokens) -> States:
        """The first states, with the shape of the input checked."""
        config = self.config
        fits = tokens.ndim == 3 and tokens.shape[-1] == config.features
        require(fits, "shape of tokens", tokens.shape, f"must be (batch, T, {config.features})")
        batch, length, _ = tokens.shape
        if self.positions is not None:
            exact = config.looks_by == "positions"
            fits = length == config.positions if exact else length <= config.positions
            rule = (
                f"must be {'' if exact else 'at most '}{config.positions}, the length of the table"
                " of positions")
            require(fits, "number of tokens", length, rule)
        state = jnp.asarray(tokens, self.layers.qkv.dtype)
        if self.read_in is not None and self.read_in_bias is not None:
            flat = state.reshape(batch * length, -1) @ self.read_in + self.read_in_bias
            state = flat.reshape(batch, length, -1)
        if self.positions is None or config.looks_by == "positions":
            return state
        return state + self.positions[:length]

    def _through(self, state: States) -> States:
        """All layers: unrolled when few, scanned when many."""
        if self.config.layers <= UNROLLED:
            for number in range(self.config.layers):
                state = one_layer(self.config, self.layers.at(number), state, self.positions)
            return state

        def step(state: States, layer: Layers) -> tuple[States, None]:
            return one_layer(self.config, layer, state, self.positions), None

        return jax.lax.scan(step, state, self.layers)[0]


def init_transformer(key: Array, config: TransformerConfig, dtype=jnp.float32) -> Transformer:
    """Random parameters: matrices N(0, 1/fan_in) times the factors of `config`, biases 0, norms 1,
    P ~ N(0, position_init^2). Outside a compiled function by NumPy: no program a shape."""
    keys = jax.random.split(key, 4)
    D = config.width

    def normal(key: Array, rows: int, columns: int, scale: float) -> Array:
        return jnp.asarray(scale * drawn_normals(key, (rows, columns)), dtype)

    outputs = D if config.read_out == "quadratic" else config.outputs
    has_read_out = config.read_out != "none"
    biased = config.read_out == "linear" and config.read_out_bias
    return Transformer(
        config=config,
        read_in=(
            normal(keys[0], config.features, D, config.features**-0.5) if config.read_in else None),
        read_in_bias=constant(0, (D,), dtype) if config.read_in else None,
        positions=(
            normal(keys[1], config.positions, D, config.position_init) if config.positions else None
        ),
        layers=init_layers(keys[2], config, dtype), last_norm=init_norm(config.norm, (), D, dtype),
        read_out=(
            normal(keys[3], D, outputs, config.read_out_init * D**-0.5) if has_read_out else None),
        read_out_bias=constant(0, (outputs,), dtype) if biased else None)


def number_of_parameters(model: Transformer) -> int:
    """How many numbers are trained."""
    return sum(leaf.size for leaf in jax.tree.leaves(model) if eqx.is_array(leaf))


def save_transformer(path: str | os.PathLike, model: Transformer) -> Path:
    """Write the model; the file is complete or not there."""
    header = {"kind": KIND, "config": asdict(model.config), "dtype": str(model.layers.qkv.dtype)}
    return write_arrays(path, header, named_leaves(model))


def load_transformer(
    path: str | os.PathLike, config: TransformerConfig | None = None
) -> Transformer:
    """The model in `path`, bit for bit; one of another configuration than `config` is refused."""
    header, arrays = read_arrays(path, KIND)
    try:
        stored, dtype = TransformerConfig(**header["config"]), jnp.dtype(header["dtype"])
    except (KeyError, TypeError):
        raise InvalidInput(
            f"checkpoint = {str(path)!r} has a configuration that this version does not know."
        ) from None
    if config is not None and config != stored:
        wanted, held = asdict(config), asdict(stored)
        name = next(name for name in wanted if wanted[name] != held[name])
        raise InvalidInput(
            f"checkpoint = {str(path)!r} holds a transformer with {name} = {held[name]!r}, and"
            f" {wanted[name]!r} is needed.")
    shapes = eqx.filter_eval_shape(init_transformer, jax.random.key(0), stored, dtype)
    return fill(shapes, arrays, path)
