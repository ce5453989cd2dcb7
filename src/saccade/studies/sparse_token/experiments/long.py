"""Long sequences, by samples: softmax attention that knows the direction, a full-dimensional run
that checks it, and the signal a fitted vectorised classifier needs.

A query along the signal sees a token only through its projection u, so only projections are drawn,
and of the noise tokens only two sums a sharpness are kept: sum e^{ku} and sum u e^{ku}. Sequences
of 10^4 tokens come in pieces of 2^20 numbers.
"""

from dataclasses import replace
from math import comb
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np
import xarray
from numpy.random import Generator, default_rng
from scipy.optimize import root_scalar
from scipy.special import expit, ndtr

from saccade.convex import fit_readout
from saccade.lab.experiment import experiment
from saccade.studies.sparse_token.experiments import readouts
from saccade.studies.sparse_token.experiments.draws import draw_tokens, seeds_of
from saccade.studies.sparse_token.experiments.limits import draw_seen
from saccade.studies.sparse_token.experiments.oracle import (
    THRESHOLDS,
    Growth,
    signal_at,
    threshold_errors,
)
from saccade.studies.sparse_token.models import attention_map
from saccade.studies.sparse_token.task import SparseToken

Law = tuple[Growth, float, bool, float]
"""Growth and factor of the signal; does the sharpness grow like sqrt(2 log L)?, and its factor."""
LAWS: tuple[Law, ...] = (
    ("times-root-log", 1.25, True, 0.3), ("times-root-log", 1.25, True, 0.6),
    ("times-root-log", 1.25, True, 1.5), ("log", 0.75, False, 1.6),
    ("constant-snr", 0.3, False, 0.7))
PIECE = 2**20


