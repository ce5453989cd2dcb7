"""Two experiments near the real images: training commutes with a permutation of the patches (move
patches and encodings together, and nothing else moves), and the counter-example of Figure 2, images
without spatial structure of their own, labelled by a convolutional rule."""

from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import xarray

from saccade.datasets.images import load_images
from saccade.datasets.images.locality import cosines, overlaps
from saccade.datasets.images.pipeline import channels_of, normalised, patches, view
from saccade.lab.experiment import experiment
from saccade.networks.training import Problem, adam_with_cosine, train
from saccade.networks.transformer import init_transformer, vision_transformer
from saccade.studies.spatial.dynamics.images import same_batch, smoothed_loss
from saccade.studies.spatial.task import gaussian_convolution, localised, ranks


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


def _logistic(model: Any, batch: Any) -> jax.Array:
    return jnp.mean(optax.sigmoid_binary_cross_entropy(model(batch[0])[:, 0], batch[1]))


@eqx.filter_jit
def _outputs(model: Any, X: Any) -> jax.Array:
    return model(X)


def same_tap(labels: np.ndarray) -> np.ndarray:
    """Which patches are weighed by the same filter: those with the same rank in their sets."""
    return ranks(labels)[:, None] == ranks(labels)


@experiment(
    "spatial.gaussian-images", scales={"standard": {"steps": 900, "seeds": 8, "test": 6000}})
def gaussian_images(
    key: Any, *, side: int = 4, block: int = 2, dim: int = 3, samples: int = 20_000,
    test: int = 2000, width: int = 32, steps: int = 450, batch: int = 256,
    learning_rate: float = 3e-3, seeds: int = 3,
) -> xarray.Dataset:
    """A vanilla one-layer ViT on Gaussian patches labelled by a cubic convolutional rule: errors on
    test images before and after, and how the rows of P P^T sort patches, by set and by tap."""
    labels = localised(side, block)
    other = ~np.eye(len(labels), dtype=bool)
    groups = (labels[:, None] == labels[None]) & other, same_tap(labels) & other

    def draw(key: Any, step: Any, data: Any) -> Any:
        chosen = jax.random.randint(key, (batch,), 0, len(data[1]))
        return data[0][chosen], data[1][chosen]

    problem = Problem(_logistic, draw, adam_with_cosine(learning_rate, steps))
    config = vision_transformer(dim, len(labels), 1, width=width, hidden=4 * width, layers=1)
    rows = []
    for seed in range(seeds):
        data_key, start_key, run_key = jax.random.split(jax.random.fold_in(key, seed), 3)
        X, y, _ = gaussian_convolution(data_key, labels, dim, samples + test)
        X, positive = np.asarray(X, np.float32), (np.asarray(y) > 0).astype(np.float32)
        start = init_transformer(start_key, config)
        done = train(
            problem._replace(data=(X[:samples], positive[:samples])), start, run_key, steps,
            chunk=steps // 9)
        pair = start, done.model
        says = [np.asarray(_outputs(model, X[samples:]))[:, 0] > 0 for model in pair]
        tables = [np.asarray(model.positions, float) for model in pair]
        sorted_by = [[overlaps(table @ table.T, group) for table in tables] for group in groups]
        wrong = np.array(says) != (positive[samples:] > 0)
        rows.append((wrong.astype(np.uint8), *sorted_by, cosines(tables[1]), done.losses))
    dims = {
        "wrong": ("time", "image"), "by_set": ("time", "patch"), "by_tap": ("time", "patch"),
        "similarity": ("patch", "other"), "loss": ("step",)}
    data: dict[str, Any] = {
        name: (("seed", *dims[name]), np.array(values))
        for name, values in zip(dims, zip(*rows, strict=True), strict=True)}
    data |= {"chance": ((), (block**2 - 1) / (len(labels) - 1)), "labels": ("patch", labels)}
    return xarray.Dataset(data, {"time": ["start", "end"]})
