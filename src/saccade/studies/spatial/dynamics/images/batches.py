"""Batches of images inside a compiled training: normalise, flip, shift, shuffle the cells, cut into
patches.

The host's version of the same (`saccade.datasets.images.pipeline`) is what the tests compare with.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt8

from saccade.datasets.images.imageset import ImageSet
from saccade.datasets.images.pipeline import Channels, View
from saccade.studies.spatial.dynamics.images.recipe import Recipe

Pixels = Float[Array, "n side side channels"]


class ImageData(NamedTuple):
    """What a training reads: bytes, labels, the order of images over all epochs, the shuffle, and
    the channels' scale and shift."""

    pixels: UInt8[Array, "images side side channels"]
    labels: Int[Array, " images"]
    order: Int[Array, " steps_times_batch"]
    permutation: Int[Array, " cells"]
    scale: Float[Array, " channels"]
    shift: Float[Array, " channels"]


def image_data(
    images: ImageSet, channels: Channels, seen: View, recipe: Recipe, seed: int
) -> ImageData:
    """The data of a training; `seed` drives the order of the images, a fresh one each epoch."""
    random = np.random.default_rng(seed)
    kept = recipe.steps(len(images)) // recipe.epochs * recipe.batch
    order = np.concatenate([random.permutation(len(images))[:kept] for _ in range(recipe.epochs)])
    return ImageData(
        jnp.asarray(images.pixels), jnp.asarray(images.labels, jnp.int32),
        jnp.asarray(order, jnp.int32), jnp.asarray(seen.permutation, jnp.int32),
        jnp.asarray(1 / (255 * channels.deviation), jnp.float32),
        jnp.asarray(channels.mean / channels.deviation, jnp.float32))


def batches(
    recipe: Recipe, cell: int, patch: int | None
) -> Callable[[Array, Array, ImageData], tuple[Array, Array]]:
    """`batch(key, step, data)` for training: patches (n, tokens, features) for a ViT; whole images
    where `patch` is None."""

    def batch(key: Array, step: Array, data: ImageData) -> tuple[Array, Array]:
        chosen = jax.lax.dynamic_slice(data.order, (step * recipe.batch,), (recipe.batch,))
        pixels = augment(key, normalise(data.pixels[chosen], data), recipe.flip, recipe.shift)
        return look(pixels, data.permutation, cell, patch), data.labels[chosen]

    return batch


def normalise(pixels: UInt8[Array, "n side side channels"], data: ImageData) -> Pixels:
    return pixels.astype(jnp.float32) * data.scale - data.shift


def augment(key: Array, pixels: Pixels, flip: bool, shift: int) -> Pixels:
    """Flips with chance 1/2, then moves by up to `shift` pixels each way with zeros moving in."""
    flip_key, shift_key = jax.random.split(key)
    if flip:
        turned = jax.random.bernoulli(flip_key, 0.5, (len(pixels), 1, 1, 1))
        pixels = jnp.where(turned, pixels[:, :, ::-1], pixels)
    if shift == 0:
        return pixels
    corners = jax.random.randint(shift_key, (len(pixels), 2), 0, 2 * shift + 1)
    padded = jnp.pad(pixels, ((0, 0), (shift, shift), (shift, shift), (0, 0)))

    def crop(one: Array, corner: Array) -> Array:
        return jax.lax.dynamic_slice(one, (corner[0], corner[1], 0), pixels.shape[1:])

    return jax.vmap(crop)(padded, corners)


def look(pixels: Pixels, permutation: Int[Array, " cells"], cell: int, patch: int | None) -> Array:
    """New cell k shows old cell permutation[k]; then patches row by row, or the image put together
    again."""
    cells = _cut(pixels, cell)[:, permutation]
    if patch == cell:
        return cells.reshape(*cells.shape[:2], -1)
    whole = _together(cells, pixels.shape)
    if patch is None:
        return whole
    tokens = _cut(whole, patch)
    return tokens.reshape(*tokens.shape[:2], -1)


def _cut(pixels: Array, cell: int) -> Float[Array, "n cells cell cell channels"]:
    n, side, _, channels = pixels.shape
    grid = pixels.reshape(n, side // cell, cell, side // cell, cell, channels)
    return grid.transpose(0, 1, 3, 2, 4, 5).reshape(n, -1, cell, cell, channels)


def _together(cells: Array, shape: tuple[int, ...]) -> Pixels:
    n, side, _, channels = shape
    cell = cells.shape[2]
    grid = cells.reshape(n, side // cell, side // cell, cell, cell, channels)
    return grid.transpose(0, 1, 3, 2, 4, 5).reshape(shape)
