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


def _square_labels(random: np.random.Generator, side: int, block: int, local: bool) -> np.ndarray:
    """Sets of block x block patches; unless `local`, at randomly permuted patches."""
    labels = localised(side, block)
    return labels if local else scattered(random, labels)


def _images(task: Spatial, random: np.random.Generator, number: int) -> tuple[Any, Any]:
    """Images and labels in single precision, drawn outside the compiled programs: a generator
    inside one is most of its compiling."""
    sample = task.sample(random, number)
    return sample.X.astype(np.float32), sample.y.astype(np.float32)


class _Rates(NamedTuple):
    eta_v: float
    eta_a: float


def _error_rates(fresh: tuple[Any, Any], A: Any, v: Any, layer: Layer) -> Any:
    """Of several layers on the same images, which are read once."""
    return jax.vmap(lambda A, v: dynamics.error_rate(*fresh, A, v, layer))(A, v)


@partial(jax.jit, static_argnames="layer")
def _learned(
    sample: tuple[Any, Any], fresh: tuple[Any, Any], first: tuple[Any, Any], feature: Any,
    rates: _Rates, stops: Any, layer: Layer,
) -> tuple[dynamics.Record, Any, Any, Any]:
    """Descent on a sample from a start: its record, where it diverged (-1: nowhere), and on fresh
    images error and alignment at every record."""
    A, v, loss, diverged_at = dynamics.sample_descent(*sample, first, layer, *rates, stops)
    alignment = jax.vmap(dynamics.cosine, (0, None))(v, feature)
    errors = _error_rates(fresh, A, v, layer)
    return dynamics.Record(stops, A, v, loss), diverged_at, errors, alignment


def _task(
    random: np.random.Generator, labels: np.ndarray, dim: int, spurious_rate: float
) -> Spatial:
    """With a feature of its own."""
    return Spatial(labels, random_feature(random, dim), spurious_rate, dim**-0.5)


@experiment("spatial.realistic", scales={"standard": R1, "paper": R1})
def realistic(
    key: Any, *, side: int = 4, block: int = 2, local: bool = False, dim: int = 8,
    spurious_rate: float = 0.4, samples: int = 3000, degree: int = 3, slope: float = 1e-4,
    diagonal: float = 1.0, start: float = 1e-3, eta_v: float = 5e-3, eta_a: float = 20.0,
    steps: int = 200, every: int = 20, repetitions: int = 24, shuffled: bool = False,
) -> xarray.Dataset:
    """Association, test error and alignment along descent on samples, in single precision; a task,
    sample and start per repetition. `shuffled` scores against a permuted partition."""
    layer, stops = Layer(degree, slope), dynamics.stops_of(steps, every)
    tables, first_run = [], {}
    for random in generator(key).spawn(repetitions):
        labels = _square_labels(random, side, block, local)
        task = _task(random, labels, dim, spurious_rate)
        first = dynamics.random_start(random, len(labels), dim, diagonal, start, np.float32)
        record, diverged_at, *judged = _learned(
            _images(task, random, samples), _images(task, random, TEST_IMAGES), first,
            task.feature.astype(np.float32), _Rates(eta_v, eta_a), stops, layer)
        dynamics.refuse_divergence(diverged_at, eta_v, eta_a)
        scored = random.permutation(labels) if shuffled else labels
        looks = [association(A, scored) for A in np.asarray(record.A)]
        found = [(look.row_fraction, look.off_diagonal_overlap) for look in looks]
        tables.append(np.column_stack([found, *judged, record.loss]))
        first_run = first_run or {
            "A": (("i", "j"), np.asarray(record.A, float)[-1]),
            "first_A": (("i", "j"), np.asarray(first[0], float)), "labels": ("i", labels)}
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
    random, layer = generator(key), Layer(degree, slope)
    labels = _square_labels(random, side, block, False)
    task = _task(random, labels, dim, spurious_rate)
    first = dynamics.random_start(random, len(labels), dim, diagonal, 1e-3, np.float32)
    record, diverged_at, before, _ = _learned(
        _images(task, random, samples), _images(task, random, test), first,
        task.feature.astype(np.float32), _Rates(eta_v, eta_a), dynamics.stops_of(steps, every),
        layer)
    dynamics.refuse_divergence(diverged_at, eta_v, eta_a)
    pretrained = np.asarray(record.A)[-1]
    attentions = _attentions(pretrained, labels, diagonal, sharpness)
    rates, rows = _Rates(transfer_eta, scratch_eta_a), []
    for one in random.spawn(repetitions):
        other = _task(one, labels, dim, spurious_rate)
        v = 1e-3 * one.standard_normal(dim, np.float32)
        errors, diverged_at = _transferred(
            _images(other, one, max(few)), _images(other, one, test), v, attentions, rates,
            transfer_steps, np.asarray(few), layer)
        dynamics.refuse_divergence(np.asarray(diverged_at).max(), transfer_eta, scratch_eta_a)
        rows.append(np.asarray(errors))
    table = np.stack(rows)
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


@partial(jax.jit, static_argnames="layer")
def _transferred(
    sample: tuple[Any, Any], fresh: tuple[Any, Any], v: Any, attentions: Any, rates: _Rates,
    steps: int, few: Any, layer: Layer,
) -> tuple[Any, Any]:
    """Errors after a few images of a new feature, by their number (the first of the sample, judged
    on the same fresh ones): one of each of `KINDS`, and one of one step with the pretrained
    attention; and where the descent from scratch diverged."""
    X, y = sample

    def one(number: Any) -> tuple[Any, Any]:
        # An image of zeros pulls at nothing; a mean over all counts it, which the step mends. So
        # one program serves every number.
        shown = jnp.where(jnp.arange(len(y))[:, None, None] < number, X, 0)
        times = (len(y) / number).astype(jnp.float32)
        mended = _Rates(*(times * rate for rate in rates))
        A, vectors, diverged_at = _taught(shown, y, attentions, v, mended, steps, layer)
        return _error_rates(fresh, A, vectors, layer), diverged_at

    return jax.lax.map(one, few)


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
    the same where one column of A is raised, so that columns of S do not sum to one, and its
    direction beside the normalised step's. `uneven` raises that column everywhere."""
    keys = jax.random.split(key, 3)
    labels = localised(side, block)
    sample = Spatial.create(keys[1], labels, dim, 0.4).sample(generator(keys[2]), samples)
    A = three_value_attention(labels, 1.0, 2.0, -0.1)
    raised = A + (np.arange(side * side) == 0)
    layer = Layer(3, 1e-2, temperature)
    exact = dynamics.gradient_at_zero(sample.X, sample.y, raised, layer)
    mean = np.mean(sample.y[:, None] * np.sum(sample.X, axis=1), axis=0)
    plain = layer.slope * side * side / 2 * mean
    slope_in_v = jax.jit(jax.grad(dynamics.sample_loss, 3), static_argnums=4)
    even, uneven_one = (
        -np.asarray(slope_in_v(*sample[:2], matrix, np.full(dim, away), layer))
        for matrix in (raised if uneven else A, raised))
    size = np.linalg.norm(even)
    step = size * dynamics.one_normalised_step(sample.X, sample.y)
    pairs = (plain, even), (exact, uneven_one), (step, even)
    gaps = [np.linalg.norm(form - slope) / np.linalg.norm(slope) for form, slope in pairs]
    return xarray.Dataset({"gap": ("form", gaps)})
