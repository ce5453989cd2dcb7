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

from saccade.convex import fit_readout
from saccade.descent import descend
from saccade.lab.experiment import experiment
from saccade.studies.sparse_token.dynamics import gradient_steps
from saccade.studies.sparse_token.experiments import readouts
from saccade.studies.sparse_token.experiments.readouts import MEASURED, Loss, table
from saccade.studies.sparse_token.experiments.steps import learned_queries
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
    step_key, fit_key = jax.random.split(key)
    n = round(query_samples_per_dim * dim)
    queries = learned_queries(task, step_key, trials, n, eta_q, loss)
    rows = []
    for number, model in enumerate(models):
        keys = jax.random.split(jax.random.fold_in(fit_key, number), (trials, len(samples_per_dim)))
        fit = partial(readouts.one_trial, task, ridge=ridge, loss=loss, model=model, tolerance=1e-7)
        rows.append([
            [
                fit(one, round(alpha * dim), query=query)
                for one, alpha in zip(row, samples_per_dim, strict=True)]
            for row, query in zip(keys, queries, strict=True)])
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
    loss: Loss = "logistic", dim: int = 50, trials: int = 64,
) -> xarray.Dataset:
    """Read-outs fitted to the samples that taught the query, and to as many fresh ones."""
    task = SparseToken.create(dim, length, informative, positive_rate, signal)
    n = round(samples_per_dim * dim)
    rows = [
        _reused_and_fresh(task, one, n, eta_q, ridge, loss) for one in jax.random.split(key, trials)
    ]
    names = ("reused_test", "fresh_test", "reused_loss", "fresh_loss", "split_test")
    return table(names, rows, ("trial",))


def _reused_and_fresh(
    task: SparseToken, key: Any, n: int, eta_q: float, ridge: float, loss: str
) -> list[float]:
    """Both read-outs of one trial, and one with the n samples split between query and read-out."""
    draw_key, fresh_key, test_key, _ = jax.random.split(key, 4)
    X, y, _ = task.sample(draw_key, n)
    half = n // 2
    query, half_query = (
        gradient_steps(X[:count], y[:count], eta_q=eta_q, loss=loss).q for count in (n, half))
    fresh = readouts.draw_both_labels(task, fresh_key, n, "attention", query)
    fits = [
        fit_readout(features, labels, ridge, loss)
        for features, labels in (
            (attention_features(X, query), y), fresh,
            (attention_features(X[half:], half_query), y[half:]))]
    reused_test, fresh_test, split_test = (
        readouts.readout_test_error(task, fit, "attention", asked, readouts.generator(test_key))
        for fit, asked in zip(fits, (query, query, half_query), strict=True))
    return [reused_test, fresh_test, fits[0].train_loss, fits[1].train_loss, split_test]


@partial(jax.jit, static_argnames="n")
def _descend_jointly(task: SparseToken, key: Any, n: int, step_size, query_step, ridge, stops):
    """Gradient descent of (q, w, b) from zero on n samples, with the objective, at every stop."""
    X, labels, _ = task.sample(key, n, jnp.float32)
    y = labels.astype(jnp.float32)

    def objective(state):
        q, w, b = state
        margin = attention_features(X, q) @ w + b
        return jnp.mean(jax.nn.softplus(-y * margin)) + 0.5 * ridge * (w @ w)

    def step(state, _):
        rates = (query_step, step_size, step_size)
        return tuple(
            (part - rate * gradient).astype(jnp.float32)
            for part, rate, gradient in zip(state, rates, jax.grad(objective)(state), strict=True))

    zero = jnp.zeros(task.dim, jnp.float32)
    return descend(
        step, lambda state, _: (*state, objective(state)), (zero, zero, jnp.float32(0)), stops)[1]


@experiment(
    "sparse-token.joint-training",
    scales={"standard": {"dim": 200, "trials": 64}, "paper": {"dim": 1000, "trials": 32}})
def joint_training(
    key: Any, *, length: int = 10, informative: int = 1, positive_rate: float = 0.5,
    signal: float = 4.0, samples_per_dim: float = 8.0, step_size: float = 1.0,
    query_step: float = 1.0, ridge: float = 1e-2, steps: int = 400, record_every: int = 40,
    dim: int = 40, trials: int = 32,
) -> xarray.Dataset:
    """Query, read-out and bias trained together from zero, beside two stages on as many samples."""
    task = SparseToken.create(dim, length, informative, positive_rate, signal)
    n = round(samples_per_dim * dim)
    stops = jnp.arange(1, steps // record_every + 1) * record_every
    joint = [
        _measure_path(
            task, one, _descend_jointly(task, one, n, step_size, query_step, ridge, stops))
        for one in jax.random.split(key, trials)]
    queries = learned_queries(task, jax.random.fold_in(key, 1), trials, n // 2, 40.0, "logistic")
    keys = jax.random.split(jax.random.fold_in(key, 2), trials)
    staged = [
        readouts.one_trial(task, one, n - n // 2, ridge, "logistic", "attention", query)
        for one, query in zip(keys, queries, strict=True)]
    return table(
        ("test_error", "q_cosine", "sharpness", "train_loss"), joint, ("trial", "step"),
        {"step": stops.tolist()},
    ).assign(staged_error=("trial", np.array(staged)[:, MEASURED.index("test_error")]))


def _measure_path(task: SparseToken, key: Any, path: Any) -> list[list[float]]:
    """Test error, cosine and sharpness of the query, and training loss at every stop."""
    rows = []
    for q, w, b, loss in zip(*(np.asarray(part, float) for part in path), strict=True):
        view = readouts.view_of_attention(w, b, q, task.direction)
        error = readouts.attention_test_error(task.setting, view, readouts.generator(key))
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
    settings = [replace(task.setting, length=asked) for asked in test_lengths]
    queries = {
        "attention": readouts.tilted_query(dim, alignment, sharpness), "pooled": jnp.zeros(dim)}

    def errors(one: Any, model: str, query: Any) -> list[float]:
        sample = readouts.draw_both_labels(task, one, round(samples_per_dim * dim), model, query)
        fitted = fit_readout(sample.features, sample.y, ridge)
        view = readouts.view_of_attention(fitted.w, fitted.b, query, task.direction)
        return [
            readouts.attention_test_error(setting, view, readouts.generator(one))
            for setting in settings]

    rows = [
        [errors(one, *item) for item in queries.items()] for one in jax.random.split(key, trials)]
    return xarray.Dataset(
        {"test_error": (("trial", "model", "length"), np.array(rows))},
        {"model": list(queries), "length": list(test_lengths)})
