"""From the files of a folder to an encoder and its tokenizer. Only this step needs safetensors and
tokenizers."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from saccade.errors import InvalidInput, require
from saccade.networks.bert.encoder import BertConfig, BertEncoder
from saccade.networks.bert.source import find_model_folder, optional
from saccade.networks.bert.weights import build_encoder


class Bert(NamedTuple):
    """An encoder and the tokenizer it was trained with."""

    encoder: BertEncoder
    tokenizer: Any
    folder: Path


_FIELDS = {
    "vocab_size": "vocabulary", "hidden_size": "hidden", "num_hidden_layers": "layers",
    "num_attention_heads": "heads", "intermediate_size": "intermediate",
    "max_position_embeddings": "positions", "type_vocab_size": "token_types"}


def read_config(path: Path) -> BertConfig:
    """The sizes in config.json, refusing what this encoder does not compute (another activation,
    relative positions)."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InvalidInput(f"{str(path)!r} is not readable as JSON ({error}).") from error
    require(isinstance(raw, dict), str(path), type(raw).__name__, "must be a JSON object")
    for name, supported in {
        "model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute",
    }.items():
        require(
            raw.get(name, supported) == supported, name, raw.get(name),
            f"must be {supported!r}: other encoders are not read")
    sizes = {}
    for name, field in _FIELDS.items():
        size = raw.get(name)
        require(
            isinstance(size, int) and size >= 1, f"{name} in {str(path)!r}", size,
            "must be a whole number of at least 1")
        sizes[field] = size
    hidden, heads = sizes["hidden"], sizes["heads"]
    require(
        hidden % heads == 0, "num_attention_heads", heads, f"must divide hidden_size = {hidden}")
    epsilon, padding = float(raw.get("layer_norm_eps", 1e-12)), int(raw.get("pad_token_id") or 0)
    return BertConfig(norm_epsilon=epsilon, padding_token=padding, **sizes)


def _read_tensors(path: Path) -> dict[str, np.ndarray]:
    safetensors = optional("safetensors.numpy", "Loading a BERT encoder")
    try:
        return safetensors.load_file(path)
    except (
        Exception) as error:  # damaged header, truncated data, or a number format that NumPy lacks
        raise InvalidInput(
            f"{str(path)!r} is not a readable safetensors file ({error}).") from error


def _read_tokenizer(path: Path) -> Any:
    tokenizers = optional("tokenizers", "Loading a BERT encoder")
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception for a damaged file
        raise InvalidInput(f"{str(path)!r} is not a readable tokenizer file ({error}).") from error
    tokenizer.no_padding()  # the stored setting pads every sentence to the same long length
    tokenizer.no_truncation()  # a sentence too long is refused later, never cut in silence
    return tokenizer


def load_bert(source: str | Path | None = None) -> Bert:
    """Read an encoder from a folder, from the installed MiniLM package (None), or by its hub
    name."""
    folder = find_model_folder(source)
    config = read_config(folder / "config.json")
    encoder = build_encoder(config, _read_tensors(folder / "model.safetensors"))
    return Bert(encoder, _read_tokenizer(folder / "tokenizer.json"), folder)


def tokenize(
    bert: Bert, texts: tuple[str, ...] | list[str]
) -> tuple[Int[np.ndarray, "n length"], Bool[np.ndarray, "n length"]]:
    """Token numbers with [CLS] first, padded on the right to the longest text, and the mask that is
    True at real tokens."""
    require(len(texts) > 0, "texts", texts, "must hold at least one sentence")
    encoded = [encoding.ids for encoding in bert.tokenizer.encode_batch(list(texts))]
    lengths = np.array([len(ids) for ids in encoded])
    mask = np.arange(lengths.max()) < lengths[:, None]
    tokens = np.full(mask.shape, bert.encoder.config.padding_token, np.int32)
    tokens[mask] = np.concatenate(encoded)
    return tokens, mask
