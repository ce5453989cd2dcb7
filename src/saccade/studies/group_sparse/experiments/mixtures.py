"""The position-only layer at any attention and for labels made by several groups: by samples at a
state, and how long its population descent takes to return from a selector of the wrong group."""

import dataclasses
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.group_sparse import models
from saccade.studies.group_sparse.dynamics import full
from saccade.studies.group_sparse.dynamics.mixture_map import MixtureState, steps_to_return
from saccade.studies.group_sparse.experiments.common import along
from saccade.studies.group_sparse.models import Transformer, encoding
from saccade.studies.group_sparse.task import GroupSparseTask, group_sparse_task

Vector = tuple[float, ...]


def layer_of(
    alpha: float, scores: Any, task: GroupSparseTask, matrix: models.Matrix
) -> Transformer:
    """W with the same position scores for every query, v = alpha [v*; 0]."""
    columns = jnp.outer(jnp.asarray(scores), jnp.ones(task.length))
    positions = matrix @ columns @ matrix.T / models.mean_square(matrix) ** 2
    blocks = jnp.zeros((task.dim, task.dim)), positions, alpha * task.direction
    return Transformer(models.from_blocks(*blocks), matrix)


@partial(jax.jit, static_argnames=("samples",))
def _at_state(keys: Any, task: GroupSparseTask, layer: Transformer, samples: int) -> Any:
    """Error, loss, and what pulls alpha and the scores, on each key's sample."""

    def one(key: Any) -> Any:
        X, y, _ = task.sample(key, samples)
        slope = full.gradient(layer, X, y)
        on_scores = layer.matrix.T @ slope.attention[0, task.dim :, task.dim :] @ layer.matrix
        pulls = -jnp.sum(on_scores, axis=1) / models.mean_square(layer.matrix) ** 2
        wrong = jnp.mean(y * layer(X) <= 0, dtype=float)
        pull = -slope.value[: task.dim] @ task.direction
        return jnp.stack([wrong, layer.loss(X, y), pull, *pulls])

    return jax.lax.map(one, keys)


@experiment("group-sparse.mixture-state", scales={"standard": {"samples": 20_000}})
def mixture_state(
    key: Any, *, alpha: float = 0.4, scores: Vector = (-0.5, 1.4, 0.3, 0.0),
    weights: Vector = (1.0, 0.0, 0.7, -0.4), opposed: Vector = (0.6, -1.0, 0.3, 0.5),
    scale: float = 1.3, group_dim: int = 2, samples: int = 2000, replicates: int = 32,
) -> xarray.Dataset:
    """Error, loss and forces of the layer whose position scores are `scores` for every query, on
    samples labelled by the sign of the groups' signals with `weights`; and its error where the
    weights are `opposed`, of which the one looked at most is negative."""
    groups = len(scores)
    task = group_sparse_task(groups, group_dim, scale, direction=np.arange(1.0, group_dim + 1))
    layer, keys = (
        layer_of(alpha, scores, task, encoding("sine", groups)), jax.random.split(key, replicates))
    values, other = (
        _at_state(keys, dataclasses.replace(task, group_weights=jnp.asarray(one)), layer, samples)
        for one in (weights, opposed))
    values = jnp.concatenate([values, other[:, :1]], axis=1)
    names = ["error", "loss", "alpha", *[f"score {place}" for place in range(groups)], "opposed"]
    return xarray.Dataset(along(("replicate", "name"), value=values), {"name": names})


@partial(jax.jit, static_argnames=("groups",))
def _return_times(odds: Any, step_size: Any, alpha: Any, value_speed: Any, groups: int) -> Any:
    def one(odd: Any) -> Any:
        scores = jnp.zeros(groups).at[1].set(jnp.log(odd))
        start = MixtureState(jnp.asarray(alpha, float), scores)
        return steps_to_return(start, 0, step_size, (groups + 1) / 2, 1.0, value_speed)

    return jax.vmap(one)(odds)


@experiment("group-sparse.return-times", scales={"standard": {"groups": (4, 8, 16)}})
def return_times(
    key: Any, *, groups: tuple[int, ...] = (5, 10),
    odds: tuple[float, ...] = (12.5, 25.0, 50.0, 100.0), pace: float = 2.0, alpha: float = 0.0,
    value_moves: bool = True,
) -> xarray.Dataset:
    """Population steps of size `pace` / D^2 of the position-only layer until half of its attention
    is on the group that decides, from scores that put `odds` to one on another group; v starts at
    `alpha` times the new direction (`value_moves` False holds it there)."""
    times = [
        _return_times(np.array(odds), pace / size**2, alpha, float(value_moves), groups=size)
        for size in groups]
    return xarray.Dataset(
        along(("groups", "odds"), steps=times), {"groups": list(groups), "odds": list(odds)})
