"""One deep transformer from which the decoders of sparse recovery and the vision transformers come
as options. See `model`."""

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.networks.transformer.config import (
    TransformerConfig,
    gpt2_decoder,
    pair_decoder,
    small_decoder,
    vision_transformer,
)
from saccade.networks.transformer.layers import Layers, init_layers, side_by_side
from saccade.networks.transformer.model import (
    Trace,
    Transformer,
    init_transformer,
    number_of_parameters,
)
from saccade.networks.transformer.norm import Norm
from saccade.networks.transformer.saving import load_transformer, save_transformer

__all__ = [
    "Layers", "Norm", "Trace", "Transformer", "TransformerConfig", "gpt2_decoder", "init_layers",
    "init_transformer", "load_transformer", "number_of_parameters", "pair_decoder",
    "save_transformer", "side_by_side", "small_decoder", "vision_transformer"]