def noise_sums(rng: Generator, n: int, count: int, sharpness: np.ndarray) -> np.ndarray:
    """log sum e^{kg} and the average of g under e^{kg}, [2, k, sample], over `count` noise tokens
    of n samples."""
    sums, rows = np.empty((2, len(sharpness), n)), max(1, PIECE // count)
    for start in range(0, n, rows):
        noise = rng.standard_normal((min(rows, n - start), count), np.float32)
        for place, k in enumerate(sharpness):
            weights = np.exp(np.float32(k) * noise)
            total, tilted = weights.sum(1), np.einsum("nl,nl->n", weights, noise)
            sums[:, place, start : start + rows] = np.log(total), tilted / total
    return sums


def joined(noise: np.ndarray, tokens: np.ndarray, k: float) -> tuple[np.ndarray, np.ndarray]:
    """Log odds of `tokens` [R, draw, sample] against the noise sums of every sample, and the
    softmax average of both."""
    top = tokens.max(0)
    weights = np.exp(k * (tokens - top))
    total = weights.sum(0)
    log_odds, seen = k * top + np.log(total) - noise[0], (weights * tokens).sum(0) / total
    return log_odds, noise[1] + expit(log_odds) * (seen - noise[1])


def looked_at(
    noise: np.ndarray, plain: np.ndarray, signal: float, k: float, positive_rate: float
) -> np.ndarray:
    """Mean log odds and mean share of the informative tokens, then the error of every threshold:
    the same noise serves a positive and a negative sample."""
    log_odds, high = joined(noise, plain + signal, k)
    statistic = np.append(high, joined(noise, plain, k)[1])
    errors = threshold_errors(
        statistic, np.arange(statistic.size) < high.size, positive_rate, THRESHOLDS)
    return np.array([log_odds.mean(), expit(log_odds).mean(), *errors])


@experiment(
    "sparse-token.long-sequences", scales={"standard": {"samples": 4000, "tokens": 10_000_000}})
def long_sequences(
    key: Any, *, lengths: tuple[int, ...] = (100, 1000, 10_000), laws: tuple[Law, ...] = LAWS,
    informative: int = 2, positive_rate: float = 0.3, samples: int = 1000, tokens: int = 300_000,
    draws: int = 4, replicates: int = 32,
) -> xarray.Dataset:
    """Softmax attention along the signal on sampled tokens, for laws of signal and sharpness in the
    length: log odds and share of the informative tokens, and errors of thresholds.

    A replicate draws noise of `samples` samples, fewer where they would have more than `tokens`
    tokens, and to each `draws` sets of informative tokens."""
    signals = np.array(
        [[signal_at(length, growth, factor) for length in lengths] for growth, factor, _, _ in laws]
    )
    sharpness = np.array([
        [factor * (signal_at(length, "root-log", 0.0) if grows else 1.0) for length in lengths]
        for _, _, grows, factor in laws])
    found = np.empty((replicates, len(laws), len(lengths), 2 + len(THRESHOLDS)))
    for seed, cells in zip(seeds_of(key, replicates), found, strict=True):
        rng = default_rng(seed)
        for column, length in enumerate(lengths):
            n = min(samples, max(1, tokens // length))
            noise = noise_sums(rng, n, length - informative, sharpness[:, column])
            plain = rng.standard_normal((informative, draws, n))
            for row, (signal, k) in enumerate(zip(signals, sharpness, strict=True)):
                cells[row, column] = looked_at(
                    noise[:, row], plain, signal[column], k[column], positive_rate)
    dims = ("replicate", "law", "length")
    return xarray.Dataset(
        {
            "log_odds": (dims, found[..., 0]), "share": (dims, found[..., 1]),
            "error": ((*dims, "threshold"), found[..., 2:]), "signal": (("law", "length"), signals),
            "sharpness": (("law", "length"), sharpness)},
        {"length": list(lengths), "threshold": np.array(THRESHOLDS)})


@experiment("sparse-token.streamed-tokens", scales={"standard": {"length": 10_000}})
def streamed_tokens(
    key: Any, *, length: int = 500, informative: int = 2, positive_rate: float = 0.4,
    signal: float = 5.0, alignment: float = 0.8, sharpness: float = 2.5, across: float = 0.6,
    b: float = -3.2, dim: int = 4, samples: int = 128, replicates: int = 32,
    told_alignment: float | None = None,
) -> xarray.Dataset:
    """Errors and shares of one attention classifier on whole tokens, a few samples in memory at a
    time, and from projections alone (which may be told another alignment).

    The read-out is w = q/|q| + across (xi - rho q/|q|) + rest of norm 1/2."""
    task = SparseToken.create(dim, length, informative, positive_rate, signal)
    query, told = readouts.tilted_query(dim, alignment, sharpness), told_alignment or alignment
    unit, short = query / sharpness, jnp.asarray(query, jnp.float32)
    w = unit + across * (np.asarray(task.direction) - alignment * unit) + 0.5 * np.eye(dim)[-1]
    rest = float(np.hypot(0.5, across * np.sqrt(1 - told**2)))
    rows = []
    for seed in seeds_of(key, replicates):
        rng = default_rng(seed)
        X, y, where = draw_tokens(task, rng, samples, np.float32)
        weights = np.asarray(attention_map(X, short))
        margin = np.einsum("nl,nl->n", weights, X @ w.astype(np.float32)) + b
        seen = draw_seen(rng, samples, length, informative, positive_rate, signal, told, sharpness)
        # across xi - rho q has norm sqrt(1 - rho^2), and so has what `seen` calls across
        mean = seen.along + across * np.sqrt(1 - told**2) * seen.across + b
        rows.append([
            _weighted(y, y * margin < 0, positive_rate),
            _weighted(seen.y, ndtr(-seen.y * mean / (seen.spread * rest)), positive_rate),
            (weights * where)[y > 0].sum(1).mean(),
            seen.across[seen.y > 0].mean() / signal / np.sqrt(1 - told**2)])
    return readouts.table(
        ("full_error", "seen_error", "full_share", "seen_share"), rows, ("replicate",))


def _weighted(y: np.ndarray, wrong: np.ndarray, rate: float) -> float:
    """The error with the two labels at their true rates."""
    return float(rate * wrong[y > 0].mean() + (1 - rate) * wrong[y < 0].mean())


@experiment(
    "sparse-token.vectorised-need",
    scales={"standard": {"lengths": (4, 16, 64, 128), "entries": 512}})
def vectorised_need(
    key: Any, *, lengths: tuple[int, ...] = (4, 12, 32), places: Literal["any", "first"] = "any",
    informative: int = 2, positive_rate: float = 0.4, target_error: float = 0.2,
    samples_per_weight: float = 4.0, ridge: float = 0.3, entries: int = 96, replicates: int = 32,
) -> xarray.Dataset:
    """The signal at which a vectorised classifier, fitted by least squares to samples, has the
    target error on fresh ones: equally many weights and samples at every length. At `places`
    "first" the informative tokens stand still."""
    n, rows = round(samples_per_weight * entries), []
    for seed in seeds_of(key, replicates):
        row = []
        for one, length in zip(seed.spawn(len(lengths)), lengths, strict=True):
            masks = None if places == "any" else np.arange(length)[None] < informative
            task = SparseToken.create(
                entries // length, length, informative, positive_rate, 1.0, None, masks)
            row.append(_needed(task, default_rng(one), n, ridge, target_error))
        rows.append(row)
    return xarray.Dataset(
        {"signal": (("replicate", "length"), np.array(rows))}, {"length": list(lengths)})


def _needed(task: SparseToken, rng: Generator, n: int, ridge: float, target_error: float) -> float:
    """Where the error passes the target, on the same labels, places and noise at every signal."""
    X, y, where = draw_tokens(task, rng, n)
    planted = np.einsum("nl,d->nld", where & (y > 0)[:, None], np.asarray(task.direction))
    noise, planted = (item.reshape(n, -1) for item in (X - planted, planted))
    subsets = comb(task.length, task.setting.informative)
    chances = None if task.location_masks is None else np.eye(1, subsets)[0]

    def excess(log_signal: float) -> float:
        fitted = fit_readout(noise + np.exp(log_signal) * planted, y, ridge, "square", 1e-7)
        signals = fitted.w.reshape(task.length, task.dim) @ np.asarray(task.direction)
        asked = replace(task.setting, signal=float(np.exp(log_signal)))
        norm = float(np.linalg.norm(fitted.w))
        error = readouts.vectorised_test_error(asked, signals, norm, fitted.b, chances)
        return error - target_error

    bracket = float(np.log(0.1)), float(np.log(20 * task.length**0.5))
    return float(np.exp(root_scalar(excess, bracket=bracket, xtol=5e-3).root))
