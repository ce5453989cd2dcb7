"""From the tensors of published BERT checkpoints to the modules of `encoder`, shapes checked."""

from collections.abc import Callable, Mapping

import jax
import jax.numpy as jnp
import numpy as np

from saccade.errors import InvalidInput
from saccade.networks.bert import encoder as parts

Read = Callable[..., jax.Array]

# The oldest checkpoints, bert-base-uncased among them, say gamma and beta.
_OLD_NAMES = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}


def _reader(tensors: Mapping[str, np.ndarray]) -> Read:
    """`read(name, *shape)`: the tensor as float32, with or without "bert.", by old or new name."""

    def spellings(name: str) -> list[str]:
        names = [name] + [
            name.replace(new, old) for new, old in _OLD_NAMES.items() if name.endswith(new)]
        return [prefix + spelling for spelling in names for prefix in ("", "bert.")]

    def read(name: str, *shape: int) -> jax.Array:
        spelled = next((spelling for spelling in spellings(name) if spelling in tensors), None)
        if spelled is None:
            raise InvalidInput(
                f"The weights lack the tensor {name!r}, with or without the prefix 'bert.'.")
        tensor = jnp.asarray(tensors[spelled], jnp.float32)
        if tensor.shape != shape:
            raise InvalidInput(
                f"The tensor {spelled!r} has the shape {tensor.shape}, but config.json asks for"
                f" {shape}.")
        return tensor

    return read


def _linear(read: Read, name: str, inputs: int, outputs: int) -> parts.Linear:
    return parts.Linear(read(f"{name}.weight", outputs, inputs).T, read(f"{name}.bias", outputs))


def _norm(read: Read, name: str, config: parts.BertConfig) -> parts.LayerNorm:
    scale, shift = (read(f"{name}.LayerNorm.{part}", config.hidden) for part in ("weight", "bias"))
    return parts.LayerNorm(scale, shift, config.norm_epsilon)


def _fused(projections: list[parts.Linear]) -> parts.Linear:
    """Several projections of the same input as one product."""
    return parts.Linear(
        jnp.concatenate([one.weight for one in projections], 1),
        jnp.concatenate([one.bias for one in projections]))


def _layer(read: Read, index: int, config: parts.BertConfig) -> parts.EncoderLayer:
    name, hidden, inner = f"encoder.layer.{index}", config.hidden, config.intermediate
    projections = [
        _linear(read, f"{name}.attention.self.{part}", hidden, hidden)
        for part in ("query", "key", "value")]
    return parts.EncoderLayer(
        query_key_value=_fused(projections),
        attention_output=_linear(read, f"{name}.attention.output.dense", hidden, hidden),
        attention_norm=_norm(read, f"{name}.attention.output", config),
        expand=_linear(read, f"{name}.intermediate.dense", hidden, inner),
        contract=_linear(read, f"{name}.output.dense", inner, hidden),
        output_norm=_norm(read, f"{name}.output", config), heads=config.heads)


def build_encoder(config: parts.BertConfig, tensors: Mapping[str, np.ndarray]) -> parts.BertEncoder:
    """The encoder with the weights `tensors`; those it does not use (pooler, heads) are ignored."""
    read, hidden = _reader(tensors), config.hidden
    embeddings = parts.Embeddings(
        word=read("embeddings.word_embeddings.weight", config.vocabulary, hidden),
        position=read("embeddings.position_embeddings.weight", config.positions, hidden),
        token_type=read("embeddings.token_type_embeddings.weight", config.token_types, hidden),
        norm=_norm(read, "embeddings", config))
    layers = tuple(_layer(read, index, config) for index in range(config.layers))
    return parts.BertEncoder(embeddings, layers, config)
