"""Simulations of the task: Monte Carlo risks, baselines, several informative tokens. All in NumPy:
a program for every shape would cost more to compile than all samples to draw."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import jax
import numpy as np
import xarray

from saccade.arrays import generator, normals
from saccade.lab.experiment import experiment
from saccade.studies.single_location import models
from saccade.studies.single_location.task import Sample, SingleLocation


class Case(NamedTuple):
    """One setting of the task."""

    dim: int
    length: int
    inverse_temperature: float
    gamma: float


CASES = (Case(6, 3, 0.6, 0.71), Case(8, 4, 0.35, 1.1), Case(5, 2, 1.3, 0.5), Case(10, 6, 0.9, 0.71))
LAW = (0.4, 0.3, 0.2, 0.1)


def _replicated(
    key: Any, replicates: int, samples: int, task: SingleLocation,
    statistic: Callable[[Sample], Any],
) -> np.ndarray:
    """`statistic(sample)` on fresh samples, one after the other to save memory."""
    drawn = (task.sample(one, samples) for one in generator(key).spawn(replicates))
    return np.stack([statistic(sample) for sample in drawn])


def _risks(
    key: Any, replicates: int, samples: int, task: SingleLocation, *predictors: Any
) -> np.ndarray:
    """Mean squared error of each predictor, all on the same samples."""

    def errors(sample: Sample) -> list[float]:
        return [np.mean((sample.y - predict(sample.X)) ** 2) for predict in predictors]

    return _replicated(key, replicates, samples, task, errors)


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def _random_unit(key: Any, dim: int) -> np.ndarray:
    return _unit(normals(key, (dim,)))


def _task(number: int, dim: int, length: int, **rest: Any) -> SingleLocation:
    """The task of case `number`: its directions are the same in every repetition."""
    return SingleLocation.create(jax.random.key(number), dim, length, **rest)


def _leaning(number: int, task: SingleLocation) -> tuple[np.ndarray, np.ndarray]:
    """Random directions that lean on the truth and on each other: no term of the risk is small."""
    keys = jax.random.split(jax.random.key(1000 + number))
    k = _unit(0.5 * task.k_star + 0.6 * task.v_star + _random_unit(keys[0], task.dim))
    v = _unit(0.5 * task.v_star + 0.6 * task.k_star + 0.8 * k + _random_unit(keys[1], task.dim))
    return k, v


@experiment(
    "single-location.simulated-risk",
    scales={"standard": {"samples": 40_000}, "paper": {"samples": 200_000}})
def simulated_risk(
    key: Any, *, cases: tuple[Case, ...] = CASES, where: Literal["random", "oracle"] = "random",
    samples: int = 4000, replicates: int = 32, informative: int = 1, noise: float = 0.0,
) -> xarray.Dataset:
    """Mean squared error of the erf predictor on samples, at random directions or the true ones."""
    columns, overlaps = [], []
    for number, (dim, length, inverse_temperature, gamma) in enumerate(cases):
        task = _task(number, dim, length, gamma=gamma, noise=noise, informative=informative)
        truth = task.k_star, task.v_star
        k, v = truth if where == "oracle" else _leaning(number, task)
        columns.append(_risks(
            jax.random.fold_in(key, number), replicates, samples, task,
            models.ErfAttention(k, v, inverse_temperature)))
        pairs = ((k, truth[0]), (v, truth[1]), (v, truth[0]), (k, truth[1]), (k, v))
        overlaps.append([float(a @ b) for a, b in pairs])
    return xarray.Dataset(
        {
            "risk": (("replicate", "case"), np.concatenate(columns, -1)),
            "overlap": (("case", "name"), np.array(overlaps))},
        {"name": ["kappa", "nu", "theta", "eta", "rho"]})


@experiment("single-location.equal-overlaps")
def equal_overlaps(
    key: Any, *, settings: int = 6, samples: int = 1000, replicates: int = 32, mirror: bool = False,
    turn_rest: bool = False,
) -> xarray.Dataset:
    """At random settings (d from 5 to 16, L from 3 to 8, lambda from 0.3 to 1.2, gamma from 0.5 to
    1.2) and random directions: risks of two pairs (k, v) with the same five overlaps, or with the
    last three of opposite sign (`mirror`). `turn_rest` turns round what v has outside k* and v*,
    which changes k.v alone."""
    random, rows, cases = generator(jax.random.fold_in(key, settings)), [], []
    for number in range(settings):
        case = Case(
            int(random.integers(5, 17)), int(random.integers(3, 9)),
            np.exp(random.uniform(np.log(0.3), np.log(1.2))), random.uniform(0.5, 1.2))
        draw = int(random.integers(10**6))
        task = _task(draw, case.dim, case.length, gamma=case.gamma)
        k, v = _leaning(draw, task)
        turn = _rotation_fixing(task.k_star, task.v_star, jax.random.key(draw + 1))
        other = _mirrored(task, k, v) if mirror else (k, v)
        if turn_rest:
            inside = sum((other[1] @ star) * star for star in (task.k_star, task.v_star))
            other = other[0], 2 * inside - other[1]
        pairs = ((k, v), (turn @ other[0], turn @ other[1]))
        rows.append([
            _risks(
                jax.random.fold_in(key, 2 * number + i), replicates, samples, task,
                models.ErfAttention(*pair, case.inverse_temperature))[:, 0]
            for i, pair in enumerate(pairs)])
        cases.append([*case, np.linalg.norm(pairs[0][0] - pairs[1][0])])
    return xarray.Dataset(
        {
            "risk": (("setting", "pair", "replicate"), np.array(rows)),
            "case": (("setting", "name"), np.array(cases))},
        {"name": [*Case._fields, "distance"]})


def _mirrored(task: SingleLocation, k: np.ndarray, v: np.ndarray) -> tuple[Any, Any]:
    """Unit vectors with the overlaps of k and v but -v.k*, -k.v* and -k.v."""
    return k - 2 * (k @ task.v_star) * task.v_star, 2 * (v @ task.v_star) * task.v_star - v


def _rotation_fixing(first: np.ndarray, second: np.ndarray, key: Any) -> np.ndarray:
    """A random rotation that leaves two orthonormal vectors where they are."""
    dim = first.shape[0]
    basis = np.linalg.qr(np.column_stack([first, second, np.eye(dim)[:, : dim - 2]]))[0]
    inner = np.linalg.qr(normals(key, (dim - 2, dim - 2)))[0]
    return basis[:, :2] @ basis[:, :2].T + basis[:, 2:] @ inner @ basis[:, 2:].T


@experiment("single-location.predictors")
def predictors(
    key: Any, *, dim: int = 80, length: int = 10, inverse_temperature: float = 1.0,
    samples: int = 500, replicates: int = 32,
) -> xarray.Dataset:
    """Risks of the argmax, softmax and erf predictors at the truth, on the same samples."""
    task = _task(11, dim, length)
    at_truth = task.k_star, task.v_star
    risks = _risks(
        key, replicates, samples, task, models.ArgmaxAttention(*at_truth),
        models.SoftmaxAttention(*at_truth, inverse_temperature),
        models.ErfAttention(*at_truth, inverse_temperature))
    return xarray.Dataset(
        {"risk": (("replicate", "predictor"), risks)}, {"predictor": ["argmax", "softmax", "erf"]})


def _largest_is_informative(sample: Sample) -> np.ndarray:
    return np.argmax(np.sum(sample.X**2, -1), -1) == sample.location[:, 0]


@experiment("single-location.norm-baseline")
def norm_baseline(
    key: Any, *, dim: int = 80, length: int = 10, gamma: float = 2**-0.5, samples: int = 8000
) -> xarray.Dataset:
    """Whether the token of largest norm is the informative one, sample by sample."""
    task = _task(12, dim, length, gamma=gamma)
    hits = _replicated(key, 8, samples // 8, task, _largest_is_informative)
    return xarray.Dataset({"hit": ("sample", hits.astype(float).ravel())})


@experiment("single-location.spread")
def spread(
    key: Any, *, dim: int = 20, length: int = 10, inverse_temperature: float = 0.6,
    gamma: float = 2**-0.5, informative: tuple[int, ...] = (1, 2, 3, 4), samples: int = 500,
    replicates: int = 32,
) -> xarray.Dataset:
    """Risk of the one-location predictor at the truth when several tokens share the target."""
    columns = []
    for number in informative:
        task = _task(13, dim, length, gamma=gamma, informative=number)
        model = models.ErfAttention(task.k_star, task.v_star, inverse_temperature)
        columns.append(_risks(jax.random.fold_in(key, number), replicates, samples, task, model))
    return xarray.Dataset(
        {"risk": (("replicate", "informative"), np.concatenate(columns, -1))},
        {"informative": list(informative)})


@experiment("single-location.attention-layer")
def attention_layer(
    key: Any, *, dim: int = 12, length: int = 6, samples: int = 50,
    inverse_temperature: float = 0.7, keep_cls: bool = False,
) -> xarray.Dataset:
    """A single-head attention layer read at [CLS], and the softmax predictor it should equal."""
    sample_key, cls_key = jax.random.split(key)
    task = _task(14, dim, length)
    X, cls = task.sample(generator(sample_key), samples).X, _random_unit(cls_key, dim)
    truth = task.k_star, task.v_star
    layer = models.SingleHeadAttention.from_directions(*truth, 2.0 * cls, cls, inverse_temperature)
    softmax = models.SoftmaxAttention(*truth, 2.0 * inverse_temperature)
    tokens = np.concatenate([np.broadcast_to(cls, (samples, 1, dim)), X], 1) if keep_cls else X
    return xarray.Dataset({"layer": ("sample", layer(tokens)), "softmax": ("sample", softmax(X))})


@experiment("single-location.linear-simulated")
def linear_simulated(
    key: Any, *, dim: int = 5, law: tuple[float, ...] = LAW, gamma: float = 2**-0.5,
    noise: float = 0.2, samples: int = 4000, replicates: int = 32,
) -> xarray.Dataset:
    """Out-of-sample risk of least squares fitted on one large sample of flattened tokens."""
    fit_key, test_key = jax.random.split(key)
    task = _task(15, dim, len(law), gamma=gamma, noise=noise, location_probabilities=np.array(law))
    sample = task.sample(generator(fit_key), 50_000)
    beta = np.linalg.lstsq(_flat(sample), sample.y, rcond=None)[0]
    risks = _replicated(
        test_key, replicates, samples, task,
        lambda fresh: np.mean((fresh.y - _flat(fresh) @ beta) ** 2))
    return xarray.Dataset({"risk": ("replicate", risks)})


def _flat(sample: Sample) -> np.ndarray:
    return np.asarray(sample.X).reshape(len(sample.y), -1)
