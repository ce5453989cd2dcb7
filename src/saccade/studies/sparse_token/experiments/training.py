"""The whole protocol: two gradient steps on full tokens, then read-outs of fresh samples; and what
the theory leaves open: one data set for both stages, joint training, sequences of another length.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray
from numpy.random import SeedSequence, default_rng

from saccade.convex import fit_readout
from saccade.descent import descend
from saccade.lab.experiment import experiment
from saccade.studies.sparse_token.dynamics import gradient_steps
from saccade.studies.sparse_token.experiments import readouts
from saccade.studies.sparse_token.experiments.draws import draw_tokens, seeds_of
from saccade.studies.sparse_token.experiments.readouts import MEASURED, Loss, table
from saccade.studies.sparse_token.experiments.steps import repeated_steps
from saccade.studies.sparse_token.models import attention_features
from saccade.studies.sparse_token.task import MODELS, SparseToken


@experiment(
    "sparse-token.protocol",
    scales={"standard": {"dim": 300, "trials": 32}, "paper": {"dim": 1000, "trials": 32}})
def protocol(
    key: Any, *, length: int = 10, informative: int = 1, positive_rate: float = 0.5,
    signal: float = 5.0, query_samples_per_dim: float = 4.0, eta_q: float = 40.0,
    samples_per_dim: tuple[float, ...] = (1.0, 4.0), ridge: float = 1e-5, loss: Loss = "logistic",
    models: tuple[str, ...] = MODELS, dim: int = 60, trials: int = 64,
) -> xarray.Dataset:
    """Test errors of the three models; attention's query from two steps on samples of its own."""
    task = SparseToken.create(dim, length, informative, positive_rate, signal)
    step_seed, *fit_seeds = seeds_of(key, 1 + len(models))
    n = round(query_samples_per_dim * dim)
    queries = repeated_steps(task, step_seed, trials, n, eta_q=eta_q, loss=loss).q
    rows = []
    for model, model_seed in zip(models, fit_seeds, strict=True):
        fit = partial(readouts.one_trial, task, ridge=ridge, loss=loss, model=model, tolerance=1e-7)
        rows.append([
            [
                fit(one, round(alpha * dim), query=query)
                for one, alpha in zip(
                    seed.spawn(len(samples_per_dim)), samples_per_dim, strict=True)]
            for seed, query in zip(model_seed.spawn(trials), queries, strict=True)])
    norm = np.linalg.norm(queries, axis=1)
    return table(
        MEASURED, rows, ("model", "trial", "samples_per_dim"),
        {"model": models, "samples_per_dim": samples_per_dim},
    ).assign(sharpness=("trial", norm), q_cosine=("trial", queries[:, 0] / norm))


@experiment(
    "sparse-token.reuse",
    scales={"standard": {"dim": 300, "trials": 64}, "paper": {"dim": 1000, "trials": 32}})
def reuse(
    key: Any, *, length: int = 10, informative: int = 1, positive_rate: float = 0.5,
    signal: float = 4.0, samples_per_dim: float = 4.0, eta_q: float = 40.0, ridge: float = 1e-2,
    loss: Loss = "logistic", dim: int = 50, trials: int = 64, fresh_times: int = 1,
) -> xarray.Dataset:
    """Read-outs fitted to the samples that taught the query, and to as many fresh ones (or
    `fresh_times` as many)."""
    task = SparseToken.create(dim, length, informative, positive_rate, signal)
    sizes = round(samples_per_dim * dim), fresh_times * round(samples_per_dim * dim)
    rows = [
        _reused_and_fresh(task, seed, sizes, eta_q, ridge, loss) for seed in seeds_of(key, trials)]
    names = ("reused_test", "fresh_test", "reused_loss", "fresh_loss", "split_test")
    return table(names, rows, ("trial",))


def _reused_and_fresh(
    task: SparseToken, seed: SeedSequence, sizes: tuple[int, int], eta_q: float, ridge: float,
    loss: str,
) -> list[float]:
    """Both read-outs of one trial, and one with the samples split between query and read-out."""
    draw_seed, test_seed = seed.spawn(2)
    rng, n = default_rng(draw_seed), sizes[0]
    X, y, _ = draw_tokens(task, rng, n)
    half = n // 2
    query, half_query = (
        gradient_steps(X[:count], y[:count], eta_q=eta_q, loss=loss).q for count in (n, half))
    fresh = readouts.draw_both_labels(task, rng, sizes[1], "attention", query)
    fits = [
        fit_readout(features, labels, ridge, loss)
        for features, labels in (
            (attention_features(X, query), y), fresh,
            (attention_features(X[half:], half_query), y[half:]))]
    reused_test, fresh_test, split_test = (
        readouts.readout_test_error(task, fit, "attention", asked, default_rng(test_seed))
        for fit, asked in zip(fits, (query, query, half_query), strict=True))
    return [reused_test, fresh_test, fits[0].train_loss, fits[1].train_loss, split_test]


