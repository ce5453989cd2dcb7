"""From the tensor names of published BERT checkpoints to the modules of `encoder.py`, every shape
checked on the way."""

from collections.abc import Callable, Mapping

import jax.numpy as jnp
import numpy as np

from saccade.errors import InvalidInput
from saccade.networks.bert.encoder import (
    BertConfig,
    BertEncoder,
    Embeddings,
    EncoderLayer,
    LayerNorm,
    Linear,
)

Read = Callable[..., np.ndarray]

# The oldest checkpoints, bert-base-uncased among them, call the scale and shift of a LayerNorm
# gamma and beta.
_OLD_NAMES = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}


def _reader(tensors: Mapping[str, np.ndarray]) -> Read:
    """`read(name, *shape)`: the tensor as float32, found with or without the prefix "bert." and
    under old or new names."""

    def spellings(name: str) -> list[str]:
        names = [name] + [
            name.replace(new, old) for new, old in _OLD_NAMES.items() if name.endswith(new)]
        return [prefix + spelling for spelling in names for prefix in ("", "bert.")]

    def read(name: str, *shape: int) -> np.ndarray:
        found = next((spelling for spelling in spellings(name) if spelling in tensors), None)
        if found is None:
            raise InvalidInput(
                f"The weights lack the tensor {name!r}, with or without the prefix 'bert.'.")
        tensor = np.asarray(tensors[found], np.float32)
        if tensor.shape != shape:
            raise InvalidInput(
                f"The tensor {found!r} has the shape {tensor.shape}, but config.json asks for"
                f" {shape}.")
        return tensor

    return read


def _linear(read: Read, name: str, inputs: int, outputs: int) -> Linear:
    weight, bias = read(f"{name}.weight", outputs, inputs), read(f"{name}.bias", outputs)
    return Linear(jnp.asarray(weight.T), jnp.asarray(bias))


def _norm(read: Read, name: str, config: BertConfig) -> LayerNorm:
    scale, shift = (
        read(f"{name}.LayerNorm.weight", config.hidden),
        read(f"{name}.LayerNorm.bias", config.hidden))
    return LayerNorm(jnp.asarray(scale), jnp.asarray(shift), config.norm_epsilon)


def _fused(parts: list[Linear]) -> Linear:
    """Several projections of the same input as one product."""
    return Linear(
        jnp.concatenate([p.weight for p in parts], 1), jnp.concatenate([p.bias for p in parts]))


def _layer(read: Read, index: int, config: BertConfig) -> EncoderLayer:
    name, hidden, inner = f"encoder.layer.{index}", config.hidden, config.intermediate
    projections = [
        _linear(read, f"{name}.attention.self.{part}", hidden, hidden)
        for part in ("query", "key", "value")]
    return EncoderLayer(
        query_key_value=_fused(projections),
        attention_output=_linear(read, f"{name}.attention.output.dense", hidden, hidden),
        attention_norm=_norm(read, f"{name}.attention.output", config),
        expand=_linear(read, f"{name}.intermediate.dense", hidden, inner),
        contract=_linear(read, f"{name}.output.dense", inner, hidden),
        output_norm=_norm(read, f"{name}.output", config), heads=config.heads)


def build_encoder(config: BertConfig, tensors: Mapping[str, np.ndarray]) -> BertEncoder:
    """The encoder whose weights are `tensors`; tensors it does not use (pooler, position numbers,
    heads) are left aside."""
    read = _reader(tensors)
    embeddings = Embeddings(
        word=jnp.asarray(
            read("embeddings.word_embeddings.weight", config.vocabulary, config.hidden)),
        position=jnp.asarray(
            read("embeddings.position_embeddings.weight", config.positions, config.hidden)),
        token_type=jnp.asarray(
            read("embeddings.token_type_embeddings.weight", config.token_types, config.hidden)),
        norm=_norm(read, "embeddings", config))
    return BertEncoder(
        embeddings, tuple(_layer(read, i, config) for i in range(config.layers)), config)
