"""A transformer on disk: its configuration in the header, its arrays by name."""

import os
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saccade.errors import InvalidInput
from saccade.networks.saving import fill, named_leaves, read_arrays, write_arrays
from saccade.networks.transformer.config import TransformerConfig
from saccade.networks.transformer.model import Transformer, init_transformer

KIND = "transformer"


def save_transformer(path: str | os.PathLike, model: Transformer) -> Path:
    """Write the model; the file is complete or not there."""
    arrays = {name: np.asarray(leaf) for name, leaf in named_leaves(model).items()}
    header = {"kind": KIND, "config": model.config.to_json(), "dtype": str(model.layers.qkv.dtype)}
    return write_arrays(path, header, arrays)


def load_transformer(
    path: str | os.PathLike, config: TransformerConfig | None = None
) -> Transformer:
    """The model in `path`, bit for bit; with `config`, refused if the file holds a model of another
    configuration."""
    header, arrays = read_arrays(path, KIND)
    try:
        found, dtype = TransformerConfig(**header["config"]), jnp.dtype(header["dtype"])
    except (KeyError, TypeError):
        raise InvalidInput(
            f"checkpoint = {str(path)!r} has a configuration that this version does not know."
        ) from None
    if config is not None and config != found:
        _refuse(path, config.to_json(), found.to_json())
    return fill(
        eqx.filter_eval_shape(init_transformer, jax.random.key(0), found, dtype), arrays, path)


def _refuse(path: str | os.PathLike, wanted: dict, found: dict) -> None:
    name = next(name for name in wanted if wanted[name] != found[name])
    raise InvalidInput(
        f"checkpoint = {str(path)!r} holds a transformer with {name} = {found[name]!r}, and"
        f" {wanted[name]!r} is needed.")
