"""Variants of the layer under equal conditions: each gets the same search over step sizes, on other
seeds than the runs reported."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.group_sparse import dynamics
from saccade.studies.group_sparse.experiments.descent import many_runs
from saccade.studies.group_sparse.models import Architecture, encoding, zeros
from saccade.studies.group_sparse.task import group_sparse_task

VARIANTS = {
    "paper": Architecture(), "residual": Architecture(residual=True),
    "layer norm": Architecture(layer_norm=True), "MLP": Architecture(hidden=16),
    "two layers": Architecture(layers=2, residual=True)}


@experiment(
    "group-sparse.architectures",
    scales={"standard": {"groups": 6, "group_dim": 4, "steps": 300, "repetitions": 24}})
def architectures(
    key: Any, *, variants: tuple[str, ...] = tuple(VARIANTS), groups: int = 4, group_dim: int = 3,
    relevant: int = 1, step_sizes: tuple[float, ...] = (0.03, 0.1, 0.3), steps: int = 100,
    batch: int = 80, repetitions: int = 8,
) -> xarray.Dataset:
    """Attention of the last layer that looks most at the relevant group, error and loss of every
    variant at its best step size; the step is chosen by held-out loss over a third of as many
    seeds, all steps on each."""
    task, made = group_sparse_task(groups, group_dim, relevant=relevant), encoding("sine", groups)
    gaps = dynamics.plan_record(steps, None).gaps
    tuning = max(1, repetitions // len(step_sizes))
    rows, chosen = [], []
    for number, name in enumerate(variants):
        shape = VARIANTS[name]
        tuning_key, run_key, start_key = jax.random.split(jax.random.fold_in(key, number), 3)
        lanes = tuning * len(step_sizes)
        starts = jax.vmap(lambda one, shape=shape: zeros(group_dim + groups, shape, one))(
            jax.random.split(start_key, lanes))
        matrices = jnp.broadcast_to(made.matrix, (lanes, *made.matrix.shape))

        def runs(keys: Any, etas: Any, starts=starts, matrices=matrices, shape=shape) -> Any:
            return many_runs(keys, task, matrices, starts, etas, gaps, 1.0, shape, batch, 500)[0]

        tried = runs(
            jnp.repeat(jax.random.split(tuning_key, tuning), len(step_sizes)),
            jnp.tile(jnp.asarray(step_sizes), tuning))
        losses = np.asarray(tried.loss)[:, -1].reshape(tuning, -1).mean(axis=0)
        best = step_sizes[int(np.argmin(np.where(np.isfinite(losses), losses, np.inf)))]
        seen = runs(jax.random.split(run_key, lanes), jnp.full(lanes, best))
        looks = np.asarray(seen.attention)[:, -1, :, relevant].max(axis=-1)
        rows.append([looks, np.asarray(seen.error)[:, -1], np.asarray(seen.loss)[:, -1]])
        chosen.append(best)
    found = np.array(rows)
    axes = ("variant", "repetition")
    return xarray.Dataset(
        {
            "attention": (axes, found[:, 0]), "error": (axes, found[:, 1]),
            "loss": (axes, found[:, 2]), "step_size": ("variant", chosen)},
        {"variant": list(variants)})
