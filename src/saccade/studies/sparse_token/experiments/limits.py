"""Capacity and infinitely many samples, measured: how many samples can be separated, the
capacity formula minimised directly and on draws, population least squares on what is seen."""

from typing import Any, NamedTuple

import jax
import numpy as np
import xarray
from numpy.random import default_rng
from scipy import integrate, optimize
from scipy.special import ndtr, softmax

from saccade.convex import is_separable
from saccade.lab.experiment import experiment
from saccade.studies.sparse_token.experiments.draws import FeatureSample, seeds_of
from saccade.studies.sparse_token.experiments.readouts import Model, draw, tilted_query
from saccade.studies.sparse_token.task import MODELS, SparseToken


class Draws(NamedTuple):
    """Plain draws of label, feature along the query and the rest of the signal, and noise level."""

    y: np.ndarray
    along: np.ndarray
    across: np.ndarray
    spread: np.ndarray


def draw_seen(
    rng, n: int, length: int, informative: int, positive_rate: float, signal: float, rho: float,
    k: float,
) -> Draws:
    """(y, A, S, tau) of attention, from sampled tokens; the shares of labels are exact."""
    y = np.where(np.arange(n) < round(positive_rate * n), 1.0, -1.0)
    planted = signal * (y > 0)[:, None] * (np.arange(length) < informative)
    scores = rho * planted + rng.standard_normal((n, length))
    weights = softmax(k * scores, axis=1)
    across = np.sqrt(max(0.0, 1 - rho**2)) * (weights * planted).sum(1)
    return Draws(y, (weights * scores).sum(1), across, np.linalg.norm(weights, axis=1))


def draw_pooled(rng, n: int, *setting: Any) -> Draws:
    """The same of pooling, which has no query to look along."""
    flat = draw_seen(rng, n, *setting, rho=0.0, k=0.0)
    return flat._replace(along=np.zeros_like(flat.y))


def least_squares_error(draws: Draws) -> float:
    """Error of least squares on (A, S + tau G, 1), G integrated: many samples without ridge."""
    design = np.stack([draws.along, draws.across, np.ones_like(draws.y)], 1)
    gram = design.T @ design / len(draws.y)
    gram[1, 1] += np.mean(draws.spread**2)
    moments = design.T @ draws.y / len(draws.y)
    query, across, bias = np.linalg.solve(gram + 1e-12 * np.eye(3), moments)
    mean = draws.y * (query * draws.along + across * draws.across + bias)
    deviation = draws.spread * abs(across)
    return float(
        np.mean(np.where(deviation > 1e-9, ndtr(-mean / np.maximum(deviation, 1e-9)), mean < 0)))


@experiment("sparse-token.population-limit", scales={"standard": {"samples": 40_000}})
def population_limit(
    key: Any, *, length: int = 10, informative: int = 1, positive_rate: float = 0.5,
    signal: float = 5.0, alignment: tuple[float, ...] = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4),
    sharpness: float = 2.0, samples: int = 8000, replicates: int = 32,
) -> xarray.Dataset:
    """Error of attention, against its alignment, and of pooling with infinitely many samples."""
    setting = (length, informative, positive_rate, signal)
    rows, pooled = [], []
    for seed in seeds_of(key, replicates):
        rng = default_rng(seed)
        rows.append([
            least_squares_error(draw_seen(rng, samples, *setting, rho, sharpness))
            for rho in alignment])
        pooled.append(least_squares_error(draw_pooled(rng, samples, *setting)))
    return xarray.Dataset(
        {
            "error": (("replicate", "alignment"), np.array(rows)),
            "pooled": ("replicate", np.array(pooled))},
        {"alignment": list(alignment)})


def sampled_capacity(draws: Draws) -> float:
    """n/d of the capacity formula, expected over the draws (E(G - t)_+^2 in closed form)."""

    rows = np.stack([draws.along, draws.across, np.ones_like(draws.y)])
    rows *= draws.y / draws.spread / len(draws.y)

    def violation(x: np.ndarray) -> tuple[float, np.ndarray]:
        """The formula and its gradient."""
        square = 1 + x[1] ** 2
        t = (x @ rows) * (len(draws.y) / np.sqrt(square))
        density, below = np.exp(-0.5 * t * t) / np.sqrt(2 * np.pi), ndtr(-t)
        excess = density - t * below  # E(G - t)_+
        mean = np.mean(np.maximum(below - t * excess, 0.0))
        gradient = -2 * np.sqrt(square) * (rows @ excess)
        gradient[1] += 2 * x[1] * (mean + np.mean(t * excess))
        return float(square * mean), gradient

    start = np.array([0.1, 0.1, 0.0])
    best = optimize.minimize(violation, start, jac=True, method="BFGS", options={"gtol": 1e-7})
    return float(1 / best.fun)


