"""What the theory leaves open, measured: one data set for both stages, joint gradient training, and
sequences of another length."""

from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.convex import fit_readout
from saccade.lab.experiment import experiment
from saccade.studies.sparse_token.dynamics import gradient_steps
from saccade.studies.sparse_token.experiments.readouts import (
    Loss,
    draw_features,
    generator,
    one_trial,
    tilted_query,
)
from saccade.studies.sparse_token.experiments.testing import attention_test_error, seen_by_attention
from saccade.studies.sparse_token.experiments.training import learned_queries
from saccade.studies.sparse_token.models import attention_features
from saccade.studies.sparse_token.task import SparseToken


@experiment(
    "sparse-token.reuse",
    scales={"standard": {"dim": 300, "trials": 64}, "paper": {"dim": 1000, "trials": 32}})
def reuse(
    key: Any, *, length: int = 10, informative: int = 1, positive_rate: float = 0.5,
    signal: float = 4.0, samples_per_dim: float = 4.0, eta_q: float = 40.0, ridge: float = 1e-2,
    loss: Loss = "logistic", dim: int = 50, trials: int = 64,
) -> xarray.Dataset:
    """Test and training error when the read-out is fitted to the samples that taught the query, and
    to as many fresh ones."""
    task = SparseToken.create(dim, length, informative, positive_rate, signal)
    n = round(samples_per_dim * dim)
    rows = [
        _reused_and_fresh(task, one, n, eta_q, ridge, loss) for one in jax.random.split(key, trials)
    ]
    names = ("reused_test", "fresh_test", "reused_loss", "fresh_loss", "split_test")
    return xarray.Dataset(
        {name: ("trial", np.array(column)) for name, column in zip(names, zip(*rows), strict=True)})


def _reused_and_fresh(
    task: SparseToken, key: Any, n: int, eta_q: float, ridge: float, loss: str
) -> tuple[float, ...]:
    """Both read-outs of one trial, and a split of the same n samples in two halves (half for the
    query, half for the read-out)."""
    keys = jax.random.split(key, 4)
    sample = task.sample(keys[0], n)
    query = gradient_steps(sample.X, sample.y, eta_q=eta_q, loss=loss).q
    again = fit_readout(attention_features(sample.X, query), sample.y, ridge, loss)
    made = draw_features(task, keys[1], n, "attention", query)
    fresh = fit_readout(made.features, made.y, ridge, loss)
    half = n // 2
    half_query = gradient_steps(sample.X[:half], sample.y[:half], eta_q=eta_q, loss=loss).q
    split = fit_readout(
        attention_features(sample.X[half:], half_query), sample.y[half:], ridge, loss)
    errors = [
        attention_test_error(
            task.setting, seen_by_attention(item.w, item.b, asked, task.direction),
            generator(keys[2]))
        for item, asked in ((again, query), (fresh, query), (split, half_query))]
    return errors[0], errors[1], again.train_loss, fresh.train_loss, errors[2]


