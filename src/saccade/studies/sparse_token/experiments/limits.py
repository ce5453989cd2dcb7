"""Infinitely many samples, sampled: population least squares on what the classifiers see, and the
capacity formula on random draws."""

from typing import Any, NamedTuple

import jax
import numpy as np
import xarray
from scipy import optimize
from scipy.special import log_ndtr, ndtr, softmax

from saccade.lab.experiment import experiment
from saccade.studies.sparse_token.experiments.readouts import generator


class Draws(NamedTuple):
    """Plain draws of label, feature along the query, feature along the rest of the signal, and
    noise level."""

    y: np.ndarray
    along: np.ndarray
    across: np.ndarray
    spread: np.ndarray


def draw_seen(
    rng, n: int, length: int, informative: int, positive_rate: float, signal: float, rho: float,
    k: float,
) -> Draws:
    """(y, A, S, tau) of attention with alignment rho and sharpness k, from sampled tokens; the
    shares of labels are exact."""
    y = np.where(np.arange(n) < round(positive_rate * n), 1.0, -1.0)
    planted = signal * (y > 0)[:, None] * (np.arange(length) < informative)
    scores = rho * planted + rng.standard_normal((n, length))
    weights = softmax(k * scores, axis=1)
    across = np.sqrt(max(0.0, 1 - rho**2)) * (weights * planted).sum(1)
    return Draws(y, (weights * scores).sum(1), across, np.linalg.norm(weights, axis=1))


def least_squares_error(seen: Draws) -> float:
    """Error of least squares on (A, S + tau G, 1), G integrated: the limit of many samples without
    ridge."""
    design = np.stack([seen.along, seen.across, np.ones_like(seen.y)], 1)
    gram = design.T @ design / len(seen.y)
    gram[1, 1] += np.mean(seen.spread**2)
    query, across, bias = np.linalg.solve(gram + 1e-12 * np.eye(3), design.T @ seen.y / len(seen.y))
    mean = seen.y * (query * seen.along + across * seen.across + bias)
    deviation = seen.spread * abs(across)
    return float(
        np.mean(np.where(deviation > 1e-9, ndtr(-mean / np.maximum(deviation, 1e-9)), mean < 0)))


@experiment("sparse-token.population-limit", scales={"standard": {"samples": 40_000}})
def population_limit(
    key: Any, *, length: int = 10, informative: int = 1, positive_rate: float = 0.5,
    signal: float = 5.0, alignment: tuple[float, ...] = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4),
    sharpness: float = 2.0, samples: int = 8000, replicates: int = 32,
) -> xarray.Dataset:
    """Error of attention's least squares with infinitely many samples against the alignment, and of
    pooling, on sampled tokens."""
    setting = (length, informative, positive_rate, signal)
    rows, pooled = [], []
    for one in jax.random.split(key, replicates):
        rng = generator(one)
        rows.append([
            least_squares_error(draw_seen(rng, samples, *setting, rho, sharpness))
            for rho in alignment])
        flat = Draws(*draw_seen(rng, samples, *setting, 0.0, 0.0))
        pooled.append(least_squares_error(flat._replace(along=np.zeros_like(flat.y))))
    return xarray.Dataset(
        {
            "error": (("replicate", "alignment"), np.array(rows)),
            "pooled": ("replicate", np.array(pooled))},
        {"alignment": list(alignment)})


def sampled_capacity(seen: Draws) -> float:
    """n/d of the capacity formula with its expectation replaced by the draws (G integrated by E(G -
    t)_+^2 in closed form)."""

    def violation(x: np.ndarray) -> float:
        scale = np.sqrt(1 + x[1] ** 2)
        t = seen.y * (x[0] * seen.along + x[1] * seen.across + x[2]) / (seen.spread * scale)
        density = np.exp(-0.5 * t * t) / np.sqrt(2 * np.pi)
        below = np.exp(log_ndtr(-t))
        return float(scale**2 * np.mean(np.maximum((1 + t * t) * below - t * density, 0.0)))

    start = np.array([0.1, 0.1, 0.0])
    best = optimize.minimize(violation, start, method="BFGS", options={"gtol": 1e-7})
    return float(1 / best.fun)


@experiment("sparse-token.sampled-capacity", scales={"standard": {"samples": 40_000}})
def capacity_on_draws(
    key: Any, *, length: int = 10, informative: int = 1, positive_rate: float = 0.5,
    signal: float = 5.0, alignment: float = 0.9768, sharpness: float = 1.404, samples: int = 8000,
    replicates: int = 32,
) -> xarray.Dataset:
    """Capacity of attention, pooling and the vectorised classifier (L times pooling), the
    expectation taken over sampled tokens."""
    setting = (length, informative, positive_rate, signal)
    rows = []
    for one in jax.random.split(key, replicates):
        rng = generator(one)
        attention = sampled_capacity(draw_seen(rng, samples, *setting, alignment, sharpness))
        flat = draw_seen(rng, samples, *setting, 0.0, 0.0)
        pooled = sampled_capacity(flat._replace(along=np.zeros_like(flat.y)))
        rows.append([attention, pooled, length * pooled])
    return xarray.Dataset(
        {"samples_per_dim": (("replicate", "model"), np.array(rows))},
        {"model": ["attention", "pooled", "vectorised"]})
