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
from saccade.studies.group_sparse import dynamics
from saccade.studies.group_sparse.models import (
    PAPER_LAYER,
    attention_maps,
    encoding,
    output,
    tokens,
    zeros,
)
from saccade.studies.group_sparse.task import GroupSparseBatch, group_sparse_task

FROGS = {
    "data": "cifar10", "pair": (0, 6), "each": 500, "pool": 4, "samples": 800, "repetitions": 18,
    "steps": 60}
"""The paper's CIFAR-10 pair: airplanes and frogs."""


def patched(
    images: np.ndarray, labels: np.ndarray, groups: int, relevant: int, key: Any
) -> GroupSparseBatch:
    """Each image, centred and scaled to unit variance, as one patch among patches of Gaussian
    noise: X[sample][pixel][patch]."""
    centred = (images - images.mean()) / images.std()
    noise = np.array(jax.random.normal(key, (len(images), images.shape[1], groups)))
    noise[:, :, relevant] = centred
    return GroupSparseBatch(jnp.asarray(noise), jnp.asarray(labels, float), jnp.asarray(relevant))


def two_classes(
    data: str, folder: str | None, pair: tuple[int, int], each: int, pool: int
) -> tuple[np.ndarray, np.ndarray]:
    """Images of two classes, the first `each` of both (0: all), means over pool x pool pixels,
    flattened; labels -1 and +1."""
    halves = [
        load_images(data, split, folder) for split in (("train",) if each else ("train", "test"))]
    halves = [half.of_classes(pair, each or None) for half in halves]
    pixels = np.concatenate([half.pixels for half in halves]).astype(float)
    labels = np.concatenate([half.labels for half in halves])
    n, height, width, channels = pixels.shape
    check_cell(height, width, pool)
    means = pixels.reshape(n, height // pool, pool, width // pool, pool, channels).mean(axis=(2, 4))
    return means.reshape(n, -1), np.where(labels == pair[1], 1.0, -1.0)


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
    made, plan = encoding("sine", groups), dynamics.plan_record(steps, None)
    task = group_sparse_task(groups, pixels.shape[1], relevant=relevant)
    shares, errors, baseline, maps = [], [], [], []
    for number in range(repetitions):
        order_key, noise_key, run_key = jax.random.split(jax.random.fold_in(key, number), 3)
        order = np.asarray(jax.random.permutation(order_key, len(pixels)))
        whole = patched(pixels[order], labels[order], groups, relevant, noise_key)
        if shuffled_patches:
            moved = np.random.default_rng(number).permuted(np.asarray(whole.inputs), axis=2)
            whole = GroupSparseBatch(jnp.asarray(moved), whole.labels, whole.relevant)
        train, test = (
            jax.tree.map(lambda leaf, cut=cut: leaf[cut] if leaf.ndim else leaf, whole)
            for cut in (slice(samples), slice(samples, None)))
        progress, _ = dynamics.full_run(
            run_key, task, made.matrix, zeros(pixels.shape[1] + groups), step_size, plan.gaps,
            train, architecture=PAPER_LAYER, batch=1, held_out=2)
        seen = tokens(test.inputs, made.matrix)
        looks = np.asarray(attention_maps(progress.state, PAPER_LAYER, seen)[0].mean(axis=0))
        wrong = np.asarray(test.labels * output(progress.state, PAPER_LAYER, seen) <= 0)
        rows = np.asarray(whole.inputs).reshape(len(order), -1)
        fit = fit_readout(rows[:samples], np.asarray(train.labels), 1 / samples, tolerance=1e-6)
        shares.append(looks[relevant].mean())
        errors.append(wrong.mean())
        baseline.append(np.mean(np.asarray(test.labels) * (rows[samples:] @ fit.w + fit.b) <= 0))
        maps.append(looks)
    return xarray.Dataset({
        "attention": ("repetition", np.array(shares)),
        "error": ("repetition", np.array(errors)),
        "logistic_error": ("repetition", np.array(baseline)),
        "map": (("key_group", "query_group"), np.mean(maps, axis=0))})
