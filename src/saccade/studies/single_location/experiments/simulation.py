"""Simulations of the task itself: Monte Carlo risks, baselines, and the extension to several
informative tokens."""

from collections.abc import Callable
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.single_location import models as attention
from saccade.studies.single_location.task import Sample, SingleLocation

Case = tuple[int, int, float, float]  # dim, length, inverse temperature, gamma
CASES: tuple[Case, ...] = (
    (6, 3, 0.6, 0.71), (8, 4, 0.35, 1.1), (5, 2, 1.3, 0.5), (10, 6, 0.9, 0.71))
NAMES = ("kappa", "nu", "theta", "eta", "rho")


@eqx.filter_jit
def replicated(
    key: Any, replicates: int, samples: int, task: SingleLocation, statistic: Callable[..., Any],
    *arguments: Any,
) -> Any:
    """`statistic(sample, *arguments)` on fresh samples, replicate after replicate so that memory
    stays that of one batch."""
    return jax.lax.map(
        lambda one: statistic(task.sample(one, samples), *arguments),
        jax.random.split(key, replicates))


def squared_error(sample: Sample, k: Any, v: Any, inverse_temperature: Any) -> Any:
    """Mean squared error of the erf predictor."""
    return jnp.mean((sample.y - attention.erf_predictor(sample.X, k, v, inverse_temperature)) ** 2)


def unit_vector(vector: Any) -> Any:
    return vector / jnp.linalg.norm(vector)


def unit(key: Any, dim: int) -> Any:
    return unit_vector(jax.random.normal(key, (dim,)))


def _task(number: int, dim: int, length: int, **rest: Any) -> SingleLocation:
    """The task of case `number`: its directions are the same in every block."""
    return SingleLocation.create(jax.random.key(number), dim, length, **rest)


def _directions(number: int, task: SingleLocation, where: str) -> tuple[Any, Any]:
    """The true directions, or random ones that lean on the truth and on each other, so that no term
    of the risk is small."""
    if where == "oracle":
        return task.k_star, task.v_star
    keys = jax.random.split(jax.random.key(1000 + number))
    k = unit_vector(0.5 * task.k_star + 0.6 * task.v_star + unit(keys[0], task.dim))
    v = unit_vector(0.5 * task.v_star + 0.6 * task.k_star + 0.8 * k + unit(keys[1], task.dim))
    return k, v


def _overlaps(task: SingleLocation, k: Any, v: Any) -> list[float]:
    pairs = ((k, task.k_star), (v, task.v_star), (v, task.k_star), (k, task.v_star), (k, v))
    return [float(a @ b) for a, b in pairs]


@experiment(
    "single-location.simulated-risk",
    scales={"standard": {"samples": 40_000}, "paper": {"samples": 200_000}})
def simulated_risk(
    key: Any, *, cases: tuple[Case, ...] = CASES, where: Literal["random", "oracle"] = "random",
    samples: int = 4000, replicates: int = 32, informative: int = 1, noise: float = 0.0,
) -> xarray.Dataset:
    """Mean squared error of the erf predictor on sampled tokens, at fixed random directions or at
    the true ones."""
    columns, overlaps = [], []
    for number, (dim, length, inverse_temperature, gamma) in enumerate(cases):
        task = _task(number, dim, length, gamma=gamma, noise=noise, informative=informative)
        k, v = _directions(number, task, where)
        one = jax.random.fold_in(key, number)
        columns.append(replicated(
            one, replicates, samples, task, squared_error, k, v,
            jnp.asarray(inverse_temperature)))
        overlaps.append(_overlaps(task, k, v))
    return xarray.Dataset(
        {
            "risk": (("replicate", "case"), np.stack(columns, -1)),
            "overlap": (("case", "name"), np.array(overlaps))},
        {"name": list(NAMES)})


@experiment("single-location.equal-overlaps")
def equal_overlaps(
    key: Any, *, dim: int = 8, length: int = 4, inverse_temperature: float = 0.6,
    samples: int = 4000, replicates: int = 32, turn_rho: float = 0.0,
) -> xarray.Dataset:
    """Risks of two different pairs (k, v) with the same five overlaps (`turn_rho` spoils the last
    one), on independent samples."""
    task = _task(7, dim, length)
    k, v = _directions(7, task, "random")
    turn = _rotation_fixing(task.k_star, task.v_star, jax.random.key(8))
    other = v + turn_rho * k
    pairs = ((k, v), (turn @ k, turn @ (other / jnp.linalg.norm(other))))
    temperature = jnp.asarray(inverse_temperature)
    risks = [
        replicated(
            jax.random.fold_in(key, number), replicates, samples, task, squared_error, *pair,
            temperature)
        for number, pair in enumerate(pairs)]
    distance = float(jnp.linalg.norm(pairs[0][0] - pairs[1][0]))
    return xarray.Dataset(
        {"risk": (("replicate", "pair"), np.stack(risks, -1)), "distance": distance})


