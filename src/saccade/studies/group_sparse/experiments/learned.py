"""Encodings that are learned with W and v, and starts that are not zero, over several numbers of
groups: attention and error of each at the best of a few step sizes."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.errors import unknown
from saccade.lab.experiment import experiment
from saccade.studies.group_sparse.dynamics import follow, full, plan_record
from saccade.studies.group_sparse.experiments.common import along, each_key
from saccade.studies.group_sparse.experiments.descent import encodings_of
from saccade.studies.group_sparse.models import Parameters, Transformer, xavier
from saccade.studies.group_sparse.task import GroupSparseTask, group_sparse_task


class Setting(NamedTuple):
    """Encodings of a kind, times `length`, that move `speed` times as fast as W (0: fixed); W and v
    start from Xavier's times their factors."""

    kind: str = "sine"
    length: float = 1.0
    speed: float = 0.0
    attention_factor: float = 0.0
    value_factor: float = 0.0


SETTINGS = {
    "sine": Setting(), "one-hot, length 1": Setting("unit"), "random": Setting("random"),
    "learned, from random": Setting("random", speed=1.0),
    "learned, from scratch": Setting("random", 0.1, 1.0), "learned, from sine": Setting(speed=1.0),
    "Xavier": Setting(attention_factor=1.0, value_factor=1.0),
    "a third of Xavier": Setting(attention_factor=1 / 3, value_factor=1 / 3),
    "Xavier in W": Setting(attention_factor=1.0), "Xavier in v": Setting(value_factor=1.0)}


class Joint(NamedTuple):
    """W and v, and the encodings P."""

    parameters: Parameters
    matrix: Any


@partial(jax.jit, static_argnames=("batch", "held_out"))
def _joint_runs(
    keys: Any, task: GroupSparseTask, starts: Joint, speed: Any, step_sizes: Any, stops: Any,
    batch: int, held_out: int = 400,
) -> Any:
    """Descent of W, v and P on fresh batches, one run a key, watched at the stops."""

    def one(key: Any, start: Joint, step_size: Any) -> Any:
        batch_key, held_out_key = jax.random.split(key)
        judge = task.sample(held_out_key, held_out)

        def step(at: Joint, number: Any) -> Joint:
            drawn = task.sample(jax.random.fold_in(batch_key, number), batch)
            slope = jax.grad(lambda to: Transformer(*to).loss(drawn.X, drawn.y))(at)
            slope = slope._replace(matrix=speed * slope.matrix)
            return jax.tree.map(lambda old, part: old - step_size * part, at, slope)

        return follow(step, lambda at: full.observe(Transformer(*at), task, judge), start, stops)[1]

    return jax.vmap(one)(keys, starts, step_sizes)


def _starts(key: Any, setting: Setting, task: GroupSparseTask, count: int) -> Joint:
    """`count` starts, each with its own draw of what is random."""
    encoding_key, weight_key = each_key(key, 2)
    kind, norm = ("one-hot", 1.0) if setting.kind == "unit" else (setting.kind, None)
    matrices = setting.length * jnp.asarray(
        encodings_of(encoding_key, count, kind, task.length, None, norm))
    drawn = jax.vmap(lambda one, matrix: xavier(one, task.dim, matrix).parameters)(
        jax.random.split(weight_key, count), matrices)
    parameters = Parameters(
        setting.attention_factor * drawn.attention, setting.value_factor * drawn.value, drawn.hidden
    )
    return Joint(parameters, matrices)


def _at_its_best(
    key: Any, setting: Setting, task: GroupSparseTask, step_sizes: tuple[float, ...], steps: int,
    batch: int, repetitions: int,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Attention and error at the step size with the least held-out loss on other seeds."""
    keys, stops = each_key(key, 4), plan_record(steps).stops

    def run(start_key: Any, run_key: Any, etas: np.ndarray) -> Any:
        return _joint_runs(
            jax.random.split(run_key, repetitions), task,
            _starts(start_key, setting, task, repetitions), setting.speed, etas, stops, batch)

    etas = np.resize(step_sizes, repetitions)
    losses = np.nan_to_num(np.asarray(run(keys[0], keys[1], etas).loss)[:, -1], nan=np.inf)
    best = min(step_sizes, key=lambda eta: float(losses[etas == eta].mean()))
    watched = run(keys[2], keys[3], np.full(repetitions, best))
    looks = np.asarray(watched.attention)[:, -1, 0, int(task.relevant)]
    error = np.where(np.isfinite(looks), np.asarray(watched.error)[:, -1], 0.5)
    return np.nan_to_num(looks, nan=0.0), error, best


@experiment("group-sparse.starts-and-encodings", scales={"standard": {"steps": 400}})
def starts_and_encodings(
    key: Any, *, settings: tuple[str, ...] = tuple(SETTINGS), groups: tuple[int, ...] = (4, 8, 12),
    group_dim: int = 4, step_sizes: tuple[float, ...] = (0.05, 0.1, 0.2), steps: int = 60,
    batch: int = 64, repetitions: int = 18,
) -> xarray.Dataset:
    """Attention on the group and test error of every setting at every D, each at the best of the
    step sizes, chosen by held-out loss on other seeds; a run that diverged is blind."""
    for name in settings:
        if name not in SETTINGS:
            raise unknown("setting", name, tuple(SETTINGS))
    rows = []
    for place, name in enumerate(settings):
        for number, size in enumerate(groups):
            one = jax.random.fold_in(jax.random.fold_in(key, place), number)
            task = group_sparse_task(size, group_dim, relevant=1)
            rows.append(
                _at_its_best(one, SETTINGS[name], task, step_sizes, steps, batch, repetitions))
    shape = len(settings), len(groups)
    attention, error, best = (np.array(part) for part in zip(*rows, strict=True))
    axes = ("setting", "groups", "repetition")
    return xarray.Dataset(
        along(axes, attention=attention.reshape(*shape, -1), error=error.reshape(*shape, -1))
        | along(axes[:2], step_size=best.reshape(shape)),
        {"setting": list(settings), "groups": list(groups)})