@experiment("sparse-token.sampled-capacity", scales={"standard": {"samples": 40_000}})
def capacity_on_draws(
    key: Any, *, length: int = 10, informative: int = 1, positive_rate: float = 0.5,
    signal: float = 5.0, alignment: float = 0.9768, sharpness: float = 1.404, samples: int = 8000,
    replicates: int = 32,
) -> xarray.Dataset:
    """Capacity of the three models (vectorised: L times pooling), averaged over sampled tokens."""
    setting = (length, informative, positive_rate, signal)
    rows = []
    for seed in seeds_of(key, replicates):
        rng = default_rng(seed)
        attention = sampled_capacity(draw_seen(rng, samples, *setting, alignment, sharpness))
        pooled = sampled_capacity(draw_pooled(rng, samples, *setting))
        rows.append([attention, pooled, length * pooled])
    return xarray.Dataset(
        {"samples_per_dim": (("replicate", "model"), np.array(rows))}, {"model": list(MODELS)})


def separable_prefix(sample: FeatureSample, dim: int) -> int:
    """The longest prefix that is separable, by bisection (once lost, separability stays lost)."""
    features, y = sample
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
        separable_prefix(draw(task, default_rng(seed), longest, model, query), entries)
        for seed in seeds_of(key, trials)]
    per_dim = np.array(counts) / (entries + 1) * (entries / dim)
    return xarray.Dataset(
        {"samples_per_dim": ("trial", per_dim), "cut_off": ("trial", np.array(counts) == longest)})


@experiment("sparse-token.separability-ratio")
def separability_ratio(
    key: Any, *, length: int = 4, pooled_length: int = 4, positive_rate: float = 0.4,
    signal: float = 3.0, entries: int = 32, trials: int = 64,
) -> xarray.Dataset:
    """Samples per dimension up to which streams stay separable (R = 1) for the vectorised and for
    the pooled classifier with equally many weights, `entries`, trial by trial."""
    rows = []
    for model, dim, tokens in (
        ("vectorised", entries // length, length), ("pooled", entries, pooled_length),
    ):
        task = SparseToken.create(dim, tokens, 1, positive_rate, signal)
        counts = [
            separable_prefix(draw(task, default_rng(seed), 6 * entries, model, None), entries)
            for seed in seeds_of(jax.random.fold_in(key, len(rows)), trials)]
        rows.append(np.array(counts) / dim)
    return xarray.Dataset(
        {"samples_per_dim": (("model", "trial"), np.array(rows))},
        {"model": ["vectorised", "pooled"]})


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
    """Capacity of the vectorised model with every token's own weight (R = 1), by minimisation."""
    values = [
        [_token_capacity(length, rate, signal) for signal in signals] for rate in positive_rates]
    return xarray.Dataset(
        {"samples_per_dim": (("positive_rate", "signal"), np.array(values))},
        {"positive_rate": list(positive_rates), "signal": list(signals)})


def _token_capacity(length: int, positive_rate: float, signal: float) -> float:
    """1/alpha = min over (m, b) of E[(1 + |m|^2) Q(y (theta m_v + b)/sqrt(1 + |m|^2))]/L, v the
    informative token."""

    def violation(x: np.ndarray) -> float:
        size = np.sqrt(1 + x[:-1] @ x[:-1])
        positive = squared_shortfall((signal * x[:-1] + x[-1]) / size).mean()
        negative = squared_shortfall(np.array([-x[-1] / size]))[0]
        return float(size**2 * (positive_rate * positive + (1 - positive_rate) * negative))

    first = np.append(np.linspace(0.1, 0.5, length), 0.0)
    best = optimize.minimize(violation, first, method="BFGS", options={"gtol": 1e-8})
    return float(length / best.fun)
