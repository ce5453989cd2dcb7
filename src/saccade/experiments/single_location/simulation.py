"""Simulations of the task itself: Monte Carlo risks, baselines, and the extension to several informative tokens."""

from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.models import attention
from saccade.tasks.single_location import SingleLocation

Case = tuple[int, int, float, float]  # dim, length, inverse temperature, gamma
CASES: tuple[Case, ...] = ((6, 3, 0.6, 0.71), (8, 4, 0.35, 1.1), (5, 2, 1.3, 0.5), (10, 6, 0.9, 0.71))


def unit(key: Any, dim: int) -> jax.Array:
    vector = jax.random.normal(key, (dim,))
    return vector / jnp.linalg.norm(vector)


def replicated(key: Any, replicates: int, one: Any) -> np.ndarray:
    """`one(key)` for each replicate, compiled once, one after the other so that memory stays that of one batch."""
    return np.asarray(jax.jit(lambda keys: jax.lax.map(one, keys))(jax.random.split(key, replicates)))


def _directions(number: int, dim: int, where: str) -> tuple[Any, ...]:
    """Fixed directions of case `number`, the same in every block: (k*, v*, k, v)."""
    keys = jax.random.split(jax.random.key(number), 3)
    task = SingleLocation.create(keys[0], dim, 1)
    k, v = (task.k_star, task.v_star) if where == "oracle" else (unit(keys[1], dim), unit(keys[2], dim))
    return task.k_star, task.v_star, k, v


@experiment("single-location.simulated-risk", scales={"standard": {"samples": 100_000}, "paper": {"samples": 400_000}})
def simulated_risk(
    key: Any,
    *,
    cases: tuple[Case, ...] = CASES,
    where: Literal["random", "oracle"] = "random",
    samples: int = 5000,
    replicates: int = 32,
    informative: int = 1,
    noise: float = 0.0,
) -> xarray.Dataset:
    """Mean squared error of the erf predictor on sampled tokens, at fixed random directions or at the true ones."""
    columns, overlaps = [], []
    for number, (dim, length, inverse_temperature, gamma) in enumerate(cases):
        k_star, v_star, k, v = _directions(number, dim, where)
        task = SingleLocation(dim, length, gamma, noise, jnp.full(length, 1 / length), k_star, v_star, informative)

        def one(one_key, task=task, k=k, v=v, inverse_temperature=inverse_temperature):
            sample = task.sample(one_key, samples)
            return jnp.mean((sample.y - attention.erf_predictor(sample.X, k, v, inverse_temperature)) ** 2)

        columns.append(replicated(jax.random.fold_in(key, number), replicates, one))
        overlaps.append([float(a @ b) for a, b in ((k, k_star), (v, v_star), (v, k_star), (k, v_star), (k, v))])
    return xarray.Dataset(
        {"risk": (("replicate", "case"), np.stack(columns, -1)), "overlap": (("case", "name"), np.array(overlaps))},
        {"name": ["kappa", "nu", "theta", "eta", "rho"]},
    )


@experiment("single-location.equal-overlaps")
def equal_overlaps(
    key: Any, *, dim: int = 8, length: int = 4, inverse_temperature: float = 0.6, samples: int = 4000, replicates: int = 32, turn_rho: float = 0.0
) -> xarray.Dataset:
    """Risks of two different pairs (k, v) with the same five overlaps (`turn_rho` spoils the last one), on independent samples."""
    k_star, v_star, k, v = _directions(7, dim, "random")
    basis = jnp.linalg.qr(jnp.stack([k_star, v_star, *jnp.eye(dim)[:-2]], 1))[0]
    rotation = jnp.linalg.qr(jax.random.normal(jax.random.key(8), (dim - 2, dim - 2)))[0]
    turn = basis[:, :2] @ basis[:, :2].T + basis[:, 2:] @ rotation @ basis[:, 2:].T
    other = v + turn_rho * k
    pairs = ((k, v), (turn @ k, turn @ (other / jnp.linalg.norm(other))))
    task = SingleLocation(dim, length, 2**-0.5, 0.0, jnp.full(length, 1 / length), k_star, v_star)

    def one(one_key, pair):
        sample = task.sample(one_key, samples)
        return jnp.mean((sample.y - attention.erf_predictor(sample.X, *pair, inverse_temperature)) ** 2)

    risks = [replicated(jax.random.fold_in(key, n), replicates, lambda one_key, p=p: one(one_key, p)) for n, p in enumerate(pairs)]
    return xarray.Dataset({"risk": (("replicate", "pair"), np.stack(risks, -1)), "distance": float(jnp.linalg.norm(pairs[0][0] - pairs[1][0]))})


