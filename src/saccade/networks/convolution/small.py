"""Convolutions as nine shifts and one matrix product (on a CPU much faster than the library's),
pooling, and small networks to set beside the small vision transformers: blocks of [3 x 3, LayerNorm
over channels, ReLU, pool]."""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from saccade.errors import require
from saccade.networks.transformer.kernels import Norm, init_norm, normalise

Images = Float[Array, "n height width channels"]
Kernel = Float[Array, "9*channels outputs"]


def convolve(images: Images, kernel: Kernel, stride: int = 1) -> Images:
    """3 x 3 convolution, zeros outside the image, same size (over `stride`); the kernel's rows are
    the nine shifts, row by row, each with all channels."""
    height, width = images.shape[1:3]
    padded = jnp.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    shifts = [
        padded[:, down : down + height : stride, right : right + width : stride]
        for down in range(3) for right in range(3)]
    around = jnp.concatenate(shifts, axis=-1)
    flat = around.reshape(-1, around.shape[-1]) @ kernel
    return flat.reshape(*around.shape[:3], -1)


def _blocks(images: Images) -> Float[Array, "n h 2 w 2 channels"]:
    n, height, width, channels = images.shape
    return images.reshape(n, height // 2, 2, width // 2, 2, channels)


def mean_pool(images: Images) -> Images:
    """2 x 2 means."""
    return _blocks(images).mean(axis=(2, 4))


def max_pool(images: Images) -> Images:
    """2 x 2 maxima."""
    return _blocks(images).max(axis=(2, 4))


def space_to_depth(images: Images) -> Images:
    """2 x 2 blocks of pixels as one pixel with four times the channels."""
    blocks = _blocks(images).transpose(0, 1, 3, 2, 4, 5)
    return blocks.reshape(*blocks.shape[:3], -1)


def init_kernel(
    key: Array, channels: int, outputs: int, gain: float = 1.0, size: int = 9
) -> Kernel:
    """N(0, gain / fan_in) in float32."""
    values = jax.random.normal(key, (size * channels, outputs)) * (gain / (size * channels)) ** 0.5
    return jnp.asarray(values, jnp.float32)


@dataclass(frozen=True)
class ConvolutionConfig:
    """Each block of `widths` is followed by a 2 x 2 mean pool while the side is above 4; `folded`:
    2 x 2 pixels become one first."""

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
    """Half the resolution, widths 64, 128, 128: 230,026 parameters, as accurate as small ViTs."""
    return ConvolutionConfig(channels, (64, 128, 128), outputs, folded=True)


class SmallConvolution(eqx.Module):
    """Blocks, mean over what is left of the picture, linear read-out."""

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
