"""Training commutes with a permutation of the patches: move patches and encodings together, and
nothing else moves."""

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
from saccade.studies.spatial.dynamics.images import smoothed_loss


def _whole_batch(key: Any, step: Any, data: Any) -> Any:
    return data


@experiment("spatial.permuted-training")
def permuted_training(
    key: Any, *, images: int = 128, patch: int = 2, width: int = 16, layers: int = 2,
    steps: int = 30, learning_rate: float = 3e-3, move_encodings: bool = True,
) -> xarray.Dataset:
    """Vision transformers trained on digits, and trained again with the patches and the initial
    encodings P in another order (float64): the losses of both, and their encodings, the second ones
    moved back."""
    digits = load_images("digits")
    pixels = normalised(digits.first(images), channels_of(digits)).astype(float)
    seen = view(pixels.shape[1], patch)
    order_key, start_key = jax.random.split(key)
    order = np.asarray(jax.random.permutation(order_key, seen.permutation))
    plain = (jnp.asarray(patches(pixels, seen, patch)), jnp.asarray(digits.labels[:images]))
    moved = (plain[0][:, order], plain[1])
    problem = Problem(smoothed_loss(0.1), _whole_batch, optax.adam(learning_rate))
    losses, encodings = [], []
    for looks_by in ("tokens", "positions"):
        config = vision_transformer(
            patch**2, len(order), 10, looks_by, width=width, hidden=2 * width, layers=layers)
        start = init_transformer(start_key, config, dtype=jnp.float64)
        other = (
            eqx.tree_at(lambda model: model.positions, start, start.positions[order])
            if move_encodings else start)  # type: ignore[index]
        pair = [
            train(problem._replace(data=data), model, key, steps, chunk=steps)
            for data, model in ((plain, start), (moved, other))]
        losses.append([one.losses for one in pair])
        back = np.argsort(order) if move_encodings else slice(None)
        encodings.append(
            [np.asarray(pair[0].model.positions), np.asarray(pair[1].model.positions)[back]])
    return xarray.Dataset(
        {
            "loss": (("kind", "order", "step"), np.array(losses)),
            "encodings": (("kind", "order", "token", "width"), np.array(encodings))},
        {"kind": ["vanilla", "positional"], "order": ["plain", "moved"]})
