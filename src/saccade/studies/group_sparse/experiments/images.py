"""Real images in one patch among patches of noise: does the layer look at the picture?"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.convex import fit_readout
from saccade.datasets.images import load_images
from saccade.datasets.images.shuffle import check_cell
from saccade.errors import require
from saccade.lab.experiment import experiment
from saccade.studies.group_sparse.dynamics import plan_record
from saccade.studies.group_sparse.dynamics.full import full_run
from saccade.studies.group_sparse.experiments.common import along, each_key
from saccade.studies.group_sparse.models import at_zero, encoding
from saccade.studies.group_sparse.task import GroupSparseSample, GroupSparseTask, group_sparse_task

FROGS = {
    "data": "cifar10", "pair": (0, 6), "each": 500, "pool": 4, "samples": 800, "repetitions": 18,
    "steps": 60}
"""The paper's CIFAR-10 pair: airplanes and frogs."""


def patched(
    images: np.ndarray, labels: np.ndarray, groups: int, relevant: int, key: Any
) -> GroupSparseSample:
    """Each image, of mean 0 and variance 1, as one patch among patches of Gaussian noise."""
    noise = jax.random.normal(key, (len(images), images.shape[1], groups))
    X = np.asarray(noise).swapaxes(1, 2).copy()
    X[:, relevant] = (images - images.mean()) / images.std()
    where = np.broadcast_to(np.arange(groups) == relevant, (len(images), groups))
    return GroupSparseSample(*map(jnp.asarray, (X, np.asarray(labels, float), where)))


def two_classes(
    data: str, folder: str | None, pair: tuple[int, int], each: int, pool: int
) -> tuple[np.ndarray, np.ndarray]:
    """The first `each` images of two classes (0: all), pool x pool means; labels -1 and +1."""
    splits = ("train",) if each else ("train", "test")
    halves = [load_images(data, split, folder).of_classes(pair, each or None) for split in splits]
    pixels = np.concatenate([half.pixels for half in halves]).astype(float)
    labels = np.concatenate([half.labels for half in halves])
    n, height, width, channels = pixels.shape
    check_cell(height, width, pool)
    means = pixels.reshape(n, height // pool, pool, width // pool, pool, channels).mean(axis=(2, 4))
    return means.reshape(n, -1), np.where(labels == pair[1], 1.0, -1.0)


@jax.jit
def _trained(
    key: Any, task: GroupSparseTask, step_size: Any, stops: Any, train: Any, X: Any
) -> Any:
    """What the layer trained on `train` says of X, and where it looks: S[key][query], averaged."""
    start = at_zero(task.dim, encoding("sine", task.length))
    layer = start.at(full_run(key, task, start, step_size, stops, train)[0].state)
    return layer(X), layer.maps(X)[0].mean(axis=0)


def _one_split(
    key: Any, whole: GroupSparseSample, relevant: int, samples: int, step_size: float, steps: int
) -> tuple[Any, Any, Any]:
    """Train on the first `samples`, judge on the rest: the mean attention map S[key][query] and the
    error of the layer, and the error of logistic regression on all pixels."""
    X, y, where = map(np.asarray, whole)
    _, groups, dim = X.shape
    train = GroupSparseSample(*[jnp.asarray(part[:samples]) for part in (X, y, where)])
    margins, looks = _trained(
        key, group_sparse_task(groups, dim, relevant=relevant), step_size, plan_record(steps).stops,
        train, X[samples:])
    flat = X.reshape(len(X), -1)
    fit = fit_readout(flat[:samples], y[:samples], 1 / samples, tolerance=1e-6)
    wrong, missed = y[samples:] * margins <= 0, y[samples:] * (flat[samples:] @ fit.w + fit.b) <= 0
    return np.asarray(looks), np.mean(wrong), np.mean(missed)


@experiment(
    "group-sparse.images", scales={"standard": {"repetitions": 40, "steps": 300, "samples": 200}})
def images(
    key: Any, *, data: str = "digits", folder: str | None = None, pair: tuple[int, int] = (0, 1),
    each: int = 0, pool: int = 1, groups: int = 9, relevant: int = 4, samples: int = 120,
    step_size: float = 0.02, steps: int = 60, repetitions: int = 18, shuffled_patches: bool = False,
) -> xarray.Dataset:
    """Two classes of images, each in one patch among noise patches: attention and error of the
    layer, and of logistic regression on the flattened input. Digits by default; the paper's pair is
    CIFAR-10's airplane (0) and frog (6), 500 images each.
    """
    pixels, labels = two_classes(data, folder, pair, each, pool)
    require(
        samples < len(pixels), "samples", samples,
        f"must leave some of the {len(pixels)} images for the test")
    maps, errors, baseline = [], [], []
    for number in range(repetitions):
        order_key, noise_key, run_key = each_key(jax.random.fold_in(key, number), 3)
        order = np.asarray(jax.random.permutation(order_key, len(pixels)))
        whole = patched(pixels[order], labels[order], groups, relevant, noise_key)
        if shuffled_patches:
            chance = np.random.default_rng(number)
            moved = np.stack([chance.permutation(patches) for patches in np.asarray(whole.X)])
            whole = whole._replace(X=jnp.asarray(moved))
        split = _one_split(run_key, whole, relevant, samples, step_size, steps)
        for kept, value in zip((maps, errors, baseline), split, strict=True):
            kept.append(value)
    return xarray.Dataset(
        along(
            "repetition", attention=[looks[relevant].mean() for looks in maps], error=errors,
            logistic_error=baseline)
        | along(("key_group", "query_group"), map=np.mean(maps, axis=0)))
