"""Descent on samples beside the semi-idealised process of appendix E.2, as the number of images
grows: how far the value vector leaves w*, the attention its population, the outputs each other."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.spatial.dynamics import descent as dynamics
from saccade.studies.spatial.dynamics.coupling import semi_idealised
from saccade.studies.spatial.dynamics.descent import Layer, Setting
from saccade.studies.spatial.models import output, three_value_attention
from saccade.studies.spatial.task import Spatial, interleaved, random_feature

FRESH = 500
GAPS = ("orthogonal", "attention", "output")


@experiment("spatial.coupling")
def coupling(
    key: Any, *, patches: int = 9, set_size: int = 3, spurious_rate: float = 0.3, dim: int = 4,
    samples: tuple[int, ...] = (400, 1600, 6400), eta_v: float = 5e-3, eta_a: float = 3.0,
    steps: int = 40, slope: float = 1e-2, start: float = 1e-3, repetitions: int = 20,
) -> xarray.Dataset:
    """|v orthogonal to w*|, the largest entry of A less its semi-idealised value, and the mean
    difference of the outputs on fresh images, after the last step; a task, sample and start a
    repetition."""
    labels, layer = interleaved(patches, set_size), Layer(3, slope)
    setting = Setting(patches, set_size, spurious_rate, 3, slope, 1.0)
    states = setting.states()
    tables, along = [], []
    for n in samples:
        keys = jax.random.split(jax.random.fold_in(key, n), repetitions)
        A, v, alphas, fresh = _descended(
            keys, labels, spurious_rate, eta_v, eta_a, start, steps, dim, n, layer)
        ends = [semi_idealised(one, setting, eta_a, states) for one in np.asarray(alphas)[:, :-1]]
        tables.append([
            _gaps(
                weights, value, X, feature, layer, labels,
                (float(end[0][-1]), float(end[1][-1])))
            for weights, value, X, feature, end in zip(A, v, *fresh, ends, strict=True)])
        along.append(np.asarray(alphas)[:, -1])
    return xarray.Dataset(
        {
            "gap": (("samples", "repetition", "of"), np.asarray(tables)),
            "alpha": (("samples", "repetition"), np.asarray(along))},
        {"samples": list(samples), "of": list(GAPS)})


def _gaps(
    A: Any, v: Any, X: Any, feature: Any, layer: Layer, labels: np.ndarray, end: tuple[float, float]
) -> list[float]:
    v, X, feature, A = (np.asarray(part) for part in (v, X, feature, A))
    alpha = v @ feature
    ideal = three_value_attention(labels, 1.0, *end)
    outputs = output(X, A, v, *layer), output(X, ideal, alpha * feature, *layer)
    off = ~np.eye(len(labels), dtype=bool)
    return [
        float(np.linalg.norm(v - alpha * feature)), float(np.abs(A - ideal)[off].max()),
        float(np.mean(np.abs(outputs[0] - outputs[1])))]


@partial(jax.jit, static_argnames=("steps", "dim", "n", "layer"))
def _descended(
    keys: Any, labels: Any, rate: float, eta_v: float, eta_a: float, start: float, steps: int,
    dim: int, n: int, layer: Layer,
) -> tuple[Any, Any, Any, tuple[Any, Any]]:
    """A and v at the end, alpha after every step, fresh images and the feature, by repetition."""

    def one(key: Any) -> tuple[Any, Any, Any, tuple[Any, Any]]:
        parts = jax.random.split(key, 4)
        task = Spatial(labels, random_feature(parts[0], dim), rate, dim**-0.5)
        sample = task.sample(parts[1], n)
        first = dynamics.random_start(parts[2], len(labels), dim, 1.0, start)
        A, v, *_ = dynamics.sample_descent(
            sample.X, sample.y, first, layer, eta_v, eta_a, jnp.arange(steps + 1))
        fresh = task.sample(parts[3], FRESH)
        return A[-1], v[-1], v @ task.feature, (fresh.X, task.feature)

    return jax.lax.map(one, keys)