@experiment("single-location.predictors")
def predictors(
    key: Any, *, dim: int = 80, length: int = 10, inverse_temperature: float = 1.0, samples: int = 500, replicates: int = 32
) -> xarray.Dataset:
    """Risks of the argmax, softmax and erf predictors at the true directions, on the same samples; and the norm baseline."""
    task = SingleLocation.create(jax.random.key(11), dim, length)
    k, v = task.k_star, task.v_star

    def one(one_key):
        sample = task.sample(one_key, samples)
        guesses = (
            attention.argmax_predictor(sample.X, k, v),
            attention.softmax_predictor(sample.X, k, v, inverse_temperature),
            attention.erf_predictor(sample.X, k, v, inverse_temperature),
        )
        largest = jnp.argmax(jnp.sum(sample.X**2, -1), -1) == sample.location[:, 0]
        return jnp.stack([*(jnp.mean((sample.y - guess) ** 2) for guess in guesses), jnp.mean(largest)])

    made = replicated(key, replicates, one)
    return xarray.Dataset(
        {"risk": (("replicate", "predictor"), made[:, :3]), "norm_hits": ("replicate", made[:, 3])},
        {"predictor": ["argmax", "softmax", "erf"]},
    )


@experiment("single-location.norm-baseline")
def norm_baseline(key: Any, *, dim: int = 80, length: int = 10, gamma: float = 2**-0.5, samples: int = 4000) -> xarray.Dataset:
    """Whether the token of largest norm is the informative one, sample by sample."""
    task = SingleLocation.create(jax.random.key(12), dim, length, gamma=gamma)
    sample = jax.jit(lambda k: task.sample(k, samples))(key)
    hit = jnp.argmax(jnp.sum(sample.X**2, -1), -1) == sample.location[:, 0]
    return xarray.Dataset({"hit": ("sample", np.asarray(hit, float))})


@experiment("single-location.spread")
def spread(
    key: Any,
    *,
    dim: int = 80,
    length: int = 10,
    inverse_temperature: float = 0.3,
    gamma: float = 2**-0.5,
    informative: tuple[int, ...] = (1, 2, 3, 4),
    samples: int = 500,
    replicates: int = 32,
) -> xarray.Dataset:
    """Risk of the one-location predictor at the true directions when the target is spread over several informative tokens."""
    columns = []
    for number in informative:
        task = SingleLocation.create(jax.random.key(13), dim, length, gamma=gamma, informative=number)

        def one(one_key, task=task):
            sample = task.sample(one_key, samples)
            return jnp.mean((sample.y - attention.erf_predictor(sample.X, task.k_star, task.v_star, inverse_temperature)) ** 2)

        columns.append(replicated(jax.random.fold_in(key, number), replicates, one))
    return xarray.Dataset({"risk": (("replicate", "informative"), np.stack(columns, -1))}, {"informative": list(informative)})


@experiment("single-location.attention-layer")
def attention_layer(key: Any, *, dim: int = 12, length: int = 6, samples: int = 50, inverse_temperature: float = 0.7, keep_cls: bool = False) -> xarray.Dataset:
    """A single-head attention layer read at [CLS], and the softmax predictor it should equal."""
    keys = jax.random.split(key, 4)
    task = SingleLocation.create(keys[0], dim, length)
    X = task.sample(keys[1], samples).X
    cls, k, v = unit(keys[2], dim), task.k_star, task.v_star
    layer = attention.SingleHeadAttention(2.0 * cls[:, None], k[:, None], v[:, None], jnp.ones((1, 1)), inverse_temperature)
    tokens = jnp.concatenate([jnp.broadcast_to(cls, (samples, 1, dim)), X], 1) if keep_cls else X
    return xarray.Dataset(
        {
            "layer": ("sample", np.asarray(layer(tokens, cls)).reshape(samples)),
            "softmax": ("sample", np.asarray(attention.softmax_predictor(X, k, v, 2.0 * inverse_temperature))),
        }
    )
