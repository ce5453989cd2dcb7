"""Capacity measured: how many samples of a stream stay linearly separable, by linear programmes;
and its formula minimised directly."""

from typing import Any

import jax
import numpy as np
import xarray
from scipy import integrate, optimize

from saccade.convex import is_separable
from saccade.lab.experiment import experiment
from saccade.studies.sparse_token.experiments.readouts import Model, _draw, tilted_query
from saccade.studies.sparse_token.task import FeatureSample, SparseToken


def separable_prefix(made: FeatureSample, dim: int) -> int:
    """The largest n for which the first n samples can be separated, by bisection (separability can
    only be lost as samples join)."""
    features, y = np.asarray(made.features), np.asarray(made.y)
    low, high = min(dim, len(y)), len(y) + 1  # d samples in general position are always separable
    while high - low > 1:
        middle = (low + high) // 2
        alone = abs(y[:middle].sum()) == middle
        low, high = (
            (middle, high) if alone or is_separable(features[:middle], y[:middle])
            else (low, middle))
    return low


@experiment(
    "sparse-token.separability",
    scales={"standard": {"dim": 80, "trials": 64}, "paper": {"dim": 200, "trials": 50}})
def separability(
    key: Any, *, model: Model = "attention", length: int = 10, informative: int = 1,
    positive_rate: float = 0.5, signal: float = 3.0, alignment: float = 1.0, sharpness: float = 1.0,
    most_per_dim: float = 8.0, dim: int = 40, trials: int = 64,
) -> xarray.Dataset:
    """Samples per dimension up to which a stream of labelled features stays separable, trial after
    trial.

    Its median is where the chance of separability crosses one half. One parameter more than
    dimensions (the bias) is counted as one more dimension, which removes the largest finite-size
    error: without signal the crossing is then at exactly 2.
    """
    task = SparseToken.create(dim, length, informative, positive_rate, signal)
    query = tilted_query(dim, alignment, sharpness)
    entries = dim * (length if model == "vectorised" else 1)
    longest = round(most_per_dim * dim)
    counts = [
        separable_prefix(_draw(task, one, longest, model, query), entries)
        for one in jax.random.split(key, trials)]
    per_dim = np.array(counts) / (entries + 1) * (entries / dim)
    return xarray.Dataset(
        {"samples_per_dim": ("trial", per_dim), "cut_off": ("trial", np.array(counts) == longest)})


def squared_shortfall(t: np.ndarray) -> np.ndarray:
    """E (G - t)_+^2 by numerical integration of its definition (no closed form)."""
    values = [
        integrate.quad(lambda g, s=s: (g - s) ** 2 * np.exp(-g * g / 2), s, max(s, 0.0) + 12)[0]
        for s in np.atleast_1d(t)]
    return np.array(values) / np.sqrt(2 * np.pi)


@experiment("sparse-token.token-capacity")
def token_capacity(
    key: Any, *, length: int = 4, positive_rates: tuple[float, ...] = (0.5, 0.2),
    signals: tuple[float, ...] = (0.0, 2.0, 4.0),
) -> xarray.Dataset:
    """Capacity of the vectorised classifier with a weight of its own for every token (R = 1), by
    convex minimisation from many sides."""
    values = [
        [_token_capacity(length, rate, signal) for signal in signals] for rate in positive_rates]
    return xarray.Dataset(
        {"samples_per_dim": (("positive_rate", "signal"), np.array(values))},
        {"positive_rate": list(positive_rates), "signal": list(signals)})


def _token_capacity(length: int, positive_rate: float, signal: float) -> float:
    """1/alpha = min over (m, b) of E[(1 + |m|^2) Q(y (theta m_v + b)/sqrt(1 + |m|^2))]/L, v the
    informative token."""

    def violation(x: np.ndarray) -> float:
        scale = np.sqrt(1 + x[:-1] @ x[:-1])
        positive = squared_shortfall((signal * x[:-1] + x[-1]) / scale).mean()
        negative = squared_shortfall(np.array([-x[-1] / scale]))[0]
        return float(scale**2 * (positive_rate * positive + (1 - positive_rate) * negative))

    first = np.append(np.linspace(0.1, 0.5, length), 0.0)
    best = optimize.minimize(violation, first, method="BFGS", options={"gtol": 1e-8})
    return float(length / best.fun)
