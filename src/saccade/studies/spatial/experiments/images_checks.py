"""Training commutes with a permutation of the patches: move patches and encodings together, and
nothing else moves."""

from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import xarray

from saccade.datasets.images import load_images
from saccade.datasets.images.pipeline import channels_of, normalised, patches, view
from saccade.lab.experiment import experiment
from saccade.networks.training import Problem, train
from saccade.networks.transformer import init_transformer, vision_transformer
from saccade.studies.spatial.dynamics.images import same_batch, smoothed_loss


@cache
def _whole_batches(learning_rate: float) -> Problem:
    """One object for the same rate: trainings that share it share a compiled program."""
    return Problem(smoothed_loss(0.1), same_batch, optax.adam(learning_rate))


@experiment("spatial.permuted-training")
def permuted_training(
    key: Any, *, images: int = 128, patch: int = 2, width: int = 16, layers: int = 2,
    steps: int = 30, learning_rate: float = 3e-3, move_encodings: bool = True,
) -> xarray.Dataset:
    """Vision transformers trained on digits, and again with the patches and the initial encodings P
    in another order (float64): losses and encodings of both, the second ones moved back."""
    digits = load_images("digits")
    pixels = normalised(digits.first(images), channels_of(digits)).astype(float)
    whole = view(pixels.shape[1], patch)
    order_key, start_key = jax.random.split(key)
    order = np.asarray(jax.random.permutation(order_key, whole.permutation))
    plain = (patches(pixels, whole, patch), digits.labels[:images])
    moved = (plain[0][:, order], plain[1])
    problem = _whole_batches(learning_rate)
    places = order if move_encodings else np.arange(len(order))
    losses, encodings = [], []
    for looks_by in ("tokens", "positions"):
        config = vision_transformer(
            patch**2, len(order), 10, looks_by, width=width, hidden=2 * width, layers=layers)
        start = init_transformer(start_key, config, dtype=jnp.float64)
        other = eqx.tree_at(
            lambda model: model.positions, start, replace_fn=lambda table: table[places])
        pair = [
            train(problem._replace(data=data), model, key, steps, chunk=steps)
            for data, model in ((plain, start), (moved, other))]
        losses.append([one.losses for one in pair])
        tables = [np.asarray(one.model.positions) for one in pair]
        encodings.append([tables[0], tables[1][np.argsort(places)]])
    return xarray.Dataset(
        {
            "loss": (("kind", "order", "step"), np.array(losses)),
            "encodings": (("kind", "order", "token", "width"), np.array(encodings))},
        {"kind": ["vanilla", "positional"], "order": ["plain", "moved"]})
