"""Fitted read-outs: attention with a given query, mean pooling and the vectorised classifier, on
samples of their exact law."""

from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.convex import ConvexFit, fit_readout, readout_error
from saccade.lab.experiment import experiment
from saccade.studies.sparse_token.experiments.testing import (
    attention_test_error,
    seen_by_attention,
    vectorised_test_error,
)
from saccade.studies.sparse_token.models import vectorised_features
from saccade.studies.sparse_token.task import FeatureSample, SparseToken

Model = Literal["attention", "pooled", "vectorised"]
Loss = Literal["logistic", "square"]
MEASURED = (
    "train_loss", "train_error", "test_error", "w_norm", "w_query", "w_signal", "b",
    "gradient_norm")


def generator(key: Any) -> np.random.Generator:
    """A NumPy generator from a JAX key."""
    return np.random.default_rng(np.asarray(jax.random.key_data(key), np.uint32))


def tilted_query(dim: int, alignment: float, sharpness: float) -> jax.Array:
    """A query of norm `sharpness` with cosine `alignment` to the first axis, where the signal
    lies."""
    unit = jnp.zeros(dim).at[0].set(alignment).at[1].set(np.sqrt(max(0.0, 1 - alignment**2)))
    return sharpness * unit


def draw_features(task: SparseToken, key: Any, n: int, model: str, query: Any) -> FeatureSample:
    """n labelled features of one of the three models, both labels present (drawn again in the rare
    other case)."""
    for attempt in range(100):
        made = _draw(task, jax.random.fold_in(key, attempt), n, model, query)
        if abs(float(made.y.sum())) < n:
            return made
    raise ValueError("one label is too rare for this sample size")


def _draw(task: SparseToken, key: Any, n: int, model: str, query: Any) -> FeatureSample:
    if model == "vectorised":
        sample = task.sample(key, n)
        return FeatureSample(vectorised_features(sample.X), sample.y)
    if model == "pooled":
        return task.sample_pooled_features(key, n)
    return task.sample_attention_features(key, n, query)


def measure_fit(
    task: SparseToken, made: FeatureSample, fitted: ConvexFit, model: str, query: Any, key: Any,
    points: int,
) -> dict[str, float]:
    """The numbers a theory of the fitted classifier speaks of."""
    setting, direction = task.setting, np.asarray(task.direction)
    if model == "vectorised":
        token_signal = fitted.w.reshape(setting.length, -1) @ direction
        test = vectorised_test_error(
            setting, token_signal, float(np.linalg.norm(fitted.w)), fitted.b)
        along, signal = 0.0, token_signal.sum() / np.sqrt(setting.length)
    else:
        used = query if model == "attention" else jnp.zeros(direction.size)
        seen = seen_by_attention(fitted.w, fitted.b, used, direction)
        test = attention_test_error(setting, seen, generator(key), points)
        along, signal = seen.along, float(fitted.w @ direction)
    train = readout_error(made.features, made.y, fitted.w, fitted.b)
    norm = float(np.linalg.norm(fitted.w))
    values = (fitted.train_loss, train, test, norm, along, signal, fitted.b, fitted.gradient_norm)
    return dict(zip(MEASURED, map(float, values), strict=True))


def one_trial(
    task: SparseToken, key: Any, n: int, ridge: float, loss: str, model: str, query: Any,
    tolerance: float = 1e-9, points: int = 2000,
) -> dict[str, float]:
    """Draw, fit to a gradient norm of `tolerance`, measure; a fit that misses it is an error, not a
    number."""
    draw_key, test_key = jax.random.split(key)
    made = draw_features(task, draw_key, n, model, query)
    fitted = fit_readout(made.features, made.y, ridge, loss, tolerance)
    if fitted.status != "converged":
        raise ArithmeticError(
            f"the read-out was fitted only to a gradient norm of {fitted.gradient_norm:.2g}")
    return measure_fit(task, made, fitted, model, query, test_key, points)


def as_dataset(rows: list[list[dict[str, float]]], name: str, values: Any) -> xarray.Dataset:
    """Rows of trials, each a list of cases of measured numbers, as (trial, `name`) arrays."""
    data = {
        item: (("trial", name), np.array([[case[item] for case in row] for row in rows]))
        for item in rows[0][0]}
    return xarray.Dataset(data, {name: list(values)})


@experiment(
    "sparse-token.fitted",
    scales={"standard": {"dim": 400, "trials": 64}, "paper": {"dim": 1000, "trials": 64}})
def fitted(
    key: Any, *, model: Model = "attention", length: int = 10, informative: int = 1,
    positive_rate: float = 0.5, signal: float = 5.0, alignment: float = 0.8, sharpness: float = 1.0,
    samples_per_dim: tuple[float, ...] = (3.0,), ridge: float = 1e-2, loss: Loss = "logistic",
    dim: int = 150, trials: int = 64, test_points: int = 2000,
) -> xarray.Dataset:
    """Read-outs fitted to fresh features, trial after trial: training loss and error, test error,
    weights."""
    task = SparseToken.create(dim, length, informative, positive_rate, signal)
    query = tilted_query(dim, alignment, sharpness)
    keys = jax.random.split(key, (trials, len(samples_per_dim)))
    rows = [
        [
            one_trial(task, one, round(alpha * dim), ridge, loss, model, query, points=test_points)
            for one, alpha in zip(row, samples_per_dim, strict=True)]
        for row in keys]
    return as_dataset(rows, "samples_per_dim", samples_per_dim)
