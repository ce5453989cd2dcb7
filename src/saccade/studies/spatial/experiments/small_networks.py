"""Many small networks, one a seed, all in one compiled program: vision transformers on the
counter-example of Figure 2 (images without spatial structure of their own, labelled by a
convolutional rule) and on digits. Networks are the replicates of the claims that read them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import xarray

from saccade.datasets.images import load_images
from saccade.datasets.images.locality import cosines, overlaps
from saccade.datasets.images.pipeline import channels_of, view
from saccade.lab.experiment import experiment
from saccade.networks.training import adam_with_cosine
from saccade.networks.transformer import init_transformer, vision_transformer
from saccade.studies.spatial.dynamics import images as dynamics
from saccade.studies.spatial.dynamics.images import Recipe
from saccade.studies.spatial.experiments.images import VISION, new_network
from saccade.studies.spatial.task import gaussian_convolution, localised, ranks


def _logistic(model: Any, batch: Any) -> jax.Array:
    return jnp.mean(optax.sigmoid_binary_cross_entropy(model(batch[0])[:, 0], batch[1]))


def same_tap(labels: np.ndarray) -> np.ndarray:
    """Which patches are weighed by the same filter: those with the same rank in their sets."""
    return ranks(labels)[:, None] == ranks(labels)


@experiment(
    "spatial.gaussian-images", scales={"standard": {"steps": 900, "seeds": 48, "test": 4000}})
def gaussian_images(
    key: Any, *, side: int = 4, block: int = 2, dim: int = 3, samples: int = 8000, test: int = 1000,
    width: int = 16, steps: int = 450, batch: int = 64, learning_rate: float = 1e-2,
    seeds: int = 24,
) -> xarray.Dataset:
    """Vanilla one-layer ViTs on Gaussian patches labelled by a cubic convolutional rule, a rule and
    a network a seed: errors on test images before and after, and how the rows of P P^T sort
    patches, by set and by tap."""
    labels = localised(side, block)
    other = ~np.eye(len(labels), dtype=bool)
    groups = {
        "by_set": (labels[:, None] == labels[None]) & other, "by_tap": same_tap(labels) & other}
    config = vision_transformer(dim, len(labels), 1, width=width, hidden=4 * width, layers=1)
    rule = adam_with_cosine(learning_rate, steps)

    def one(key: Any) -> tuple[Any, Any, Any]:
        data_key, start_key, run_key = jax.random.split(key, 3)
        X, y, _ = gaussian_convolution(data_key, labels, dim, samples + test)
        data = X.astype(jnp.float32), (y > 0).astype(jnp.float32)
        start: Any = init_transformer(start_key, config)

        def draw(key: Any, step: Any) -> Any:
            chosen = jax.random.randint(key, (batch,), 0, samples)
            return data[0][chosen], data[1][chosen]

        end, losses = _trained(start, rule, _logistic, draw, run_key, steps)
        wrong = [
            (model(data[0][samples:])[:, 0] > 0) != (data[1][samples:] > 0)
            for model in (start, end)]
        return jnp.stack(wrong), jnp.stack([start.positions, end.positions]), losses

    wrong, tables, losses = jax.jit(jax.vmap(one))(jax.random.split(key, seeds))
    tables = np.asarray(tables, float)
    data: dict[str, Any] = {
        name: (
            ("seed", "time", "patch"),
            [[overlaps(table @ table.T, group) for table in pair] for pair in tables])
        for name, group in groups.items()}
    data |= {
        "wrong": (("seed", "time", "image"), np.asarray(wrong, np.uint8)),
        "similarity": (("seed", "patch", "other"), [cosines(pair[1]) for pair in tables]),
        "loss": (("seed", "step"), np.asarray(losses)), "labels": ("patch", labels),
        "chance": ((), (block**2 - 1) / (len(labels) - 1))}
    return xarray.Dataset(data, {"time": ["start", "end"]})


def _trained(
    model: Any, rule: optax.GradientTransformation, loss: Callable[[Any, Any], Any],
    batch: Callable[[Any, Any], Any], key: Any, steps: int,
) -> tuple[Any, Any]:
    """A model after so many steps on `batch(key, step)`, and its losses; to be traced."""
    parameters, static = eqx.partition(model, eqx.is_inexact_array)

    def step(at: Any, now: Any) -> tuple[Any, Any]:
        parameters, moments = at
        drawn = batch(*now)
        value, slope = jax.value_and_grad(lambda free: loss(eqx.combine(free, static), drawn))(
            parameters)
        moves, moments = rule.update(slope, moments, parameters)
        return (optax.apply_updates(parameters, moves), moments), value

    first = parameters, rule.init(parameters)
    every = jax.random.split(key, steps), jnp.arange(steps)
    (parameters, _), losses = jax.lax.scan(step, first, every)
    return eqx.combine(parameters, static), losses


@experiment("spatial.digit-networks")
def digit_networks(
    key: Any, *, patch: int = 2, width: int = 16, layers: int = 1, heads: int = 4, epochs: int = 6,
    batch: int = 64, learning_rate: float = 1e-2, seeds: int = 24,
) -> xarray.Dataset:
    """Accuracy on the test digits of vision transformers trained on digits, and when the patches
    are shown to them in another order (`shuffled`). Within a seed both kinds of attention share the
    start and the order of the images."""
    train, test = load_images("digits"), load_images("digits", "test")
    recipe = Recipe(learning_rate, epochs, batch, flip=False, shift=0)
    side = train.pixels.shape[1]
    data = dynamics.image_data(train, channels_of(train), view(side, patch), recipe, 0)
    data = jax.tree.map(jnp.asarray, data)
    sizes = {
        "patch": patch, "width": width, "hidden": 2 * width, "layers": layers, "heads": heads,
        "position_init": 0.02}
    steps, tokens = recipe.steps(len(train)), len(data.permutation)
    rule, loss = dynamics.optimiser(recipe, steps), dynamics.smoothed_loss(recipe.smoothing)
    batches = dynamics.batches(recipe, patch, patch)

    def one(kind: str, key: Any) -> Any:
        start_key, order_key, run_key, other = jax.random.split(key, 4)
        epochs_of = [
            jax.random.permutation(one, len(train))[: steps // epochs * batch]
            for one in jax.random.split(order_key, epochs)]
        own = data._replace(order=jnp.concatenate(epochs_of))
        start = new_network(sizes, kind, start_key, train.pixels.shape, len(train.classes))
        model, _ = _trained(
            start, rule, loss, lambda key, step: batches(key, step, own), run_key, steps)
        pixels = dynamics.normalise(jnp.asarray(test.pixels), data)
        orders = data.permutation, jax.random.permutation(other, tokens)
        looks = (dynamics.look(pixels, order, patch, patch) for order in orders)
        return jnp.stack([jnp.mean(jnp.argmax(model(X), -1) == test.labels) for X in looks])

    everyone = jax.jit(lambda kind, keys: jax.lax.map(partial(one, kind), keys), static_argnums=0)
    keys = jax.random.split(key, seeds)
    table = np.stack([np.asarray(everyone(kind, keys)) for kind in VISION])
    dims = ("kind", "seed")
    return xarray.Dataset(
        {"accuracy": (dims, table[..., 0]), "shuffled": (dims, table[..., 1])},
        {"kind": list(VISION)})
