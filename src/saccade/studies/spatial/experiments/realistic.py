"""The realistic problem: full-batch descent from a small random start, and transfer."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.arrays import generator
from saccade.lab.experiment import experiment
from saccade.studies.spatial.dynamics import descent as dynamics
from saccade.studies.spatial.dynamics.descent import Layer
from saccade.studies.spatial.models import association, cheating_attention, three_value_attention
from saccade.studies.spatial.task import Spatial, localised, random_feature, scattered

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


class _Sizes(NamedTuple):
    """What a compiled program is made for."""

    dim: int
    samples: int
    test: int
    layer: Layer


class _Rates(NamedTuple):
    spurious: float
    eta_v: float
    eta_a: float


def _task(key: Any, labels: Any, dim: int, spurious_rate: Any) -> Spatial:
    """As `Spatial.create`, for labels that may be traced."""
    return Spatial(labels, random_feature(key, dim), spurious_rate, dim**-0.5)


def _error_rates(fresh: tuple[Any, Any], A: Any, v: Any, layer: Layer) -> Any:
    """Of several layers on the same images, which are read once."""
    return jax.vmap(lambda A, v: dynamics.error_rate(*fresh, A, v, layer))(A, v)


@partial(jax.jit, static_argnames="sizes")
def _learned(
    keys: Any, labels: Any, rates: _Rates, diagonal: float, spread: float, stops: Any, sizes: _Sizes
) -> tuple[dynamics.Record, Any, Any, Any, Any]:
    """Descent on a sample of a new task from a random start (keys: of the task, the sample, fresh
    images, the start): its record, where it diverged (-1: nowhere), and on fresh images error and
    alignment at every record; the start of A."""
    task = _task(keys[0], labels, sizes.dim, rates.spurious)
    X, y = _single(task.sample(keys[1], sizes.samples))
    first = dynamics.random_start(
        keys[3], labels.shape[0], sizes.dim, diagonal, spread, jnp.float32)
    A, v, loss, diverged_at = dynamics.sample_descent(
        X, y, first, sizes.layer, rates.eta_v, rates.eta_a, stops)
    fresh, feature = _single(task.sample(keys[2], sizes.test)), task.feature.astype(jnp.float32)
    errors = _error_rates(fresh, A, v, sizes.layer)
    alignment = jax.vmap(dynamics.cosine, (0, None))(v, feature)
    return dynamics.Record(stops, A, v, loss), diverged_at, errors, alignment, first[0]


@experiment("spatial.realistic", scales={"standard": R1, "paper": R1})
def realistic(
    key: Any, *, side: int = 4, block: int = 2, local: bool = False, dim: int = 8,
    spurious_rate: float = 0.4, samples: int = 3000, degree: int = 3, slope: float = 1e-4,
    diagonal: float = 1.0, start: float = 1e-3, eta_v: float = 5e-3, eta_a: float = 20.0,
    steps: int = 200, every: int = 20, repetitions: int = 24, shuffled: bool = False,
) -> xarray.Dataset:
    """Association, test error and alignment along descent on samples, in single precision; a task,
    sample and start per repetition. `shuffled` scores against a permuted partition."""
    sizes = _Sizes(dim, samples, TEST_IMAGES, Layer(degree, slope))
    rates, stops = _Rates(spurious_rate, eta_v, eta_a), dynamics.stops_of(steps, every)
    tables, first_run = [], {}
    for one in jax.random.split(key, repetitions):
        keys = jax.random.split(one, 5)
        labels = _square_labels(keys[4], side, block, local)
        record, diverged_at, *judged, start_A = _learned(
            keys, labels, rates, diagonal, start, stops, sizes)
        dynamics.refuse_divergence(diverged_at, eta_v, eta_a)
        scored = np.asarray(jax.random.permutation(keys[4], labels)) if shuffled else labels
        looks = [association(A, scored) for A in np.asarray(record.A)]
        found = [(look.row_fraction, look.off_diagonal_overlap) for look in looks]
        tables.append(np.column_stack([found, *judged, record.loss]))
        first_run = first_run or {
            "A": (("i", "j"), np.asarray(record.A, float)[-1]),
            "first_A": (("i", "j"), np.asarray(start_A, float)), "labels": ("i", labels)}
    table = np.stack(tables)
    data = {name: (("repetition", "step"), table[:, :, n]) for n, name in enumerate(ALONG)}
    return xarray.Dataset(data | first_run, coords={"step": stops})


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
    sizes = _Sizes(dim, samples, test, Layer(degree, slope))
    labels = _square_labels(keys[4], side, block, False)
    record, diverged_at, before, *_ = _learned(
        keys[jnp.array([0, 2, 3, 1])], labels, _Rates(spurious_rate, eta_v, eta_a), diagonal, 1e-3,
        dynamics.stops_of(steps, every), sizes)
    dynamics.refuse_divergence(diverged_at, eta_v, eta_a)
    pretrained = np.asarray(record.A)[-1]
    attentions = _attentions(pretrained, labels, diagonal, sharpness)
    rates = _Rates(spurious_rate, transfer_eta, scratch_eta_a)
    seeds = jax.random.split(jax.random.fold_in(key, 1), repetitions)
    table, diverged_at = _transferred(
        seeds, labels, attentions, rates, transfer_steps, tuple(few), sizes)
    dynamics.refuse_divergence(np.max(diverged_at), transfer_eta, scratch_eta_a)
    table = np.asarray(table)
    return xarray.Dataset(
        {
            "error": (("repetition", "few", "kind"), table[..., : len(KINDS)]),
            "one_step": (("repetition", "few"), table[..., -1]),
            "pretrained_error": ((), float(np.asarray(before)[-1])),
            "row_fraction": ((), association(pretrained, labels).row_fraction)},
        coords={"few": list(few), "kind": list(KINDS)})


def _attentions(A: np.ndarray, labels: np.ndarray, diagonal: float, sharpness: float) -> np.ndarray:
    """In the order of `KINDS`, as far as A is frozen."""
    return np.stack([
        A, three_value_attention(labels, diagonal, sharpness, 0.0),
        cheating_attention(labels, sharpness), diagonal * np.eye(len(labels))]).astype(np.float32)


@partial(jax.jit, static_argnames=("few", "sizes"))
def _transferred(
    seeds: Any, labels: Any, attentions: Any, rates: _Rates, steps: int, few: tuple[int, ...],
    sizes: _Sizes,
) -> tuple[Any, Any]:
    """Errors after a few images of a new feature, by seed and their number (the first of the same
    images, judged on the same fresh ones): one of each of `KINDS`, and one of one step with the
    pretrained attention; and where the descent from scratch diverged."""

    def one(key: Any) -> tuple[Any, Any]:
        keys = jax.random.split(key, 4)
        task = _task(keys[0], labels, sizes.dim, rates.spurious)
        X, y = _single(task.sample(keys[1], max(few)))
        fresh = _single(task.sample(keys[2], sizes.test))
        v = 1e-3 * jax.random.normal(keys[3], (sizes.dim,), jnp.float32)
        taught = [_taught(X[:n], y[:n], attentions, v, rates, steps, sizes.layer) for n in few]
        A, vectors, diverged_at = zip(*taught, strict=True)
        errors = _error_rates(fresh, jnp.concatenate(A), jnp.concatenate(vectors), sizes.layer)
        return errors.reshape(len(few), -1), jnp.stack(diverged_at)

    return jax.lax.map(one, seeds)


def _taught(
    X: Any, y: Any, attentions: Any, v: Any, rates: _Rates, steps: int, layer: Layer
) -> tuple[Any, Any, Any]:
    """Attentions and vectors in the order of the errors of `_transferred`, learned from X and y."""
    frozen = jax.lax.map(
        lambda A: dynamics.transfer_descent(X, y, A, v, layer, rates.eta_v, steps), attentions)
    A, scratch, _, diverged_at = dynamics.sample_descent(
        X, y, (attentions[-1], v), layer, rates.eta_v, rates.eta_a, jnp.asarray([steps]))
    one_step = dynamics.one_normalised_step(X, y)[None]
    return (
        jnp.concatenate([attentions, A, attentions[:1]]),
        jnp.concatenate([frozen, scratch, one_step]), diverged_at)


@experiment("spatial.first-step")
def first_step(
    key: Any, *, side: int = 4, block: int = 2, dim: int = 5, samples: int = 40,
    temperature: float = 1.5, uneven: bool = False, away: float = 0.0,
) -> xarray.Dataset:
    """The gradient of v at v = 0 (or `away` from it) beside nu D / 2 times the mean of y sum_j X_j,
    the same with columns of S that need not sum to one, and its direction beside the normalised
    step's. `uneven` raises one column of A."""
    keys = jax.random.split(key, 3)
    labels = _square_labels(keys[0], side, block, True)
    sample = Spatial.create(keys[1], labels, dim, 0.4).sample(generator(keys[2]), samples)
    A = three_value_attention(labels, 1.0, 2.0, -0.1)
    A[:, 0] += 1.0 if uneven else 0.0
    layer = Layer(3, 1e-2, temperature)
    exact = dynamics.gradient_at_zero(sample.X, sample.y, A, layer)
    mean = np.mean(sample.y[:, None] * np.sum(sample.X, axis=1), axis=0)
    plain = layer.slope * side * side / 2 * mean
    slope_in_v = jax.jit(jax.grad(dynamics.sample_loss, 3), static_argnums=4)
    from_layer = -np.asarray(slope_in_v(*sample[:2], A, np.full(dim, away), layer))
    size = np.linalg.norm(from_layer)
    step = size * dynamics.one_normalised_step(sample.X, sample.y)
    gaps = [np.linalg.norm(form - from_layer) / size for form in (plain, exact, step)]
    return xarray.Dataset({"gap": ("form", gaps)})
