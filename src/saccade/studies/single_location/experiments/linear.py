"""The best linear predictor, from second moments assembled number by number, and its risk on
samples."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.single_location.experiments.simulation import replicated
from saccade.studies.single_location.task import Sample, SingleLocation

LAW = (0.4, 0.3, 0.2, 0.1)


def _moments(
    dim: int, law: np.ndarray, gamma: float, noise: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """E x x^T, E x Y and E Y^2 of the flattened tokens x, by summing over the hidden location; k* =
    e_1, v* = e_2."""
    length, mean, read = len(law), np.zeros(dim), np.zeros(dim)
    mean[0], read[1] = np.sqrt(dim / 2), 1.0
    second, cross = np.zeros((length * dim, length * dim)), np.zeros(length * dim)
    for where, probability in enumerate(law):
        for token in range(length):
            block = slice(token * dim, (token + 1) * dim)
            informative = gamma**2 * np.eye(dim) + np.outer(mean, mean)
            second[block, block] += probability * (informative if token == where else np.eye(dim))
        cross[where * dim : (where + 1) * dim] += (
            probability * (gamma**2 * np.eye(dim) + np.outer(mean, mean)) @ read)
    return second, cross, gamma**2 + noise**2


@experiment("single-location.linear-normal-equations")
def linear_normal_equations(
    key: Any, *, dim: int = 5, law: tuple[float, ...] = LAW,
    lengths: tuple[int, ...] = (2, 5, 10, 20), gamma: float = 2**-0.5, noise: float = 0.2,
) -> xarray.Dataset:
    """Solve the normal equations: coefficients on v* per token for `law`, and the risk for uniform
    laws of several lengths."""
    second, cross, power = _moments(dim, np.asarray(law), gamma, noise)
    beta = np.linalg.solve(second, cross).reshape(len(law), dim)
    off_axis = np.delete(beta, 1, axis=1)
    risks = []
    for length in lengths:
        matrix, vector, energy = _moments(2, np.full(length, 1 / length), gamma, noise)
        risks.append(energy - vector @ np.linalg.solve(matrix, vector))
    return xarray.Dataset(
        {
            "coefficient": ("token", beta[:, 1]), "off_axis": float(np.max(np.abs(off_axis))),
            "risk": float(power - cross @ beta.ravel()),
            "uniform_risk": ("length", np.array(risks))},
        {"length": list(lengths)})


@experiment("single-location.linear-simulated")
def linear_simulated(
    key: Any, *, dim: int = 5, law: tuple[float, ...] = LAW, gamma: float = 2**-0.5,
    noise: float = 0.2, samples: int = 4000, replicates: int = 32,
) -> xarray.Dataset:
    """Out-of-sample risk of least squares fitted on one large sample of flattened tokens."""
    fit_key, test_key = jax.random.split(key)
    task = SingleLocation.create(jax.random.key(15), dim, len(law), gamma, noise, jnp.asarray(law))
    sample = task.sample(fit_key, 50_000)
    flat = np.asarray(sample.X).reshape(len(sample.y), -1)
    beta = jnp.asarray(np.linalg.lstsq(flat, np.asarray(sample.y), rcond=None)[0])
    return xarray.Dataset({"risk": (
        "replicate",
        np.asarray(replicated(test_key, replicates, samples, task, _linear_error, beta)))})


def _linear_error(sample: Sample, beta: Any) -> Any:
    return jnp.mean((sample.y - sample.X.reshape(len(sample.y), -1) @ beta) ** 2)
