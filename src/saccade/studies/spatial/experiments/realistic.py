"""The realistic problem: full-batch descent from a small random start, and transfer."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.spatial.dynamics import descent as dynamics
from saccade.studies.spatial.dynamics.descent import Layer
from saccade.studies.spatial.models import association, cheating_attention, three_value_attention
from saccade.studies.spatial.task import Spatial, localised, scattered

TEST_IMAGES = 4000
ALONG = ("row_fraction", "off_diagonal_overlap", "error", "cosine", "loss")
KINDS = ("pretrained", "oracle", "cheating", "identity", "scratch")
R1 = {
    "side": 6, "dim": 32, "spurious_rate": 0.3, "samples": 12_000, "eta_v": 2e-3, "eta_a": 20.0,
    "steps": 330, "every": 30}


def _square_labels(key: Any, side: int, block: int, local: bool) -> np.ndarray:
    """Sets of block x block patches; unless `local`, at randomly permuted patches."""
    labels = localised(side, block)
    return labels if local else scattered(jax.random.fold_in(key, 17), labels)


def _single(sample: Any) -> tuple[Any, Any]:
    return sample.X.astype(jnp.float32), sample.y.astype(jnp.float32)


@experiment("spatial.realistic", scales={"standard": R1, "paper": R1})
def realistic(
    key: Any, *, side: int = 4, block: int = 2, local: bool = False, dim: int = 8,
    spurious_rate: float = 0.4, samples: int = 3000, degree: int = 3, slope: float = 1e-4,
    diagonal: float = 1.0, start: float = 1e-3, eta_v: float = 5e-3, eta_a: float = 20.0,
    steps: int = 200, every: int = 20, repetitions: int = 24, shuffled: bool = False,
) -> xarray.Dataset:
    """Association, test error and alignment along descent on samples, in single precision; a task,
    sample and start per repetition. `shuffled` scores against a permuted partition."""
    layer, tables, first_run = Layer(degree, slope), [], {}
    for one in jax.random.split(key, repetitions):
        keys = jax.random.split(one, 5)
        labels = _square_labels(keys[4], side, block, local)
        task = Spatial.create(keys[0], labels, dim, spurious_rate)
        first = dynamics.random_start(keys[3], side * side, dim, diagonal, start, jnp.float32)
        record = dynamics.realistic_descent(
            *_single(task.sample(keys[1], samples)), first, layer, eta_v, eta_a, steps, every)
        scored = np.asarray(jax.random.permutation(keys[4], labels)) if shuffled else labels
        tables.append(_along(record, task, keys[2], scored, layer))
        first_run = first_run or {
            "A": (("i", "j"), np.asarray(record.A[-1], float)),
            "first_A": (("i", "j"), np.asarray(first[0], float)), "labels": ("i", labels)}
    table = np.stack(tables)
    data = {name: (("repetition", "step"), table[:, :, n]) for n, name in enumerate(ALONG)}
    return xarray.Dataset(data | first_run, coords={"step": record.steps})


def _along(
    record: dynamics.Record, task: Spatial, key: Any, scored: np.ndarray, layer: Layer
) -> np.ndarray:
    """The quantities in `ALONG`, on fresh images, at every record of a descent."""
    fresh, feature = _single(task.sample(key, TEST_IMAGES)), task.feature.astype(jnp.float32)
    rows = []
    for A, v, loss in zip(record.A, record.v, record.loss, strict=True):
        looks = association(A, scored)
        error, cosine = dynamics.error_rate(*fresh, A, v, layer), dynamics.cosine(v, feature)
        rows.append([looks.row_fraction, looks.off_diagonal_overlap, error, cosine, loss])
    return np.asarray(rows, float)


@experiment(
    "spatial.transfer", scales={"standard": R1 | {"test": 8000}, "paper": R1 | {"test": 8000}})
def transfer(
    key: Any, *, side: int = 6, block: int = 2, dim: int = 16, spurious_rate: float = 0.3,
    samples: int = 6000, degree: int = 3, slope: float = 1e-4, diagonal: float = 1.0,
    sharpness: float = 4.0, eta_v: float = 2e-3, eta_a: float = 30.0, steps: int = 210,
    every: int = 30, few: tuple[int, ...] = (8, 32, 128), transfer_eta: float = 1e-3,
    transfer_steps: int = 200, scratch_eta_a: float = 1.0, test: int = 2000, repetitions: int = 40,
) -> xarray.Dataset:
    """Errors on a new feature after training v on a few images with A frozen, for several A; and
    after one normalised step. One pretraining; repetitions are new features, few images and starts.
    "scratch" trains A too, from the identity, with a step size that so few images allow."""
    keys = jax.random.split(key, 5)
    layer = Layer(degree, slope)
    labels = _square_labels(keys[4], side, block, False)
    task = Spatial.create(keys[0], labels, dim, spurious_rate)
    first = dynamics.random_start(keys[1], side * side, dim, diagonal, 1e-3, jnp.float32)
    record = dynamics.realistic_descent(
        *_single(task.sample(keys[2], samples)), first, layer, eta_v, eta_a, steps, every)
    fresh = _single(task.sample(keys[3], test))
    before = float(dynamics.error_rate(*fresh, record.A[-1], record.v[-1], layer))
    attentions = _attentions(record.A[-1], jnp.asarray(labels), diagonal, sharpness)

    def errors(key: Any, number: int) -> list[float]:
        """After `number` images of a new feature: one of each of `KINDS`, and one of one step."""
        keys = jax.random.split(key, 4)
        task = Spatial.create(keys[0], labels, dim, spurious_rate)
        images, fresh = _single(task.sample(keys[1], number)), _single(task.sample(keys[2], test))
        v = 1e-3 * jax.random.normal(keys[3], (dim,), jnp.float32)
        learned = [
            (A, dynamics.transfer_descent(*images, A, v, layer, transfer_eta, transfer_steps))
            for A in attentions.values()]
        scratch = dynamics.realistic_descent(
            *images, (attentions["identity"], v), layer, transfer_eta, scratch_eta_a,
            transfer_steps, transfer_steps)
        learned += [
            (scratch.A[-1], scratch.v[-1]),
            (attentions["pretrained"], dynamics.one_normalised_step(*images))]
        return [float(dynamics.error_rate(*fresh, *one, layer)) for one in learned]

    seeds = jax.random.split(jax.random.fold_in(key, 1), repetitions)
    table = np.asarray([[errors(one, number) for number in few] for one in seeds])
    return xarray.Dataset(
        {
            "error": (("repetition", "few", "kind"), table[..., : len(KINDS)]),
            "one_step": (("repetition", "few"), table[..., -1]), "pretrained_error": ((), before),
            "row_fraction": ((), association(record.A[-1], labels).row_fraction)},
        coords={"few": list(few), "kind": list(KINDS)})


def _attentions(A: Any, labels: Any, diagonal: float, sharpness: float) -> dict[str, Any]:
    single = jnp.float32
    return {
        "pretrained": A,
        "oracle": three_value_attention(labels, diagonal, sharpness, 0.0).astype(single),
        "cheating": cheating_attention(labels, sharpness).astype(single),
        "identity": (diagonal * jnp.eye(labels.shape[0])).astype(single)}


@experiment("spatial.first-step")
def first_step(
    key: Any, *, side: int = 4, block: int = 2, dim: int = 5, samples: int = 40,
    uneven: bool = False,
) -> xarray.Dataset:
    """The gradient of v at v = 0 beside nu D / 2 times the mean of y sum_j X_j."""
    keys = jax.random.split(key, 3)
    labels = _square_labels(keys[0], side, block, True)
    sample = Spatial.create(keys[1], labels, dim, 0.4).sample(keys[2], samples)
    A = three_value_attention(jnp.asarray(labels), 1.0, 2.0, -0.1)
    A = A.at[:, 0].add(1.0) if uneven else A
    layer = Layer(3, 1e-2)
    exact = dynamics.gradient_at_zero(sample.X, sample.y, A, layer)
    mean = jnp.mean(sample.y[:, None] * jnp.sum(sample.X, axis=1), axis=0)
    plain = layer.slope * side * side / 2 * mean
    from_layer = -jax.grad(dynamics.sample_loss, 3)(*sample[:2], A, jnp.zeros(dim), layer)
    size = jnp.linalg.norm(from_layer)
    gaps = [float(jnp.linalg.norm(form - from_layer) / size) for form in (plain, exact)]
    return xarray.Dataset({"gap": ("form", gaps)})
