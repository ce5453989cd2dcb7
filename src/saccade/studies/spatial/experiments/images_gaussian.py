"""The counter-example of Figure 2: images without spatial structure of their own, labelled by a
convolutional rule."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import xarray

from saccade.datasets.images.locality import cosines, overlaps
from saccade.lab.experiment import experiment
from saccade.networks.training import Problem, adam_with_cosine, train
from saccade.networks.transformer import init_transformer, vision_transformer
from saccade.studies.spatial.task import gaussian_convolution, localised


def _logistic(model: Any, batch: Any) -> jax.Array:
    return jnp.mean(optax.sigmoid_binary_cross_entropy(model(batch[0])[:, 0], batch[1]))


def _batches(size: int) -> Any:
    def batch(key: Any, step: Any, data: Any) -> Any:
        chosen = jax.random.randint(key, (size,), 0, len(data[1]))
        return data[0][chosen], data[1][chosen]

    return batch


def same_tap(labels: np.ndarray) -> np.ndarray:
    """Which patches are weighed by the same filter of the rule: those with the same rank in their
    sets."""
    rank = np.array([np.sum(labels[:place] == labels[place]) for place in range(len(labels))])
    return rank[:, None] == rank[None]


@experiment(
    "spatial.gaussian-images", scales={"standard": {"steps": 900, "seeds": 8, "test": 6000}})
def gaussian_images(
    key: Any, *, side: int = 4, block: int = 2, dim: int = 3, samples: int = 20_000,
    test: int = 2000, width: int = 32, steps: int = 450, batch: int = 256,
    learning_rate: float = 3e-3, seeds: int = 3,
) -> xarray.Dataset:
    """A vanilla one-layer ViT on Gaussian patches labelled by y = sign of sum over sets of (sum_i
    <w_tap(i), X_i>)^3: errors on test images before and after, and how the rows of P P^T sort the
    patches, by set and by tap."""
    labels = localised(side, block)
    other = ~np.eye(len(labels), dtype=bool)
    groups = (labels[:, None] == labels[None]) & other, same_tap(labels) & other
    problem = Problem(_logistic, _batches(batch), adam_with_cosine(learning_rate, steps))
    config = vision_transformer(dim, len(labels), 1, width=width, hidden=4 * width, layers=1)
    rows: dict[str, list] = {
        name: [] for name in ("wrong", "by_set", "by_tap", "similarity", "loss")}
    for seed in range(seeds):
        data_key, start_key, run_key = jax.random.split(jax.random.fold_in(key, seed), 3)
        X, y, _ = gaussian_convolution(data_key, labels, dim, samples + test)
        X, positive = X.astype(jnp.float32), (y > 0).astype(jnp.float32)
        start = init_transformer(start_key, config)
        done = train(
            problem._replace(data=(X[:samples], positive[:samples])), start, run_key, steps,
            chunk=steps // 9)
        said = [
            np.asarray(jax.jit(model.__call__)(X[samples:]))[:, 0] > 0
            for model in (start, done.model)]
        tables = [np.asarray(model.positions, float) for model in (start, done.model)]
        rows["wrong"].append([one != np.asarray(positive[samples:] > 0) for one in said])
        rows["by_set"].append([overlaps(table @ table.T, groups[0]) for table in tables])
        rows["by_tap"].append([overlaps(table @ table.T, groups[1]) for table in tables])
        rows["similarity"].append(cosines(tables[1]))
        rows["loss"].append(done.losses)
    stacked = {name: np.array(values) for name, values in rows.items()}
    return xarray.Dataset(
        {
            "wrong": (("seed", "time", "image"), stacked["wrong"].astype(np.uint8)),
            "by_set": (("seed", "time", "patch"), stacked["by_set"]),
            "by_tap": (("seed", "time", "patch"), stacked["by_tap"]),
            "similarity": (("seed", "patch", "other"), stacked["similarity"]),
            "loss": (("seed", "step"), stacked["loss"]),
            "chance": ((), (block**2 - 1) / (len(labels) - 1)), "labels": ("patch", labels)},
        {"time": ["start", "end"]})
