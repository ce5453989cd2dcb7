"""One deep transformer; the decoders and the vision transformers are its options. See `model`."""

from saccade.networks.transformer.config import (
    TransformerConfig,
    gpt2_decoder,
    pair_decoder,
    small_decoder,
    vision_transformer,
)
from saccade.networks.transformer.layers import side_by_side
from saccade.networks.transformer.model import (
    Transformer,
    init_transformer,
    load_transformer,
    number_of_parameters,
    save_transformer,
)