@partial(jax.jit, static_argnames=("n", "steps", "record_every"))
def _descend_jointly(
    task: SparseToken, key: Any, n: int, step_size, query_step, ridge, steps: int, record_every: int
):
    """Gradient descent of (q, w, b) from zero on n samples; the state every `record_every`
    steps."""
    sample = task.sample(key, n, jnp.float32)
    y = sample.y.astype(jnp.float32)

    def objective(state):
        q, w, b = state
        margin = attention_features(sample.X, q) @ w + b
        return jnp.mean(jax.nn.softplus(-y * margin)) + 0.5 * ridge * (w @ w)

    def step(state, _):
        slope = jax.grad(objective)(state)
        rates = (query_step, step_size, step_size)
        return (
            tuple(
                (part - rate * g).astype(jnp.float32)
                for part, rate, g in zip(state, rates, slope, strict=True)),
            None)

    def stretch(state, _):
        state, _ = jax.lax.scan(step, state, None, record_every)
        return state, (*state, objective(state))

    zero = jnp.zeros(task.direction.size, jnp.float32)
    return jax.lax.scan(stretch, (zero, zero, jnp.float32(0)), None, steps // record_every)[1]


@experiment(
    "sparse-token.joint-training",
    scales={"standard": {"dim": 200, "trials": 64}, "paper": {"dim": 1000, "trials": 32}})
def joint_training(
    key: Any, *, length: int = 10, informative: int = 1, positive_rate: float = 0.5,
    signal: float = 4.0, samples_per_dim: float = 8.0, step_size: float = 1.0,
    query_step: float = 1.0, ridge: float = 1e-2, steps: int = 400, record_every: int = 40,
    dim: int = 40, trials: int = 32,
) -> xarray.Dataset:
    """Query, read-out and bias trained together by gradient descent from zero, beside the two-stage
    protocol on as many samples."""
    task = SparseToken.create(dim, length, informative, positive_rate, signal)
    n = round(samples_per_dim * dim)
    joint = [
        _measure_path(
            task, one,
            _descend_jointly(task, one, n, step_size, query_step, ridge, steps, record_every))
        for one in jax.random.split(key, trials)]
    queries = learned_queries(task, jax.random.fold_in(key, 1), trials, n // 2, 40.0, "logistic")
    staged = [
        one_trial(task, one, n - n // 2, ridge, "logistic", "attention", query)["test_error"]
        for one, query in zip(
            jax.random.split(jax.random.fold_in(key, 2), trials), queries, strict=True)]
    recorded = np.arange(1, steps // record_every + 1) * record_every
    names = ("test_error", "q_cosine", "sharpness", "train_loss")
    data = {
        name: (("trial", "step"), np.array([row[i] for row in joint]))
        for i, name in enumerate(names)}
    return xarray.Dataset({**data, "staged_error": ("trial", np.array(staged))}, {"step": recorded})


def _measure_path(task: SparseToken, key: Any, path: Any) -> tuple[list[float], ...]:
    queries, weights, biases, losses = (np.asarray(part, float) for part in path)
    seen = [
        seen_by_attention(w, b, q, task.direction)
        for q, w, b in zip(queries, weights, biases, strict=True)]
    errors = [attention_test_error(task.setting, item, generator(key)) for item in seen]
    return (
        errors, [item.alignment for item in seen], [item.sharpness for item in seen],
        losses.tolist())


@experiment(
    "sparse-token.other-length",
    scales={"standard": {"dim": 200, "trials": 64}, "paper": {"dim": 1000, "trials": 32}})
def other_length(
    key: Any, *, length: int = 10, test_lengths: tuple[int, ...] = (2, 5, 10, 20, 50, 100),
    informative: int = 1, positive_rate: float = 0.5, signal: float = 5.0, alignment: float = 0.95,
    sharpness: float = 1.5, samples_per_dim: float = 4.0, ridge: float = 1e-2, dim: int = 80,
    trials: int = 64,
) -> xarray.Dataset:
    """Test error of attention and pooling fitted at one length and asked at others, without any
    change."""
    task = SparseToken.create(dim, length, informative, positive_rate, signal)
    settings = [replace(task.setting, length=asked) for asked in test_lengths]
    tilted = tilted_query(dim, alignment, sharpness)
    rows = []
    for one in jax.random.split(key, trials):
        row = []
        for model, query in (("attention", tilted), ("pooled", jnp.zeros(dim))):
            made = draw_features(task, one, round(samples_per_dim * dim), model, query)
            fitted = fit_readout(made.features, made.y, ridge)
            seen = seen_by_attention(fitted.w, fitted.b, query, task.direction)
            row.append(
                [attention_test_error(setting, seen, generator(one)) for setting in settings])
        rows.append(row)
    return xarray.Dataset(
        {"test_error": (("trial", "model", "length"), np.array(rows))},
        {"model": ["attention", "pooled"], "length": list(test_lengths)})