def _rotation_fixing(first: Any, second: Any, key: Any) -> Any:
    """A random rotation that leaves two orthonormal vectors where they are."""
    dim = first.shape[0]
    basis = jnp.linalg.qr(
        jnp.concatenate([jnp.stack([first, second], 1), jnp.eye(dim)[:, : dim - 2]], 1))[0]
    inner = jnp.linalg.qr(jax.random.normal(key, (dim - 2, dim - 2)))[0]
    return basis[:, :2] @ basis[:, :2].T + basis[:, 2:] @ inner @ basis[:, 2:].T


def _three_errors(sample: Sample, k: Any, v: Any, inverse_temperature: Any) -> Any:
    guesses = (
        attention.argmax_predictor(sample.X, k, v),
        attention.softmax_predictor(sample.X, k, v, inverse_temperature),
        attention.erf_predictor(sample.X, k, v, inverse_temperature))
    return jnp.stack([jnp.mean((sample.y - guess) ** 2) for guess in guesses])


@experiment("single-location.predictors")
def predictors(
    key: Any, *, dim: int = 80, length: int = 10, inverse_temperature: float = 1.0,
    samples: int = 500, replicates: int = 32,
) -> xarray.Dataset:
    """Risks of the argmax, softmax and erf predictors at the true directions, on the same
    samples."""
    task = _task(11, dim, length)
    made = replicated(
        key, replicates, samples, task, _three_errors, task.k_star, task.v_star,
        jnp.asarray(inverse_temperature))
    return xarray.Dataset(
        {"risk": (("replicate", "predictor"), np.asarray(made))},
        {"predictor": ["argmax", "softmax", "erf"]})


def _largest_is_informative(sample: Sample) -> Any:
    return jnp.argmax(jnp.sum(sample.X**2, -1), -1) == sample.location[:, 0]


@experiment("single-location.norm-baseline")
def norm_baseline(
    key: Any, *, dim: int = 80, length: int = 10, gamma: float = 2**-0.5, samples: int = 8000
) -> xarray.Dataset:
    """Whether the token of largest norm is the informative one, sample by sample."""
    task = _task(12, dim, length, gamma=gamma)
    hits = replicated(key, 8, samples // 8, task, _largest_is_informative)
    return xarray.Dataset({"hit": ("sample", np.asarray(hits, float).ravel())})


@experiment("single-location.spread")
def spread(
    key: Any, *, dim: int = 80, length: int = 10, inverse_temperature: float = 0.3,
    gamma: float = 2**-0.5, informative: tuple[int, ...] = (1, 2, 3, 4), samples: int = 500,
    replicates: int = 32,
) -> xarray.Dataset:
    """Risk of the one-location predictor at the true directions when the target is spread over
    several informative tokens."""
    columns = []
    for number in informative:
        task = _task(13, dim, length, gamma=gamma, informative=number)
        one = jax.random.fold_in(key, number)
        columns.append(replicated(
            one, replicates, samples, task, squared_error, task.k_star, task.v_star,
            jnp.asarray(inverse_temperature)))
    return xarray.Dataset(
        {"risk": (("replicate", "informative"), np.stack(columns, -1))},
        {"informative": list(informative)})


@experiment("single-location.attention-layer")
def attention_layer(
    key: Any, *, dim: int = 12, length: int = 6, samples: int = 50,
    inverse_temperature: float = 0.7, keep_cls: bool = False,
) -> xarray.Dataset:
    """A single-head attention layer read at [CLS], and the softmax predictor it should equal."""
    sample_key, cls_key = jax.random.split(key)
    task = _task(14, dim, length)
    X, cls, k, v = task.sample(sample_key, samples).X, unit(cls_key, dim), task.k_star, task.v_star
    layer = attention.SingleHeadAttention.from_directions(k, v, 2.0 * cls, inverse_temperature)
    tokens = jnp.concatenate([jnp.broadcast_to(cls, (samples, 1, dim)), X], 1) if keep_cls else X
    return xarray.Dataset({
        "layer": ("sample", np.asarray(layer(tokens, cls)).reshape(samples)),
        "softmax": (
            "sample",
            np.asarray(attention.softmax_predictor(X, k, v, 2.0 * inverse_temperature)))})
