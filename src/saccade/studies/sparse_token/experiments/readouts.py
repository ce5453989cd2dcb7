"""Fitted read-outs: attention with a given query, mean pooling and the vectorised classifier, on
samples of their exact law.

Test errors need no test samples of dimension d: only what the classifier sees of the tokens is
drawn. With scores t = X q/|q| and weights s = softmax(k t), the margin of attention given t is
Gaussian with mean <w, q^> s.t + <w, xi - rho q^> theta s.v + b and deviation |s| |w - <w, q^> q^|.
The margin of the vectorised classifier given the places v is Gaussian with mean theta sum_{l in v}
<W_l, xi> + b and deviation |W|. Only the remaining low-dimensional average is sampled or
enumerated.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray
from scipy.special import ndtr, softmax

from saccade.convex import ConvexFit, fit_readout, readout_error
from saccade.lab.experiment import experiment
from saccade.studies.sparse_token.models import vectorised_features
from saccade.studies.sparse_token.task import FeatureSample, SparseToken, SparseTokenSetting

Model = Literal["attention", "pooled", "vectorised"]
Loss = Literal["logistic", "square"]
MEASURED = (
    "train_loss", "train_error", "test_error", "w_norm", "w_query", "w_signal", "b",
    "gradient_norm")


def generator(key: Any) -> np.random.Generator:
    """A NumPy generator from a JAX key."""
    return np.random.default_rng(np.asarray(jax.random.key_data(key), np.uint32))


def table(
    names: Sequence[str], values: Any, dims: tuple[str, ...],
    coordinates: Mapping[str, Sequence[Any]] | None = None,
) -> xarray.Dataset:
    """A dataset of variables over `dims`, named along the last axis of `values`."""
    array = np.asarray(values, float)
    columns = {name: (dims, array[..., place]) for place, name in enumerate(names)}
    return xarray.Dataset(
        columns, {name: list(points) for name, points in (coordinates or {}).items()})


def tilted_query(dim: int, alignment: float, sharpness: float) -> jax.Array:
    """A query of norm `sharpness` with cosine `alignment` to the first axis, that of the signal."""
    unit = jnp.zeros(dim).at[0].set(alignment).at[1].set(np.sqrt(max(0.0, 1 - alignment**2)))
    return sharpness * unit


class View(NamedTuple):
    """What the test error of an attention classifier depends on."""

    along: float  # <w, q^>
    across: float  # <w, xi - rho q^>
    rest: float  # |w - <w, q^> q^|
    b: float
    alignment: float  # rho = <q^, xi>
    sharpness: float


def view_of_attention(w, b: float, query, direction, beta: float = 1.0) -> View:
    """Overlaps of an attention classifier; a zero query (pooling) gets any direction."""
    w, query, direction = (np.asarray(vector, float) for vector in (w, query, direction))
    norm = np.linalg.norm(query)
    unit = query / norm if norm > 0 else np.eye(len(w))[-1]
    rho, along = float(unit @ direction), float(unit @ w)
    rest = float(np.sqrt(max(0.0, w @ w - along**2)))
    return View(along, float(w @ direction - along * rho), rest, float(b), rho, float(beta * norm))


def attention_test_error(
    setting: SparseTokenSetting, view: View, rng: np.random.Generator, points: int = 2000
) -> float:
    """Error on fresh samples: `points` draws of the token scores a class, the rest integrated."""
    noise = rng.standard_normal((2, points, setting.length))
    planted = setting.signal * (np.arange(setting.length) < setting.informative)
    wrong = []
    for scores, signal, label in (
        (noise[0] + view.alignment * planted, planted, 1.0), (noise[1], 0 * planted, -1.0),
    ):
        weights = softmax(view.sharpness * scores, axis=1)
        mean = view.along * (weights * scores).sum(1) + view.across * (weights @ signal) + view.b
        deviation = np.maximum(np.linalg.norm(weights, axis=1) * view.rest, 1e-300)
        wrong.append(ndtr(-label * mean / deviation).mean())
    return float(setting.positive_rate * wrong[0] + (1 - setting.positive_rate) * wrong[1])


def vectorised_test_error(
    setting: SparseTokenSetting, token_signal, norm: float, b: float, chances=None
) -> float:
    """Error of the vectorised classifier with <W_l, xi> = `token_signal`, every subset of places
    enumerated (exact).

    `chances` are the subsets' probabilities in lexicographic order (with one informative token: of
    the places); uniform if not given.
    """
    count = comb(setting.length, setting.informative)
    if count > 100_000:
        raise ValueError(f"{count} subsets of places are too many to enumerate")
    subsets = list(combinations(range(setting.length), setting.informative))
    sums = np.asarray(token_signal, float)[np.array(subsets)].sum(1)
    missed = np.average(ndtr(-(setting.signal * sums + b) / norm), weights=chances)
    return float(setting.positive_rate * missed + (1 - setting.positive_rate) * ndtr(b / norm))


def readout_test_error(
    task: SparseToken, fitted: ConvexFit, model: str, query: Any, rng: np.random.Generator,
    points: int = 2000,
) -> float:
    """Error of a fitted read-out of any of the three models on fresh samples."""
    if model == "vectorised":
        token_signal = fitted.w.reshape(task.length, -1) @ np.asarray(task.direction)
        norm = float(np.linalg.norm(fitted.w))
        chances = task.location_probabilities
        return vectorised_test_error(task.setting, token_signal, norm, fitted.b, chances)
    used = query if model == "attention" else jnp.zeros(task.dim)
    view = view_of_attention(fitted.w, fitted.b, used, task.direction)
    return attention_test_error(task.setting, view, rng, points)


def draw(task: SparseToken, key: Any, n: int, model: str, query: Any) -> FeatureSample:
    """n labelled features of one of the three models."""
    if model == "vectorised":
        sample = task.sample(key, n)
        return FeatureSample(vectorised_features(sample.X), sample.y)
    if model == "pooled":
        return task.sample_pooled_features(key, n)
    return task.sample_attention_features(key, n, query)


def draw_both_labels(task: SparseToken, key: Any, n: int, model: str, query: Any) -> FeatureSample:
    """The same with both labels present (drawn again in the rare other case)."""
    for attempt in range(100):
        sample = draw(task, jax.random.fold_in(key, attempt), n, model, query)
        if abs(float(sample.y.sum())) < n:
            return sample
    raise ValueError("one label is too rare for this sample size")


def one_trial(
    task: SparseToken, key: Any, n: int, ridge: float, loss: str, model: str, query: Any,
    tolerance: float = 1e-9, points: int = 2000,
) -> list[float]:
    """Draw, fit to a gradient norm of `tolerance` and measure (`MEASURED`): the numbers a theory of
    the fitted classifier speaks of. A fit that misses it is an error, not a number."""
    draw_key, test_key = jax.random.split(key)
    sample = draw_both_labels(task, draw_key, n, model, query)
    fitted = fit_readout(sample.features, sample.y, ridge, loss, tolerance)
    if fitted.status != "converged":
        raise ArithmeticError(
            f"the read-out was fitted only to a gradient norm of {fitted.gradient_norm:.2g}")
    token_signal = fitted.w.reshape(-1, task.dim) @ np.asarray(task.direction)
    along = fitted.w @ np.asarray(query / jnp.linalg.norm(query)) if model == "attention" else 0.0
    return [
        fitted.train_loss, readout_error(sample.features, sample.y, fitted.w, fitted.b),
        readout_test_error(task, fitted, model, query, generator(test_key), points),
        float(np.linalg.norm(fitted.w)), float(along),
        float(token_signal.sum() / np.sqrt(len(token_signal))), fitted.b, fitted.gradient_norm]


@experiment(
    "sparse-token.fitted",
    scales={"standard": {"dim": 400, "trials": 64}, "paper": {"dim": 1000, "trials": 64}})
def fitted(
    key: Any, *, model: Model = "attention", length: int = 10, informative: int = 1,
    positive_rate: float = 0.5, signal: float = 5.0, alignment: float = 0.8, sharpness: float = 1.0,
    samples_per_dim: tuple[float, ...] = (3.0,), ridge: float = 1e-2, loss: Loss = "logistic",
    dim: int = 150, trials: int = 64, test_points: int = 2000,
) -> xarray.Dataset:
    """Read-outs fitted to fresh features: training loss and error, test error, weights."""
    task = SparseToken.create(dim, length, informative, positive_rate, signal)
    query = tilted_query(dim, alignment, sharpness)
    keys = jax.random.split(key, (trials, len(samples_per_dim)))
    rows = [
        [
            one_trial(task, one, round(alpha * dim), ridge, loss, model, query, points=test_points)
            for one, alpha in zip(row, samples_per_dim, strict=True)]
        for row in keys]
    return table(MEASURED, rows, ("trial", "samples_per_dim"), {"samples_per_dim": samples_per_dim})
