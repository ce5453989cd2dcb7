"""Training on images: a recipe with its optimiser and loss, batches inside the compiled program
(normalise, flip, shift, shuffle the cells, cut into patches), and the answers on test images.

Tests compare the batches with the host's version of them (`saccade.datasets.images.pipeline`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Float, Int, UInt8

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.arrays import Array
from saccade.datasets.images.imageset import ImageSet
from saccade.datasets.images.pipeline import Channels, View
from saccade.errors import require

Pixels = Float[Array, "n side side channels"]
DECAYED = (
    "read_in", "qkv", "projection", "first", "second", "read_out", "kernels", "stem", "short")
AT_ONCE = 200  # test images a network is asked about at a time


@dataclass(frozen=True)
class Recipe:
    """AdamW with warm-up and a cosine; flips and shifts; label smoothing.

    learning_rate  its peak; `position_rate` times that for the encodings P, which are not decayed
    warmup, last   share of the steps that warm up; share of the peak at the end
    flip, shift    left-right flips with chance 1/2, moves by up to `shift` pixels each way
    """

    learning_rate: float = 2e-3
    epochs: int = 6
    batch: int = 128
    warmup: float = 0.05
    last: float = 0.01
    decay: float = 0.05
    smoothing: float = 0.1
    clip: float = 1.0
    position_rate: float = 5.0
    flip: bool = True
    shift: int = 2

    def __post_init__(self) -> None:
        require(self.learning_rate > 0, "learning_rate", self.learning_rate, "must be above 0")
        for name in ("epochs", "batch"):
            require(getattr(self, name) >= 1, name, getattr(self, name), "must be at least 1")
        require(0 <= self.smoothing < 1, "smoothing", self.smoothing, "must lie in [0, 1)")
        require(0 <= self.warmup < 1, "warmup", self.warmup, "must lie in [0, 1)")

    def steps(self, images: int) -> int:
        """Whole batches only: what is left over of an epoch is dropped."""
        rule = f"must be at most the number of training images, {images}"
        require(images >= self.batch, "batch", self.batch, rule)
        return self.epochs * (images // self.batch)


def optimiser(recipe: Recipe, steps: int) -> optax.GradientTransformation:
    """AdamW that decays matrices only and moves encodings `position_rate` times as fast."""
    warmup, peak = round(recipe.warmup * steps), recipe.learning_rate
    schedule = optax.warmup_cosine_decay_schedule(
        0.0 if warmup else peak, peak, warmup, steps, recipe.last * peak)
    return optax.chain(
        optax.clip_by_global_norm(recipe.clip), optax.scale_by_adam(b1=0.9, b2=0.98, eps=1e-8),
        optax.add_decayed_weights(recipe.decay, mask=_named(*DECAYED)),
        optax.masked(optax.scale(recipe.position_rate), _named("positions")),
        optax.scale_by_learning_rate(schedule))


def _named(*names: str) -> Callable[[Any], Any]:
    """A mask that is true at the arrays with one of these names (numbers in lists aside)."""

    def is_named(path: tuple[Any, ...], leaf: Any) -> bool:
        return [entry.name for entry in path if hasattr(entry, "name")][-1] in names

    return partial(jax.tree_util.tree_map_with_path, is_named)


def same_batch(key: Any, step: Any, data: Any) -> Any:
    """All of the data at every step."""
    return data


def smoothed_loss(smoothing: float) -> Callable[[Any, tuple[Array, Array]], Array]:
    """Mean cross-entropy against (1 - smoothing) one-hot + smoothing / classes."""

    def loss(model: Any, batch: tuple[Array, Int[Array, " n"]]) -> Array:
        inputs, labels = batch
        logs: Float[Array, "n classes"] = jax.nn.log_softmax(model(inputs), axis=-1)
        true = jnp.take_along_axis(logs, labels[:, None], axis=1)[:, 0]
        return -jnp.mean((1 - smoothing) * true + smoothing * logs.mean(axis=1))

    return loss


class ImageData(NamedTuple):
    """What a training reads: images, their order over all epochs, the shuffle, the channels."""

    pixels: UInt8[Array, "images side side channels"]
    labels: Int[Array, " images"]
    order: Int[Array, " steps_times_batch"]
    permutation: Int[Array, " cells"]
    factor: Float[Array, " channels"]
    offset: Float[Array, " channels"]


def image_data(
    images: ImageSet, channels: Channels, shown: View, recipe: Recipe, seed: int
) -> ImageData:
    """The data of a training; `seed` drives the order of the images, a fresh one each epoch."""
    random = np.random.default_rng(seed)
    kept = recipe.steps(len(images)) // recipe.epochs * recipe.batch
    order = np.concatenate([random.permutation(len(images))[:kept] for _ in range(recipe.epochs)])
    return ImageData(
        jnp.asarray(images.pixels), np.asarray(images.labels, np.int32), order.astype(np.int32),
        np.asarray(shown.permutation, np.int32),
        np.asarray(1 / (255 * channels.deviation), np.float32),
        np.asarray(channels.mean / channels.deviation, np.float32))


def batches(
    recipe: Recipe, cell: int, patch: int | None
) -> Callable[[Array, Array, ImageData], tuple[Array, Array]]:
    """`batch(key, step, data)`: patches (n, tokens, features), or images if `patch` is None."""

    def batch(key: Array, step: Array, data: ImageData) -> tuple[Array, Array]:
        chosen = jax.lax.dynamic_slice(data.order, (step * recipe.batch,), (recipe.batch,))
        pixels = augment(key, normalise(data.pixels[chosen], data), recipe.flip, recipe.shift)
        return look(pixels, data.permutation, cell, patch), data.labels[chosen]

    return batch


def normalise(pixels: UInt8[Array, "n side side channels"], data: ImageData) -> Pixels:
    return pixels.astype(jnp.float32) * data.factor - data.offset


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
    """New cell k shows old cell permutation[k]; then patches row by row, or the whole image."""
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


def right_answers(
    model: Any, images: ImageSet, data: ImageData, cell: int, patch: int | None
) -> np.ndarray:
    """Whether each image is classified correctly through the shuffle and channels of `data`."""
    pixels, nothing = np.asarray(images.pixels), np.zeros(0)
    padded = np.pad(pixels, ((0, -len(pixels) % AT_ONCE), (0, 0), (0, 0), (0, 0)))
    view = data._replace(pixels=nothing, labels=nothing, order=nothing)
    answers = [
        np.asarray(_answers(model, group, view, cell, patch))
        for group in padded.reshape(-1, AT_ONCE, *pixels.shape[1:])]
    return np.concatenate(answers)[: len(pixels)] == images.labels


@eqx.filter_jit
def _answers(
    model: Any, pixels: UInt8[Array, "n side side channels"], data: ImageData, cell: int,
    patch: int | None,
) -> jax.Array:
    """The classes of one group of images: one program for any number of groups."""
    return jnp.argmax(model(look(normalise(pixels, data), data.permutation, cell, patch)), axis=-1)