@jax.jit
def _descend_jointly(X, y, step_size, query_step, ridge, stops):
    """Gradient descent of (q, w, b) from zero on samples, with the objective, at every stop."""

    def objective(state):
        q, w, b = state
        margin = attention_features(X, q) @ w + b
        return jnp.mean(jax.nn.softplus(-y * margin)) + 0.5 * ridge * (w @ w)

    def step(state, _):
        rates = (query_step, step_size, step_size)
        return tuple(
            (part - rate * gradient).astype(jnp.float32)
            for part, rate, gradient in zip(state, rates, jax.grad(objective)(state), strict=True))

    zero = jnp.zeros(X.shape[2], jnp.float32)
    return descend(
        step, lambda state, _: (*state, objective(state)), (zero, zero, jnp.float32(0)), stops)[1]


@experiment(
    "sparse-token.joint-training",
    scales={"standard": {"dim": 200, "trials": 64}, "paper": {"dim": 1000, "trials": 32}})
def joint_training(
    key: Any, *, length: int = 10, informative: int = 1, positive_rate: float = 0.5,
    signal: float = 4.0, samples_per_dim: float = 8.0, step_size: float = 1.0,
    query_step: float = 1.0, ridge: float = 1e-2, steps: int = 400, record_every: int = 40,
    dim: int = 40, trials: int = 32, staged_eta_q: float = 40.0,
) -> xarray.Dataset:
    """Query, read-out and bias trained together from zero, beside two stages on as many samples."""
    task = SparseToken.create(dim, length, informative, positive_rate, signal)
    n = round(samples_per_dim * dim)
    stops = np.arange(1, steps // record_every + 1) * record_every
    stops = stops if stops.size else np.array([steps])  # at least the end
    joint_seed, step_seed, fit_seed = seeds_of(key, 3)
    joint = []
    for seed in joint_seed.spawn(trials):
        draw_seed, test_seed = seed.spawn(2)
        X, y, _ = draw_tokens(task, default_rng(draw_seed), n, np.float32)
        path = _descend_jointly(X, y.astype(np.float32), step_size, query_step, ridge, stops)
        joint.append(_measure_path(task, test_seed, path))
    queries = repeated_steps(task, step_seed, trials, n // 2, eta_q=staged_eta_q).q
    staged = [
        readouts.one_trial(task, seed, n - n // 2, ridge, "logistic", "attention", query)
        for seed, query in zip(fit_seed.spawn(trials), queries, strict=True)]
    return table(
        ("test_error", "q_cosine", "sharpness", "train_loss"), joint, ("trial", "step"),
        {"step": stops.tolist()},
    ).assign(staged_error=("trial", np.array(staged)[:, MEASURED.index("test_error")]))


def _measure_path(task: SparseToken, seed: SeedSequence, path: Any) -> list[list[float]]:
    """Test error (on the same draws), cosine and sharpness of the query, and training loss at every
    stop."""
    rows = []
    for q, w, b, loss in zip(*(np.asarray(part, float) for part in path), strict=True):
        view = readouts.view_of_attention(w, b, q, task.direction)
        error = readouts.attention_test_error(task.setting, view, default_rng(seed))
        rows.append([error, view.alignment, view.sharpness, float(loss)])
    return rows


@experiment(
    "sparse-token.other-length",
    scales={"standard": {"dim": 200, "trials": 64}, "paper": {"dim": 1000, "trials": 32}})
def other_length(
    key: Any, *, length: int = 10, test_lengths: tuple[int, ...] = (2, 5, 10, 20, 50, 100),
    informative: int = 1, positive_rate: float = 0.5, signal: float = 5.0, alignment: float = 0.95,
    sharpness: float = 1.5, samples_per_dim: float = 4.0, ridge: float = 1e-2, dim: int = 80,
    trials: int = 64,
) -> xarray.Dataset:
    """Test error of attention and pooling fitted at one length and asked, unchanged, at others."""
    task = SparseToken.create(dim, length, informative, positive_rate, signal)
    others = [replace(task, setting=replace(task.setting, length=asked)) for asked in test_lengths]
    query, models = readouts.tilted_query(dim, alignment, sharpness), ("attention", "pooled")

    def errors(seed: SeedSequence, model: str) -> list[float]:
        draw_seed, test_seed = seed.spawn(2)
        n = round(samples_per_dim * dim)
        sample = readouts.draw_both_labels(task, default_rng(draw_seed), n, model, query)
        fitted = fit_readout(sample.features, sample.y, ridge)
        return [
            readouts.readout_test_error(other, fitted, model, query, default_rng(test_seed))
            for other in others]

    rows = [
        [errors(one, model) for one, model in zip(seed.spawn(2), models, strict=True)]
        for seed in seeds_of(key, trials)]
    return xarray.Dataset(
        {"test_error": (("trial", "model", "length"), np.array(rows))},
        {"model": list(models), "length": list(test_lengths)})
