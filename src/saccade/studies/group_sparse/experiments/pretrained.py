"""Pre-training by descent, then transfer: W from the population map, from a finite sample, in
closed form or none at all, fine-tuned online on a new direction, with W frozen or free; downstream
the same group decides, another one, two of them, or groups that overlap."""

import dataclasses
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.errors import require
from saccade.lab.experiment import experiment
from saccade.studies.group_sparse import models
from saccade.studies.group_sparse.dynamics import full, plan_record, reduced_map
from saccade.studies.group_sparse.dynamics import transfer as online
from saccade.studies.group_sparse.dynamics.reduced_gradient import parameters_of, selector
from saccade.studies.group_sparse.experiments.common import along, each_key, spaced
from saccade.studies.group_sparse.experiments.transfer import tuned
from saccade.studies.group_sparse.models import Transformer, encoding
from saccade.studies.group_sparse.task import GroupSparseTask, group_sparse_task

Source = Literal["closed form", "population", "finite", "none"]
SOURCES: tuple[Source, ...] = ("closed form", "population", "finite", "none")
Downstream = Literal["same", "other", "two", "overlap"]
MODES = ("frozen", "free")


@jax.jit
def _directions(keys: Any, task: GroupSparseTask) -> Any:
    drawn = jax.vmap(lambda key: jax.random.normal(key, (task.dim,)))(keys)
    return drawn / jnp.linalg.norm(drawn, axis=1, keepdims=True)


@partial(jax.jit, static_argnames=("samples",))
def _from_sample(
    keys: Any, task: GroupSparseTask, start: Transformer, step_size: Any, stops: Any, samples: int
) -> Any:
    """W after descent of W and v on one sample of each key's own direction."""

    def one(key: Any, direction: Any) -> Any:
        own = dataclasses.replace(task, direction=direction)
        data = own.sample(key, samples)
        return full.full_run(key, own, start, step_size, stops, data)[0].state.attention

    return jax.lax.map(lambda pair: one(*pair), (keys, _directions(keys, task)))


@jax.jit
def _along_directions(keys: Any, point: Any, task: GroupSparseTask, matrix: Any) -> Any:
    """W of a state of the six-number map, for each key's own direction."""
    return jax.vmap(lambda direction: (
        parameters_of(point, dataclasses.replace(task, direction=direction), matrix).attention)
    )(_directions(keys, task))


def pretrained_weights(
    key: Any, source: Source, task: GroupSparseTask, count: int, step_size: float, steps: int,
    samples: int, attention: float,
) -> Any:
    """W after pre-training on `count` directions of their own: `steps` steps of W and v by the
    six-number map or on `samples` samples, a selector with this `attention`, or zero."""
    matrix = encoding("sine", task.length)
    keys = jax.random.split(key, count)
    if source == "finite":
        stops, start = plan_record(steps).stops, models.at_zero(task.dim, matrix)
        return _from_sample(keys, task, start, step_size, stops, samples)
    if source == "population":
        run = reduced_map.reduced_trajectory(key, task.length, task.dim, step_size, steps)
        return _along_directions(keys, run.coordinates[-1], task, matrix)
    share = attention if source == "closed form" else 1 / task.length
    weights = selector(share, task, matrix).parameters.attention
    return jnp.broadcast_to(weights, (count, *weights.shape))


@partial(jax.jit, static_argnames=("freeze",))
def _fine_tuned(
    keys: Any, etas: Any, weights: Any, task: GroupSparseTask, layer: Transformer, stops: Any,
    freeze: bool,
) -> tuple[Any, Any]:
    """Errors [learner][lane][measure][count] of fine-tuned attention and logistic regression, and
    where attention looks at the end, [lane][group]."""

    def one(key: Any, W: Any, *pair: Any) -> tuple[Any, Any]:
        start = layer.at(layer.parameters._replace(attention=W))
        runs = online.transfer(
            key, task, start, pair, 1 / task.length, stops, freeze_attention=freeze,
            test_samples=500)
        end = start.at(start.parameters._replace(attention=runs[0].attention[None]))
        looks = jnp.mean(end.attention(task.sample(key, 100).X), axis=0)
        return jnp.stack([run.errors for run in runs]), looks

    errors, looks = jax.vmap(one)(keys, weights, *etas)
    return jnp.swapaxes(errors, 0, 1), looks


def _downstream(kind: Downstream, groups: int, dim: int, margin: float) -> GroupSparseTask:
    """The task after pre-training on group 1."""
    make = partial(group_sparse_task, groups, dim, margin=margin)
    if kind == "other":
        return make(relevant=2)
    if kind == "two":
        return make(relevant=1, split=2)
    return make(relevant=1, overlap=dim // 2 if kind == "overlap" else 0)


@experiment(
    "group-sparse.pretrained",
    scales={"standard": {"group_dim": 8, "groups": 8, "samples": 2000, "pretraining_steps": 600}})
def pretrained(
    key: Any, *, sources: tuple[Source, ...] = SOURCES, downstream: Downstream = "same",
    group_dim: int = 4, groups: int = 6, samples: int = 300, points: int = 12, draws: int = 32,
    margin: float = 0.0, attention: float = 0.97, step_size: float = 0.1,
    pretraining_steps: int = 400, pretraining_samples: int = 1000,
) -> xarray.Dataset:
    """Errors against n of fine-tuned attention for every source of W, frozen and free, and of
    logistic regression, all on the same streams; every learner's step is the best of four on
    others. `looks` is attention on each group after the last sample."""
    require(draws % 4 == 0, "draws", draws, "must be a multiple of 4, the number of step sizes")
    counts = spaced(4, samples, points)
    stops = plan_record(samples, counts).stops
    before, task = (
        group_sparse_task(groups, group_dim, relevant=1),
        _downstream(downstream, groups, group_dim, margin))
    layer = models.at_zero(group_dim, encoding("sine", groups))
    weight_key, stream_key = each_key(key, 2)
    rows: dict[str, Any] = {}
    for source in sources:
        weights = pretrained_weights(
            weight_key, source, before, draws, step_size, pretraining_steps, pretraining_samples,
            attention)
        for mode in MODES:
            learn = _Learn(weights, task, layer, stops, mode == "frozen")
            both, best = tuned(learn, stream_key, draws)
            rows[f"{source}, {mode}"] = both[0], learn.looks, best[0]
            rows["logistic"] = both[1], np.full((draws, groups), np.nan), best[1]
    errors, looks, chosen = (list(parts) for parts in zip(*rows.values(), strict=True))
    return xarray.Dataset(
        along(("learner", "draw", "measure", "samples"), error=errors)
        | along(("learner", "draw", "group"), looks=looks) | along("learner", step_size=chosen),
        {"learner": list(rows), "measure": ["online", "test"], "samples": counts})


@dataclasses.dataclass
class _Learn:
    """Fine-tuning from each draw's own W as `tuned` asks for it; keeps where the last runs look."""

    weights: Any
    task: GroupSparseTask
    layer: Transformer
    stops: Any
    freeze: bool
    looks: Any = None

    def __call__(self, keys: Any, etas: Any) -> np.ndarray:
        errors, looks = _fine_tuned(
            keys, etas, self.weights, self.task, self.layer, self.stops, self.freeze)
        self.looks = np.asarray(looks)
        return np.asarray(errors)
