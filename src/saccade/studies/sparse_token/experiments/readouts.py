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

import numpy as np
import xarray
from numpy.random import Generator, SeedSequence, default_rng
from scipy.special import ndtr

from saccade.convex import ConvexFit, fit_readout, readout_error
from saccade.lab.experiment import experiment
from saccade.studies.sparse_token.experiments import draws
from saccade.studies.sparse_token.experiments.draws import FeatureSample
from saccade.studies.sparse_token.models import vectorised_features
from saccade.studies.sparse_token.task import SparseToken, SparseTokenSetting

Model = Literal["attention", "pooled", "vectorised"]
Loss = Literal["logistic", "square"]
MEASURED = (
    "train_loss", "train_error", "test_error", "w_norm", "w_query", "w_signal", "b",
    "gradient_norm")


def table(
    names: Sequence[str], values: Any, dims: tuple[str, ...],
    coordinates: Mapping[str, Sequence[Any]] | None = None,
) -> xarray.Dataset:
    """A dataset of variables over `dims`, named along the last axis of `values`."""
    array = np.asarray(values, float)
    columns = {name: (dims, array[..., place]) for place, name in enumerate(names)}
    return xarray.Dataset(
        columns, {name: list(points) for name, points in (coordinates or {}).items()})


def tilted_query(dim: int, alignment: float, sharpness: float) -> np.ndarray:
    """A query of norm `sharpness` with cosine `alignment` to the first axis, that of the signal."""
    query = np.zeros(dim)
    query[:2] = alignment, np.sqrt(max(0.0, 1 - alignment**2))
    return sharpness * query


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
    setting: SparseTokenSetting, view: View, rng: Generator, points: int = 2000
) -> float:
    """Error on fresh samples: `points` draws of the token scores a class, the rest integrated."""
    planted = setting.signal * (np.arange(setting.length) < setting.informative)
    negative, positive = rng.standard_normal((2, points, setting.length))
    positive += view.alignment * planted
    caught, false = chances_above(view, positive, planted), chances_above(view, negative, None)
    rate = setting.positive_rate
    return float(rate * (1 - caught.mean()) + (1 - rate) * false.mean())


def chances_above(view: View, scores: np.ndarray, signal: np.ndarray | None) -> np.ndarray:
    """P(margin > 0) given the token scores, sample by sample."""
    weights = np.exp(view.sharpness * (scores - scores.max(1, keepdims=True)))
    total = weights.sum(1)
    mean = view.along * np.einsum("nl,nl->n", weights, scores)
    mean += view.b * total if signal is None else view.across * (weights @ signal) + view.b * total
    deviation = np.sqrt(np.einsum("nl,nl->n", weights, weights)) * view.rest
    return ndtr(mean / np.maximum(deviation, 1e-300))


def pooled_test_error(setting: SparseTokenSetting, signal: float, norm: float, b: float) -> float:
    """Error of pooling with <w, xi> = `signal`, |w| = `norm`: nothing is left to draw (exact)."""
    mean = setting.signal * setting.informative / setting.length * signal
    deviation, rate = norm / np.sqrt(setting.length), setting.positive_rate
    return float(rate * ndtr(-(mean + b) / deviation) + (1 - rate) * ndtr(b / deviation))


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
    task: SparseToken, fitted: ConvexFit, model: str, query: Any, rng: Generator, points: int = 2000
) -> float:
    """Error of a fitted read-out of any of the three models on fresh samples."""
    if model == "attention":
        view = view_of_attention(fitted.w, fitted.b, query, task.direction)
        return attention_test_error(task.setting, view, rng, points)
    signals = fitted.w.reshape(-1, task.dim) @ np.asarray(task.direction)
    norm = float(np.linalg.norm(fitted.w))
    if model == "pooled":
        return pooled_test_error(task.setting, float(signals[0]), norm, fitted.b)
    return vectorised_test_error(task.setting, signals, norm, fitted.b, task.location_probabilities)


def draw(task: SparseToken, rng: Generator, n: int, model: str, query: Any) -> FeatureSample:
    """n labelled features of one of the three models."""
    if model == "vectorised":
        sample = draws.draw_tokens(task, rng, n)
        return FeatureSample(vectorised_features(sample.X), sample.y)
    if model == "pooled":
        return draws.draw_pooled_features(task, rng, n)
    return draws.draw_attention_features(task, rng, n, query)


def draw_both_labels(
    task: SparseToken, rng: Generator, n: int, model: str, query: Any
) -> FeatureSample:
    """The same with both labels present (drawn again in the rare other case)."""
    for _ in range(100):
        sample = draw(task, rng, n, model, query)
        if abs(sample.y.sum()) < n:
            return sample
    raise ValueError("one label is too rare for this sample size")


def one_trial(
    task: SparseToken, seed: SeedSequence, n: int, ridge: float, loss: str, model: str, query: Any,
    tolerance: float = 1e-9, points: int = 2000,
) -> list[float]:
    """Draw, fit to a gradient norm of `tolerance` and measure (`MEASURED`): the numbers a theory of
    the fitted classifier speaks of. A fit that misses it is an error, not a number."""
    rng = default_rng(seed)
    sample = draw_both_labels(task, rng, n, model, query)
    fitted = fit_readout(sample.features, sample.y, ridge, loss, tolerance)
    if fitted.status != "converged":
        raise ArithmeticError(
            f"the read-out was fitted only to a gradient norm of {fitted.gradient_norm:.2g}")
    token_signal = fitted.w.reshape(-1, task.dim) @ np.asarray(task.direction)
    along = fitted.w @ query / np.linalg.norm(query) if model == "attention" else 0.0
    return [
        fitted.train_loss, readout_error(sample.features, sample.y, fitted.w, fitted.b),
        readout_test_error(task, fitted, model, query, rng, points),
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
    rows = [
        [
            one_trial(task, one, round(alpha * dim), ridge, loss, model, query, points=test_points)
            for one, alpha in zip(seed.spawn(len(samples_per_dim)), samples_per_dim, strict=True)]
        for seed in draws.seeds_of(key, trials)]
    return table(MEASURED, rows, ("trial", "samples_per_dim"), {"samples_per_dim": samples_per_dim})
