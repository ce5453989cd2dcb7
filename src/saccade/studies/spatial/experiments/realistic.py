"""The realistic problem: full-batch descent on a sample from a small random start, and transfer to
a new feature."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.spatial import dynamics
from saccade.studies.spatial.dynamics import Layer
from saccade.studies.spatial.experiments.presets import square_labels
from saccade.studies.spatial.models import (
    association,
    cheating_attention,
    output,
    three_value_attention,
)
from saccade.studies.spatial.task import Spatial

TEST_IMAGES = 4000
KINDS = ("pretrained", "oracle", "cheating", "identity", "scratch")
R1 = {
    "side": 6, "dim": 32, "spurious_rate": 0.3, "samples": 12_000, "eta_v": 2e-3, "eta_a": 20.0,
    "steps": 330, "every": 30}


@experiment("spatial.realistic", scales={"standard": R1, "paper": R1})
def realistic(
    key: Any, *, side: int = 4, block: int = 2, local: bool = False, dim: int = 8,
    spurious_rate: float = 0.4, samples: int = 3000, degree: int = 3, slope: float = 1e-4,
    diagonal: float = 1.0, start: float = 1e-3, eta_v: float = 5e-3, eta_a: float = 20.0,
    steps: int = 200, every: int = 20, repetitions: int = 24, shuffled: bool = False,
) -> xarray.Dataset:
    """Association, test error and alignment along descent on samples, one task, sample and start
    per repetition.

    `shuffled` scores the association against a permuted partition. Single precision, as a network
    would be trained.
    """
    runs = [
        _one_run(
            one, side, block, local, dim, spurious_rate, samples, Layer(degree, slope), diagonal,
            start, eta_v, eta_a, steps, every, shuffled)
        for one in jax.random.split(key, repetitions)]
    names = ("row_fraction", "off_diagonal_overlap", "error", "cosine", "loss")
    table = np.stack([run["table"] for run in runs])
    data: dict[str, Any] = {
        name: (("repetition", "step"), table[:, :, n]) for n, name in enumerate(names)}
    data["A"] = (("i", "j"), runs[0]["A"])
    data["first_A"] = (("i", "j"), runs[0]["first_A"])
    data["labels"] = ("i", runs[0]["labels"])
    return xarray.Dataset(data, coords={"step": np.arange(0, steps + 1, every)})


def _one_run(
    key: Any, side: int, block: int, local: bool, dim: int, rate: float, samples: int, layer: Layer,
    diagonal: float, start: float, eta_v: float, eta_a: float, steps: int, every: int,
    shuffled: bool,
) -> dict[str, Any]:
    keys = jax.random.split(key, 5)
    labels = square_labels(keys[4], side, block, local)
    task = Spatial.create(keys[0], labels, dim, rate)
    train, test = _single(task.sample(keys[1], samples)), _single(task.sample(keys[2], TEST_IMAGES))
    first = dynamics.random_start(keys[3], side * side, dim, diagonal, start, jnp.float32)
    record = dynamics.realistic_descent(*train, first, layer, eta_v, eta_a, steps, every)
    scored = np.asarray(jax.random.permutation(keys[4], labels)) if shuffled else labels
    rows = []
    for A, v, loss in zip(record.A, record.v, record.loss, strict=True):
        found = association(A, scored)
        error = float(dynamics.error_rate(*test, A, v, layer))
        cosine = float(dynamics.cosine(v, task.feature.astype(jnp.float32)))
        rows.append([found.row_fraction, found.off_diagonal_overlap, error, cosine, float(loss)])
    return {
        "table": np.asarray(rows), "A": np.asarray(record.A[-1], float),
        "first_A": np.asarray(first[0], float), "labels": labels}


def _single(sample: Any) -> tuple[Any, Any]:
    return sample.X.astype(jnp.float32), sample.y.astype(jnp.float32)


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
    after one normalised step.

    One pretraining; the repetitions are new features, new few images and new starts. "scratch"
    trains A too, from the identity, with a step size that so few images allow.
    """
    keys = jax.random.split(key, 5)
    layer = Layer(degree, slope)
    labels = square_labels(keys[4], side, block, False)
    task = Spatial.create(keys[0], labels, dim, spurious_rate)
    first = dynamics.random_start(keys[1], side * side, dim, diagonal, 1e-3, jnp.float32)
    record = dynamics.realistic_descent(
        *_single(task.sample(keys[2], samples)), first, layer, eta_v, eta_a, steps, every)
    before = float(
        dynamics.error_rate(*_single(task.sample(keys[3], test)), record.A[-1], record.v[-1], layer)
    )
    attentions = _attentions(record.A[-1], jnp.asarray(labels), diagonal, sharpness)
    new = Downstream(
        labels, dim, spurious_rate, layer, transfer_eta, transfer_steps, scratch_eta_a, test)
    seeds = jax.random.split(jax.random.fold_in(key, 1), repetitions)
    errors = [[_errors(one, number, new, attentions) for number in few] for one in seeds]
    found = association(record.A[-1], labels)
    table = np.asarray(errors)
    return xarray.Dataset(
        {
            "error": (("repetition", "few", "kind"), table[..., : len(KINDS)]),
            "one_step": (("repetition", "few"), table[..., -1]), "pretrained_error": ((), before),
            "row_fraction": ((), found.row_fraction)},
        coords={"few": list(few), "kind": list(KINDS)})


