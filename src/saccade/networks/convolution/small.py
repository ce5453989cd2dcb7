"""Small convolutional networks to set beside the small vision transformers: blocks of [3 x 3,
LayerNorm over channels, ReLU, pool]."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from saccade.errors import require
from saccade.networks.convolution.layers import (
    Images,
    Kernel,
    convolve,
    init_kernel,
    mean_pool,
    space_to_depth,
)
from saccade.networks.transformer.norm import Norm, init_norm, normalise


@dataclass(frozen=True)
class ConvolutionConfig:
    """`widths` of the blocks; each is followed by a 2 x 2 mean pool while the side is above 4.
    `folded`: 2 x 2 pixels become one first."""

    channels: int = 3
    widths: tuple[int, ...] = (16, 32, 64)
    outputs: int = 10
    folded: bool = False

    def __post_init__(self) -> None:
        require(self.channels >= 1, "channels", self.channels, "must be at least 1")
        require(self.outputs >= 1, "outputs", self.outputs, "must be at least 1")
        sound = len(self.widths) >= 1 and all(width >= 1 for width in self.widths)
        require(sound, "widths", self.widths, "must hold at least one number, each at least 1")


def cnn_a(channels: int = 3, outputs: int = 10) -> ConvolutionConfig:
    """Widths 16, 32, 64 at full resolution: 24,346 parameters on colour images with ten classes."""
    return ConvolutionConfig(channels, (16, 32, 64), outputs)


def cnn_b(channels: int = 3, outputs: int = 10) -> ConvolutionConfig:
    """Half the resolution, widths 64, 128, 128: 230,026 parameters; as accurate as the small ViTs
    on whole pictures."""
    return ConvolutionConfig(channels, (64, 128, 128), outputs, folded=True)


class SmallConvolution(eqx.Module):
    """Blocks, mean over what is left of the picture, linear read-out. Images (n, side, side,
    channels) to (n, outputs)."""

    config: ConvolutionConfig = eqx.field(static=True)
    kernels: list[Kernel]
    norms: list[Norm]
    read_out: Float[Array, "width outputs"]
    read_out_bias: Float[Array, " outputs"]

    def __call__(self, images: Images) -> Float[Array, "n outputs"]:
        fits = images.ndim == 4 and images.shape[-1] == self.config.channels
        require(
            fits, "shape of images", images.shape,
            f"must be (n, side, side, {self.config.channels})")
        state = space_to_depth(images) if self.config.folded else images
        for kernel, norm in zip(self.kernels, self.norms, strict=True):
            state = jnp.maximum(normalise(convolve(state, kernel), norm), 0)
            even = state.shape[1] % 2 == 0 and state.shape[2] % 2 == 0
            state = mean_pool(state) if state.shape[1] > 4 and even else state
        return state.mean(axis=(1, 2)) @ self.read_out + self.read_out_bias


def init_convolution(key: Array, config: ConvolutionConfig) -> SmallConvolution:
    """Kernels N(0, 1/fan_in), norms 1 and 0, biases 0, in float32."""
    keys = jax.random.split(key, len(config.widths) + 1)
    into = [config.channels * (4 if config.folded else 1), *config.widths]
    kernels = [
        init_kernel(one, *sizes)
        for one, sizes in zip(keys[:-1], zip(into, config.widths), strict=True)]
    norms = [
        norm for width in config.widths
        if (norm := init_norm("affine", (), width, jnp.float32)) is not None]
    read_out = init_kernel(keys[-1], into[-1], config.outputs, size=1)
    return SmallConvolution(
        config, kernels, norms, read_out, jnp.zeros(config.outputs, jnp.float32))
