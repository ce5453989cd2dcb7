"""Convolutions as nine shifts and one matrix product (on a CPU much faster than the library's), and
pooling."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Images = Float[Array, "n height width channels"]
Kernel = Float[Array, "9*channels outputs"]


def neighbourhoods(images: Images, stride: int = 1) -> Float[Array, "n h w 9*channels"]:
    """Each pixel's 3 x 3 neighbourhood side by side, row by row; zeros outside the image."""
    height, width = images.shape[1:3]
    padded = jnp.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    shifts = [
        padded[:, down : down + height : stride, right : right + width : stride]
        for down in range(3) for right in range(3)]
    return jnp.concatenate(shifts, axis=-1)


def convolve(images: Images, kernel: Kernel, stride: int = 1) -> Images:
    """3 x 3 convolution, same size (over `stride`); the kernel's rows are the nine shifts, each
    with all channels."""
    around = neighbourhoods(images, stride)
    flat = around.reshape(-1, around.shape[-1]) @ kernel
    return flat.reshape(*around.shape[:3], -1)


def mean_pool(images: Images) -> Images:
    """2 x 2 means."""
    n, height, width, channels = images.shape
    return images.reshape(n, height // 2, 2, width // 2, 2, channels).mean(axis=(2, 4))


def max_pool(images: Images) -> Images:
    """2 x 2 maxima."""
    n, height, width, channels = images.shape
    return images.reshape(n, height // 2, 2, width // 2, 2, channels).max(axis=(2, 4))


def space_to_depth(images: Images) -> Images:
    """2 x 2 blocks of pixels as one pixel with four times the channels."""
    n, height, width, channels = images.shape
    blocks = images.reshape(n, height // 2, 2, width // 2, 2, channels).transpose(0, 1, 3, 2, 4, 5)
    return blocks.reshape(n, height // 2, width // 2, 4 * channels)


def init_kernel(
    key: Array, channels: int, outputs: int, gain: float = 1.0, size: int = 9
) -> Kernel:
    """N(0, gain / fan_in) in float32."""
    made = jax.random.normal(key, (size * channels, outputs)) * (gain / (size * channels)) ** 0.5
    return jnp.asarray(made, jnp.float32)