def _attentions(A: Any, labels: Any, diagonal: float, sharpness: float) -> dict[str, Any]:
    single = jnp.float32
    return {
        "pretrained": A,
        "oracle": three_value_attention(labels, diagonal, sharpness, 0.0).astype(single),
        "cheating": cheating_attention(labels, sharpness).astype(single),
        "identity": (diagonal * jnp.eye(labels.shape[0])).astype(single)}


class Downstream(NamedTuple):
    """What all transfers of one experiment share."""

    labels: np.ndarray
    dim: int
    spurious_rate: float
    layer: Layer
    eta: float
    steps: int
    scratch_eta_a: float
    test: int


def _errors(key: Any, number: int, new: Downstream, attentions: dict[str, Any]) -> list[float]:
    """Test errors after learning from `number` images of a new feature: one for each of `KINDS`,
    and after one normalised step."""
    keys = jax.random.split(key, 4)
    task = Spatial.create(keys[0], new.labels, new.dim, new.spurious_rate)
    few, fresh = _single(task.sample(keys[1], number)), _single(task.sample(keys[2], new.test))
    v = 1e-3 * jax.random.normal(keys[3], (new.dim,), jnp.float32)
    found = []
    for A in attentions.values():
        learned = dynamics.transfer_descent(*few, A, v, new.layer, new.eta, new.steps)
        found.append(float(dynamics.error_rate(*fresh, A, learned, new.layer)))
    start = attentions["identity"], v
    scratch = dynamics.realistic_descent(
        *few, start, new.layer, new.eta, new.scratch_eta_a, new.steps, new.steps)
    found.append(float(dynamics.error_rate(*fresh, scratch.A[-1], scratch.v[-1], new.layer)))
    step = dynamics.one_normalised_step(*few)
    return [*found, float(dynamics.error_rate(*fresh, attentions["pretrained"], step, new.layer))]


@experiment("spatial.first-step")
def first_step(
    key: Any, *, side: int = 4, block: int = 2, dim: int = 5, samples: int = 40,
    uneven: bool = False,
) -> xarray.Dataset:
    """The gradient of v at v = 0 beside nu D / 2 times the mean of y sum_j X_j, for a three-valued
    A (or one with unequal columns)."""
    keys = jax.random.split(key, 3)
    labels = square_labels(keys[0], side, block, True)
    sample = Spatial.create(keys[1], labels, dim, 0.4).sample(keys[2], samples)
    A = three_value_attention(jnp.asarray(labels), 1.0, 2.0, -0.1)
    A = A.at[:, 0].add(1.0) if uneven else A
    layer = Layer(3, 1e-2)
    exact = dynamics.gradient_at_zero(sample.X, sample.y, A, layer)
    plain = (
        layer.slope * side * side / 2
        * jnp.mean(sample.y[:, None] * jnp.sum(sample.X, axis=1), axis=0))
    from_layer = -jax.grad(_layer_loss)(jnp.zeros(dim), sample.X, sample.y, A, layer)
    rows = [jnp.linalg.norm(plain - from_layer), jnp.linalg.norm(exact - from_layer)]
    return xarray.Dataset(
        {"gap": ("form", np.asarray([float(row / jnp.linalg.norm(from_layer)) for row in rows]))})


def _layer_loss(v: Any, X: Any, y: Any, A: Any, layer: Layer) -> Any:
    return jnp.mean(jnp.logaddexp(0.0, -y * output(X, A, v, *layer)))
