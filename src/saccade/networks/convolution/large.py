"""ResNet-18 and VGG-19 with batch normalisation, in the form usual for 32 x 32 images.

Batch normalisation keeps no running averages: `network(images)` uses the statistics of the batch,
`network.statistics(images)` returns those of a (large) batch, and `network(images, statistics)`
uses them, for evaluation.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from saccade.networks.convolution.small import Images, Kernel, convolve, init_kernel, max_pool

VGG_19 = (
    64, 64, "pool", 128, 128, "pool", 256, 256, 256, 256, "pool", 512, 512, 512, 512, "pool", 512,
    512, 512, 512)
RESNET_18 = (
    (64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1),
)  # width, stride of each block
EPSILON = 1e-5
Statistics = list[tuple[Array, Array]]


class Batchwise(eqx.Module):
    """Scale and shift of batch normalisation."""

    scale: Float[Array, " channels"]
    shift: Float[Array, " channels"]

    def __call__(self, images: Images, used: Statistics, fixed: Statistics | None) -> Images:
        """Normalised by the batch, or the next of the `fixed` statistics; they end up in `used`."""
        axes = (0, 1, 2)
        mean, variance = (
            fixed[len(used)] if fixed is not None else (images.mean(axes), images.var(axes)))
        used.append((mean, variance))
        return (images - mean) * (jax.lax.rsqrt(variance + EPSILON) * self.scale) + self.shift


class LargeConvolution(eqx.Module):
    """What both networks share: how statistics travel, and the read-out of the picture's mean."""

    read_out: Float[Array, "width outputs"]
    read_out_bias: Float[Array, " outputs"]

    def features(self, images: Images, used: Statistics, fixed: Statistics | None) -> Images:
        raise NotImplementedError

    def __call__(
        self, images: Images, statistics: Statistics | None = None
    ) -> Float[Array, "n outputs"]:
        features = self.features(images, [], statistics)
        return features.mean(axis=(1, 2)) @ self.read_out + self.read_out_bias

    def statistics(self, images: Images) -> Statistics:
        """Mean and variance at every normalisation, for evaluation."""
        used: Statistics = []
        self.features(images, used, None)
        return used


class Vgg(LargeConvolution):
    """Convolutions with bias, batch normalisation, ReLU; 2 x 2 maxima after each group."""

    kernels: list[Kernel]
    biases: list[Array]
    norms: list[Batchwise]

    def features(self, images: Images, used: Statistics, fixed: Statistics | None) -> Images:
        state, number = images, 0
        for item in VGG_19:
            if item == "pool":
                state = max_pool(state)
                continue
            state = convolve(state, self.kernels[number]) + self.biases[number]
            state = jnp.maximum(self.norms[number](state, used, fixed), 0)
            number += 1
        return max_pool(state)


class Block(eqx.Module):
    """Two convolutions with batch normalisation beside a short cut (1 x 1 where sizes change)."""

    stride: int = eqx.field(static=True)
    first: Kernel
    second: Kernel
    first_norm: Batchwise
    second_norm: Batchwise
    short: Float[Array, "channels width"] | None
    short_norm: Batchwise | None

    def __call__(self, images: Images, used: Statistics, fixed: Statistics | None) -> Images:
        state = jnp.maximum(
            self.first_norm(convolve(images, self.first, self.stride), used, fixed), 0)
        state = self.second_norm(convolve(state, self.second), used, fixed)
        if self.short is None or self.short_norm is None:
            return jnp.maximum(state + images, 0)
        cut = images[:, :: self.stride, :: self.stride] @ self.short
        return jnp.maximum(state + self.short_norm(cut, used, fixed), 0)


class ResNet(LargeConvolution):
    """One convolution, then eight blocks of two."""

    stem: Kernel
    stem_norm: Batchwise
    blocks: list[Block]

    def features(self, images: Images, used: Statistics, fixed: Statistics | None) -> Images:
        state = jnp.maximum(self.stem_norm(convolve(images, self.stem), used, fixed), 0)
        for block in self.blocks:
            state = block(state, used, fixed)
        return state


def vgg_19(key: Array, channels: int = 3, outputs: int = 10) -> Vgg:
    """VGG-19 for 32 x 32 images: 20,040,522 parameters with three channels and ten classes."""
    widths = [item for item in VGG_19 if isinstance(item, int)]
    keys = jax.random.split(key, len(widths) + 1)
    kernels = [
        init_kernel(one, *pair, 2.0)
        for one, pair in zip(keys, zip([channels, *widths], widths), strict=False)]
    biases = [jnp.zeros(width, jnp.float32) for width in widths]
    return Vgg(
        **_head(keys[-1], widths[-1], outputs), kernels=kernels, biases=biases,
        norms=[*map(_norm, widths)])


def resnet_18(key: Array, channels: int = 3, outputs: int = 10) -> ResNet:
    """ResNet-18 for 32 x 32 images: 11,173,962 parameters with three channels and ten classes."""
    keys = jax.random.split(key, len(RESNET_18) + 2)
    into, blocks = 64, []
    for one, (width, stride) in zip(keys[2:], RESNET_18, strict=True):
        blocks.append(_block(one, into, width, stride))
        into = width
    stem = init_kernel(keys[1], channels, 64, 2.0)
    return ResNet(**_head(keys[0], into, outputs), stem=stem, stem_norm=_norm(64), blocks=blocks)


def _block(key: Array, into: int, width: int, stride: int) -> Block:
    first, second, short = jax.random.split(key, 3)
    changes = stride != 1 or into != width
    return Block(
        stride, init_kernel(first, into, width, 2.0), init_kernel(second, width, width, 2.0),
        _norm(width), _norm(width),
        init_kernel(short, into, width, 1.0, size=1) if changes else None,
        _norm(width) if changes else None)


def _norm(width: int) -> Batchwise:
    return Batchwise(jnp.ones(width, jnp.float32), jnp.zeros(width, jnp.float32))


def _head(key: Array, width: int, outputs: int) -> dict[str, Any]:
    return {
        "read_out": init_kernel(key, width, outputs, size=1),
        "read_out_bias": jnp.zeros(outputs, jnp.float32)}
