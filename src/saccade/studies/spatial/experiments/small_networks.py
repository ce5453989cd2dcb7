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

from saccade.arrays import generator
from saccade.datasets.images import load_images
from saccade.datasets.images.locality import cosines, overlaps
from saccade.datasets.images.pipeline import channels_of, view
from saccade.lab.experiment import experiment
from saccade.networks.training import adam_with_cosine
from saccade.networks.transformer import TransformerConfig, init_transformer, vision_transformer
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
    rule, random = adam_with_cosine(learning_rate, steps), generator(key)
    drawn = [gaussian_convolution(random, labels, dim, samples + test) for _ in range(seeds)]
    images = np.stack([X.astype(np.float32) for X, _, _ in drawn])
    classes = np.stack([(y > 0).astype(np.float32) for _, y, _ in drawn])
    batches = random.integers(0, samples, (seeds, steps, batch))
    starts = _starts(jax.random.split(key, seeds), config)

    def one(seed: tuple[Any, ...]) -> tuple[Any, Any, Any]:
        X, y, chosen, start = seed

        def draw(step: Any) -> Any:
            return X[chosen[step]], y[chosen[step]]

        end, losses = _trained(start, rule, _logistic, draw, steps)
        wrong = [(model(X[samples:])[:, 0] > 0) != (y[samples:] > 0) for model in (start, end)]
        return jnp.stack(wrong), jnp.stack([start.positions, end.positions]), losses

    # One network after the other: side by side each small product is one of many, and slow.
    everyone = jax.jit(partial(jax.lax.map, one))
    wrong, tables, losses = everyone((images, classes, batches, starts))
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


@partial(jax.jit, static_argnames="config")
def _starts(keys: Any, config: TransformerConfig) -> Any:
    """Random networks, apart from their training: one program whatever the steps."""
    return jax.vmap(lambda key: init_transformer(key, config))(keys)


def _trained(
    model: Any, rule: optax.GradientTransformation, loss: Callable[[Any, Any], Any],
    batch: Callable[[Any], Any], steps: int,
) -> tuple[Any, Any]:
    """A model after so many steps on `batch(step)`, and its losses; to be traced."""
    parameters, static = eqx.partition(model, eqx.is_inexact_array)

    def step(at: Any, now: Any) -> tuple[Any, Any]:
        parameters, moments = at
        drawn = batch(now)
        value, slope = jax.value_and_grad(lambda free: loss(eqx.combine(free, static), drawn))(
            parameters)
        moves, moments = rule.update(slope, moments, parameters)
        return (optax.apply_updates(parameters, moves), moments), value

    first = parameters, rule.init(parameters)
    (parameters, _), losses = jax.lax.scan(step, first, jnp.arange(steps))
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
    random, size = generator(key), len(train)
    orders = np.stack([
        np.concatenate(
            [random.permutation(size)[: steps // epochs * batch] for _ in range(epochs)])
        for _ in range(seeds)]).astype(np.int32)
    others = np.stack([random.permutation(tokens) for _ in range(seeds)])
    pixels = dynamics.normalise(jnp.asarray(test.pixels), data)
    draw = dynamics.batches(recipe, patch, patch)

    def one(seed: tuple[Any, ...]) -> Any:
        order, other, start = seed
        own = data._replace(order=order)
        model, _ = _trained(start, rule, loss, lambda step: draw(key, step, own), steps)
        looks = (dynamics.look(pixels, shown, patch, patch) for shown in (data.permutation, other))
        return jnp.stack([jnp.mean(jnp.argmax(model(X), -1) == test.labels) for X in looks])

    keys, table = jax.random.split(key, seeds), []
    for kind in VISION:
        new = partial(
            new_network, sizes, kind, shape=train.pixels.shape, outputs=len(train.classes))
        starts = jax.jit(jax.vmap(new))(keys)
        table.append(jax.jit(partial(jax.lax.map, one))((orders, others, starts)))
    table = np.array(table)
    dims = ("kind", "seed")
    return xarray.Dataset(
        {"accuracy": (dims, table[..., 0]), "shuffled": (dims, table[..., 1])},
        {"kind": list(VISION)})
