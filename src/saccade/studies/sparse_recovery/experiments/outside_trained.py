"""ALISTA trained as the authors of NA-ALISTA train it, for their published numbers: 16 layers with
support selection (the largest entries pass their threshold uncut, more of them in later layers)
from gamma = theta = 0.5, on one matrix with columns of length one.

Theirs is trained for 420 passes over 50,000 problems at a rate of 2e-4; here few steps at a larger
one have to do for its 32 numbers.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import xarray
from jaxtyping import Array, Float

from saccade.lab.experiment import experiment
from saccade.networks.training import Problem, adam_with_cosine, train
from saccade.studies.sparse_recovery.experiments.outside import decibels_off, measured, unit_columns
from saccade.studies.sparse_recovery.models.steps import alista_weight, soft_threshold

GROUP = 50
"""Test problems whose errors make one number in decibels."""


def _kept(layers: int, nonzeros: float, share: float = 1.2) -> np.ndarray:
    """How many entries pass uncut, layer by layer, up to `share` times the expected non-zeros."""
    most = share * nonzeros
    return np.linspace(most // layers, most, layers).astype(int)


def selecting(weights: dict, X: Array, W: Array, y: Array, kept) -> Float[Array, "sample dim"]:
    """b <- u = b - gamma W^T (X b - y), where entries above the `kept`-th largest |u| stay as they
    are and all others are cut by theta."""
    most = int(np.max(kept))

    def layer(b, known):
        gamma, theta, number = known
        u = b - gamma * ((b @ X.T - y) @ W)
        largest = jax.lax.top_k(jax.lax.stop_gradient(jnp.abs(u)), most)[0]
        bar = jnp.take(largest, number - 1, axis=1)[:, None]
        return jnp.where(jnp.abs(u) > bar, u, soft_threshold(u, jnp.abs(theta))), None

    start = jnp.zeros((len(y), X.shape[1]), y.dtype)
    known = (weights["gamma"], weights["theta"], jnp.asarray(kept))
    return jax.lax.scan(layer, start, known)[0]


def _training(batch: int, nonzeros: float, decibels: float, kept: np.ndarray, optimiser) -> Any:
    def drawn(key, step, data):
        X, W = data
        keys = jax.random.split(key, 3)
        shape = (batch, X.shape[1])
        there = jax.random.bernoulli(keys[0], nonzeros / X.shape[1], shape)
        beta = there * jax.random.normal(keys[1], shape, X.dtype)
        exact = beta @ X.T
        noise = 10 ** (-decibels / 20) * exact.std(1, ddof=1, keepdims=True)
        return X, W, exact + noise * jax.random.normal(keys[2], exact.shape, X.dtype), beta

    def loss(weights, problems):
        X, W, y, beta = problems
        return ((selecting(weights, X, W, y, kept) - beta) ** 2).sum() / (beta**2).sum()

    return partial(Problem, loss, drawn, optimiser)


@experiment("sparse-recovery.outside-trained")
def outside_trained(
    key: Any, *, rows: int = 250, dims: tuple[int, ...] = (500, 1000), nonzeros: float = 50,
    decibels: float = 40, layers: int = 16, steps: int = 500, batch: int = 64,
    learning_rate: float = 2e-2, matrices: int = 1, tests: int = 2000,
) -> xarray.Dataset:
    """Errors in decibels of groups of test problems, trained and before the first step, for each
    matrix; and the learned numbers."""
    chance = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    kept = _kept(layers, nonzeros)
    make = _training(
        batch, nonzeros, decibels, kept, optax.chain(adam_with_cosine(learning_rate, steps, 1)))
    start = {name: jnp.full(layers, 0.5, jnp.float32) for name in ("gamma", "theta")}
    run = jax.jit(partial(selecting, kept=kept))
    values: dict[str, list] = {"decibels": [], "untrained": [], "gamma": [], "theta": []}
    for dim in dims:
        found: list[dict] = []
        for number in range(matrices):
            X = unit_columns(chance, rows, dim)
            data = tuple(jnp.asarray(part, jnp.float32) for part in (X, jax.jit(alista_weight)(X)))
            ended = train(
                make(data), start, jax.random.fold_in(key, dim + number), steps, chunk=100,
                name=f"alista-{dim}-{number}").model
            test = measured(chance, X, tests, nonzeros, decibels)
            answers = [
                np.asarray(run(weights, *data, jnp.asarray(test.y, jnp.float32)), float)
                for weights in (ended, start)]
            found.append(
                dict(zip(("decibels", "untrained"), (_grouped(b, test.beta) for b in answers)))
                | {name: np.asarray(ended[name], float) for name in ended})
        for name, collected in values.items():
            collected.append([one[name] for one in found])
    axes = {name: ("dim", "matrix", "group") for name in ("decibels", "untrained")}
    axes |= {name: ("dim", "matrix", "layer") for name in ("gamma", "theta")}
    return xarray.Dataset(
        {name: (axes[name], values[name]) for name in values}, {"dim": list(dims)})


def _grouped(b: np.ndarray, beta: np.ndarray) -> list[float]:
    parts = len(beta) // GROUP
    return [
        decibels_off(*pair)
        for pair in zip(np.array_split(b, parts), np.array_split(beta, parts), strict=True)]
