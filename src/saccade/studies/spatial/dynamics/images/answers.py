"""What a trained network answers on test images, a few hundred at a time."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from saccade.datasets.images.imageset import ImageSet
from saccade.studies.spatial.dynamics.images.batches import ImageData, look, normalise

AT_ONCE = 200


def right_answers(
    model: Any, images: ImageSet, data: ImageData, cell: int, patch: int | None
) -> np.ndarray:
    """Whether each image is classified correctly, seen through the shuffle and the channels of
    `data`. (n,) of bool"""
    pixels = np.asarray(images.pixels)
    padded = np.concatenate(
        [pixels, np.zeros((-len(pixels) % AT_ONCE, *pixels.shape[1:]), np.uint8)])
    groups = jnp.asarray(padded.reshape(-1, AT_ONCE, *pixels.shape[1:]))
    seen = data._replace(pixels=data.pixels[:0], labels=data.labels[:0], order=data.order[:0])
    return (
        np.asarray(_answers(model, groups, seen, cell, patch)).ravel()[: len(pixels)]
        == images.labels)


@eqx.filter_jit
def _answers(
    model: Any, groups: jax.Array, data: ImageData, cell: int, patch: int | None
) -> jax.Array:
    def one(pixels: jax.Array) -> jax.Array:
        return jnp.argmax(
            model(look(normalise(pixels, data), data.permutation, cell, patch)), axis=-1)

    return jax.lax.map(one, groups)
