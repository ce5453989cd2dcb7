"""The whole protocol, end to end: two gradient steps on full tokens, then read-outs fitted to fresh
samples."""

from typing import Any

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.sparse_token.experiments.readouts import MEASURED, Loss, as_dataset, one_trial
from saccade.studies.sparse_token.experiments.steps import repeated_steps
from saccade.studies.sparse_token.task import SparseToken


def learned_queries(
    task: SparseToken, key: Any, trials: int, n: int, eta_q: float, loss: str
) -> np.ndarray:
    """The query of every trial after two steps on n samples of its own (eta_w = eta_b = 1/2, beta =
    1)."""
    return np.asarray(
        repeated_steps(task, jax.random.split(key, trials), n, 0.5, 0.5, eta_q, 1.0, loss).q)


@experiment(
    "sparse-token.protocol",
    scales={"standard": {"dim": 300, "trials": 32}, "paper": {"dim": 1000, "trials": 32}})
def protocol(
    key: Any, *, length: int = 10, informative: int = 1, positive_rate: float = 0.5,
    signal: float = 5.0, query_samples_per_dim: float = 4.0, eta_q: float = 40.0,
    samples_per_dim: tuple[float, ...] = (1.0, 4.0), ridge: float = 1e-5, loss: Loss = "logistic",
    models: tuple[str, ...] = ("attention", "pooled", "vectorised"), dim: int = 60,
    trials: int = 64,
) -> xarray.Dataset:
    """Test errors of the three classifiers when attention's query is learned by two gradient steps
    on samples of its own."""
    task = SparseToken.create(dim, length, informative, positive_rate, signal)
    step_key, fit_key = jax.random.split(key)
    queries = learned_queries(
        task, step_key, trials, round(query_samples_per_dim * dim), eta_q, loss)
    made = {}
    for number, model in enumerate(models):
        keys = jax.random.split(jax.random.fold_in(fit_key, number), (trials, len(samples_per_dim)))
        rows = [
            [
                one_trial(task, one, round(alpha * dim), ridge, loss, model, query, tolerance=1e-7)
                for one, alpha in zip(row, samples_per_dim, strict=True)]
            for row, query in zip(keys, queries, strict=True)]
        made[model] = as_dataset(rows, "samples_per_dim", samples_per_dim)
    joined = xarray.Dataset(
        {
            name: (
                ("model", *made[models[0]][name].dims),
                np.stack([item[name].values for item in made.values()]))
            for name in MEASURED},
        {"model": list(made), "samples_per_dim": list(samples_per_dim)})
    norm = np.linalg.norm(queries, axis=1)
    return joined.assign(sharpness=("trial", norm), q_cosine=("trial", queries[:, 0] / norm))
