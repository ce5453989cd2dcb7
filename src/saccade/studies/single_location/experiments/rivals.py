"""What stands beside the layer: sparse linear regression on the flattened tokens, and the Bayes
predictor."""

from typing import Any, Literal

import jax
import numpy as np
import xarray

from saccade.arrays import generator
from saccade.lab.experiment import experiment
from saccade.studies.single_location import models
from saccade.studies.single_location.experiments.closed_forms import moments
from saccade.studies.single_location.task import SingleLocation

PENALTIES = tuple(float(x) for x in np.geomspace(3e-3, 0.3, 6))


def _shrunk(
    beta: np.ndarray, penalty: np.ndarray, groups: Literal["coordinates", "tokens"]
) -> np.ndarray:
    """The proximal step of a penalty on single coordinates, or on the norms of tokens' blocks."""
    by_token = np.linalg.norm(beta, axis=-1, keepdims=True)
    size = np.abs(beta) if groups == "coordinates" else by_token
    return beta * np.maximum(1 - penalty / np.maximum(size, 1e-300), 0.0)


def _fitted(
    gram: np.ndarray, cross: np.ndarray, shape: tuple[int, int],
    groups: Literal["coordinates", "tokens"], steps: int,
) -> np.ndarray:
    """Coefficients (penalty, token, coordinate) of the (group) Lasso, by accelerated proximal
    descent on the normal equations of the sample."""
    rate = 1 / np.linalg.eigvalsh(gram)[-1]
    penalties = rate * np.array(PENALTIES)[:, None, None]
    beta = ahead = np.zeros((len(PENALTIES), *shape))
    for t in range(steps):
        slope = (ahead.reshape(len(PENALTIES), -1) @ gram - cross).reshape(ahead.shape)
        after = _shrunk(ahead - rate * slope, penalties, groups)
        ahead = after + t / (t + 3) * (after - beta)
        beta = after
    return beta


@experiment("single-location.sparse-linear")
def sparse_linear(
    key: Any, *, dim: int = 8, length: int = 10, gamma: float = 0.9, noise: float = 0.2,
    samples: int = 4000, replicates: int = 8, steps: int = 150, known: float = 0.0,
) -> xarray.Dataset:
    """Population risks of the Lasso and of the group Lasso (a group is a token) for each penalty,
    fitted to samples; the place is the first with probability `known`, else any."""
    law = (1 - known) * np.full(length, 1 / length) + known * np.eye(length)[0]
    task = SingleLocation(
        dim, length, gamma, noise, law / law.sum(), np.eye(dim)[0], np.eye(dim)[1])
    second, mixed, power = moments(dim, law, gamma, noise)
    rows = []
    for rng in generator(key).spawn(replicates):
        sample = task.sample(rng, samples)
        X = np.asarray(sample.X).reshape(samples, -1)
        normal = X.T @ X / samples, X.T @ np.asarray(sample.y) / samples
        fits = [
            _fitted(*normal, (length, dim), groups, steps).reshape(len(PENALTIES), -1)
            for groups in ("coordinates", "tokens")]
        rows.append([[power - 2 * one @ mixed + one @ second @ one for one in fit] for fit in fits])
    return xarray.Dataset(
        {"risk": (("replicate", "method", "penalty"), np.array(rows))},
        {"method": ["Lasso", "group Lasso"], "penalty": list(PENALTIES)})


@experiment("single-location.bayes-risk")
def bayes_risk(
    key: Any, *, dims: tuple[int, ...] = (6, 24), length: int = 6, gamma: float = 0.8,
    inverse_temperatures: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4), samples: int = 1500,
    replicates: int = 32, other_key: bool = False, sure: float = 0.0,
) -> xarray.Dataset:
    """What the Bayes predictor and the erf layer at the truth, at each inverse temperature, miss of
    the answer: mean squares without the label noise. The place is the first with probability
    `sure`, else any; with `other_key` the predictor is that of another k*."""
    law = (1 - sure) * np.full(length, 1 / length) + sure * np.eye(length)[0]
    columns = []
    for dim in dims:
        task = SingleLocation.create(jax.random.key(41), dim, length, gamma, 0.0, law / law.sum())
        assumed = task
        if other_key:
            assumed = SingleLocation.create(
                jax.random.key(42), dim, length, gamma, 0.0, law / law.sum())
        layers = [
            models.ErfAttention(task.k_star, task.v_star, lam) for lam in inverse_temperatures]
        X, y, *_ = task.sample(generator(jax.random.fold_in(key, dim)), samples * replicates)
        missed = [
            (y - np.asarray(predict(X))).reshape(replicates, -1)
            for predict in (assumed.best, *layers)]
        columns.append((np.array(missed) ** 2).mean(-1))
    return xarray.Dataset(
        {"missed": (("dim", "predictor", "replicate"), np.array(columns))},
        {"dim": list(dims), "predictor": ["Bayes", *map(str, inverse_temperatures)]})
