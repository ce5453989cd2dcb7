"""The settings of the deep transformer; decoders and vision transformers are options of it."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from saccade.errors import require, unknown

CHOICES = {
    "attention": ("softmax", "relu"), "looks_by": ("tokens", "positions"),
    "activation": ("relu", "gelu"), "norm": ("none", "scale", "affine"),
    "read_out": ("linear", "quadratic", "none"), "pool": ("none", "mean")}
SIZES = {
    "features": 1, "width": 1, "layers": 0, "heads": 1, "hidden": 1, "outputs": 1, "head_width": 0,
    "positions": 0}
SCALES = ("residual_init", "read_out_init", "position_init")


@dataclass(frozen=True)
class TransformerConfig:
    """Sizes and options of a transformer.

    features        width of an input token; with `read_in=False` the tokens are the states
    width           D, the width of a state
    layers, heads   how many
    hidden          width of the MLP
    outputs         of the linear read-out
    head_width      d_h; 0 means width // heads. Full-size heads have head_width = width
    attention       "softmax", or "relu": weights relu(q . k) / i at token i, which sees i tokens
    looks_by        "tokens": queries and keys from the states; "positions": from LN_layer(P) only,
                    so that attention ignores the input
    scaled          divide scores by sqrt(d_h)
    causal          token i sees tokens 1..i
    norm            in front of each part and of the read-out: "none", "scale" (LayerNorm without
                    shift) or "affine"
    attention_bias  biases on q, k, v and on the projection
    projection      mix the heads by a matrix W_O; without it head outputs (of width D) are summed
    positions       length of the learned table P (0: none); added to the tokens unless attention
                    looks by positions
    pool            "mean" over tokens before the read-out
    read_out        "linear" h W + b, "quadratic" h' W h (one number), "none": the states themselves
    *_init          factors on the initial N(0, 1/fan_in) of what is added to the residual stream
                    and of the read-out; sd of P
    """

    features: int
    width: int
    layers: int
    heads: int
    hidden: int
    outputs: int = 1
    head_width: int = 0
    attention: Literal["softmax", "relu"] = "softmax"
    looks_by: Literal["tokens", "positions"] = "tokens"
    scaled: bool = True
    causal: bool = False
    activation: Literal["relu", "gelu"] = "gelu"
    norm: Literal["none", "scale", "affine"] = "affine"
    attention_bias: bool = True
    projection: bool = True
    positions: int = 0
    pool: Literal["none", "mean"] = "none"
    read_in: bool = True
    read_out: Literal["linear", "quadratic", "none"] = "linear"
    read_out_bias: bool = True
    residual_init: float = 1.0
    read_out_init: float = 1.0
    position_init: float = 0.02

    def __post_init__(self) -> None:
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                raise unknown(name, getattr(self, name), known)
        for name, least in SIZES.items():
            size = getattr(self, name)
            require(size >= least, name, size, f"must be at least {least}")
        for name in SCALES:
            value = getattr(self, name)
            require(
                math.isfinite(value) and value >= 0, name, value, "must be finite and at least 0")
        splits = self.head_width > 0 or self.width % self.heads == 0
        rule = f"must divide the width {self.width}, or head_width must be given"
        require(splits, "heads", self.heads, rule)
        rule = f"must be the width {self.width} when there is no "
        summed = self.projection or self.per_head == self.width
        require(summed, "head_width", self.per_head, f"{rule}projection")
        direct = self.read_in or self.features == self.width
        require(direct, "features", self.features, f"{rule}read-in")
        placed = self.looks_by == "tokens" or self.positions > 0
        rule = "must be at least 1 when attention looks by positions"
        require(placed, "positions", self.positions, rule)

    @property
    def per_head(self) -> int:
        """d_h."""
        return self.head_width or self.width // self.heads


def small_decoder(
    dim: int = 20, layers: int = 12, heads: int = 4, **changes: Any
) -> TransformerConfig:
    """The paper's small decoder for sparse recovery: D = 2 dim + 2, causal ReLU attention with 1/i,
    full-size heads, no LayerNorm.

    States are the prompt's tokens themselves. 425,923 parameters at the paper's sizes (dim 20, 12
    layers, 4 heads, hidden 4D). `residual_init` is small because attention is cubic in the states:
    at 0.2 twelve random layers overflow.
    """
    width = 2 * dim + 2
    fixed = {
        "features": width, "width": width, "head_width": width, "hidden": 4 * width,
        "attention": "relu", "scaled": False, "causal": True, "activation": "relu", "norm": "none",
        "attention_bias": False, "projection": False, "read_in": False, "residual_init": 0.002}
    return TransformerConfig(layers=layers, heads=heads, **{**fixed, **changes})


def gpt2_decoder(dim: int = 20, positions: int = 41, **changes: Any) -> TransformerConfig:
    """A decoder like GPT-2: 12 layers, 8 heads, width 256, learned positions, linear read-out."""
    fixed = {
        "features": dim, "width": 256, "layers": 12, "heads": 8, "hidden": 1024, "causal": True}
    changes = {
        "positions": positions, "residual_init": 1 / math.sqrt(24), "read_out_init": 0.1, **changes}
    return TransformerConfig(**{**fixed, **changes})


def pair_decoder(
    dim: int = 8, layers: int = 4, attention: str = "softmax", **changes: Any
) -> TransformerConfig:
    """A small decoder that trains in a minute: one token [x; y] per pair, width 64, read out as an
    estimate of the coefficients.

    "softmax" has pre-LayerNorm (scale only) and GELU; "relu" is the paper's attention: 1/i, no
    LayerNorm, ReLU.
    """
    relu = attention == "relu"
    fixed = {
        "features": dim + 1, "width": 64, "layers": layers, "heads": 4, "hidden": 128,
        "outputs": dim, "attention": attention, "causal": True,
        "activation": "relu" if relu else "gelu", "norm": "none" if relu else "scale",
        "attention_bias": False, "read_out_bias": False,
        "residual_init": (0.3 if relu else 1.0) / math.sqrt(2 * max(layers, 1)),
        "read_out_init": 0.1}
    return TransformerConfig(**{**fixed, **changes})


def vision_transformer(
    features: int = 48, positions: int = 64, outputs: int = 10, looks_by: str = "tokens",
    **changes: Any,
) -> TransformerConfig:
    """A ViT on `positions` patches of `features` numbers: pre-LayerNorm, GELU, mean pool; small
    sizes unless changed.

    looks_by="tokens" is the vanilla one (P added to the tokens); looks_by="positions" is positional
    attention: P is not added, and each layer attends by softmax(Q K'/sqrt(d_h)) with Q, K linear in
    LN_layer(P). 75,210 parameters at the defaults; vanilla has no LN_layer and 256 fewer. The
    paper's: width 384, hidden 384, 7 layers, 12 heads.
    """
    fixed = {
        "width": 64, "layers": 2, "heads": 4, "hidden": 128, "pool": "mean", "residual_init": 0.5}
    sizes = {"features": features, "positions": positions, "outputs": outputs, "looks_by": looks_by}
    return TransformerConfig(**{**fixed, **sizes, **changes})
