"""Learners meet tasks: one cell of the map, and the meetings that claims and figures read.

A draw is a task with fresh hidden directions, `samples` samples to learn from and `test` others to
judge by; it depends on the task's name and the number of the draw only, so all learners see the
same draws, and a smaller number of samples is the beginning of a larger one.
"""

import time
import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.errors import require
from saccade.lab import registry
from saccade.lab.chart import ChartedLearner, ChartedTask
from saccade.lab.coded import coded
from saccade.lab.experiment import experiment
from saccade.studies.attention_atlas.measures import Looking, error, looking, null_error

READS_ROOMS = ("charts", "learners")
WORDS = ("fitted", "diverged")
LENGTH, DIM, TEST, DRAWS = 8, 8, 2000, 16
POOL = 1024
"""Samples are drawn at least so many at once, so that a task compiles one program."""
QUANTITIES = ("error", "best", "null", "excess", "auroc", "top1", "seconds")


def find_task(name: str) -> ChartedTask:
    return registry.one("task of the atlas", name, registry.charted_tasks())


def find_learner(name: str) -> ChartedLearner:
    return registry.one("learner of the atlas", name, registry.charted_learners())


class Fresh(NamedTuple):
    """Samples to judge by."""

    X: np.ndarray
    y: np.ndarray
    where: np.ndarray


class Draw(NamedTuple):
    """One draw of a task; X and y begin with the samples to learn from, `fresh` are the others."""

    X: np.ndarray
    y: np.ndarray
    fresh: Fresh
    judged: np.ndarray
    best: float
    null: float
    kind: Any


@lru_cache(maxsize=2)
def draws_of(
    name: str, most: int, length: int, dim: int, test: int, count: int, numbers: tuple[int, ...]
):
    """`count` draws of the task called `name`, from the numbers behind a key; the last two that
    were asked for are kept, since every learner asks for them."""
    charted = find_task(name)
    key = jax.random.wrap_key_data(jnp.asarray(numbers, jnp.uint32))
    key = jax.random.fold_in(key, zlib.crc32(name.encode()))
    size = charted.size or (length, dim)
    return [
        _draw(charted, jax.random.fold_in(key, draw), most, *size, test) for draw in range(count)]


def _draw(charted: ChartedTask, key: Any, most: int, length: int, dim: int, test: int) -> Draw:
    of_task, of_samples = jax.random.split(key)
    task = charted.make(of_task, length, dim)
    if charted.most is not None:
        require(
            most < charted.most, "samples", most,
            f"must be below {charted.most} for {charted.id!r}, which has no more")
        test = min(test, charted.most - most)
    drawn = task.sample(of_samples, most + test)
    X, y, where = (np.asarray(part) for part in (drawn.X, drawn.y, drawn.where))
    fresh = Fresh(X[most:], y[most:], where[most:])
    F = np.asarray(task.best(fresh.X))
    judged = charted.judged(fresh) & charted.located
    return Draw(
        X[:most], y[:most], fresh, judged, error(F, fresh.y, task.kind),
        null_error(fresh.y, task.kind), task.kind)


def met(learner: ChartedLearner, draw: Draw, samples: int, key: Any) -> dict[str, float]:
    """One learner on one draw. Numbers that are not finite are a result: its word is diverged.
    Seconds are the processor's, for fitting and predicting."""
    start = time.process_time()
    learns: Any = learner.of(draw.kind)
    model = learns.fit(draw.X[:samples], draw.y[:samples], key=key)
    F = np.asarray(model(draw.fresh.X))
    seconds = time.process_time() - start
    found = {"best": draw.best, "null": draw.null, "seconds": seconds, "word": 0}
    if not np.isfinite(F).all():
        return found | dict.fromkeys(("error", "excess", "auroc", "top1"), np.nan) | {"word": 1}
    wrong = error(F, draw.fresh.y, draw.kind)
    looks = Looking(np.nan, np.nan)
    if draw.judged.any():
        weights = np.asarray(model.attention(draw.fresh.X[draw.judged]))
        looks = looking(weights, draw.fresh.where[draw.judged])
    excess = (wrong - draw.best) / (draw.null - draw.best)
    return found | {"error": wrong, "excess": excess} | looks._asdict()


def table(
    key: Any, task: str, learners: Sequence[str], samples: Sequence[int], draws: int, length: int,
    dim: int, test: int,
) -> dict[str, np.ndarray]:
    """Every quantity by (learner, samples, draw) on one task."""
    for name, value, least in (
        ("draws", draws, 1), ("length", length, 2), ("dim", dim, 3), ("test", test, 50),
        *(("samples", count, 8) for count in samples),
    ):
        require(value >= least, name, value, f"must be at least {least}")
    known = [find_learner(name) for name in learners]
    numbers = tuple(np.asarray(jax.random.key_data(key)).tolist())
    most = max(*samples, POOL) if find_task(task).most is None else max(samples)
    drawn = draws_of(task, most, length, dim, test, draws, numbers)
    rows = [
        [
            [
                met(learner, draw, count, jax.random.fold_in(key, at))
                for at, draw in enumerate(drawn)]
            for count in samples]
        for learner in known]
    return {
        name: np.array([[[cell[name] for cell in line] for line in row] for row in rows])
        for name in (*QUANTITIES, "word")}


@experiment("attention-atlas.cell", scales={"standard": {"draws": 32}, "paper": {"draws": 64}})
def cell(
    key, *, task: str = "single-location-1", learner: str = "softmax", samples: int = 200,
    draws: int = DRAWS, length: int = LENGTH, dim: int = DIM, test: int = TEST,
) -> xarray.Dataset:
    """One learner on one task from one number of samples: errors, where it looks, seconds, a word
    for every draw."""
    find_learner(learner).of(kind_of(task, length, dim))
    found = table(key, task, (learner,), (samples,), draws, length, dim, test)
    flat = {name: ("draw", values[0, 0]) for name, values in found.items() if name != "word"}
    return xarray.Dataset(flat | {"word": coded("draw", found["word"][0, 0], WORDS)})


def kind_of(task: str, length: int, dim: int) -> Any:
    """Numbers or labels."""
    charted = find_task(task)
    return charted.make(jax.random.key(0), *(charted.size or (length, dim))).kind


@experiment("attention-atlas.meetings")
def meetings(
    key, *, tasks: tuple[str, ...] = ("single-location-1", "group-sparse"),
    learners: tuple[str, ...] = ("pooled", "softmax", "place"), samples: tuple[int, ...] = (200,),
    draws: int = 32, length: int = LENGTH, dim: int = DIM, test: int = TEST,
) -> xarray.Dataset:
    """Several learners on the same draws of several tasks, by (task, learner, samples, draw)."""
    found = [table(key, task, learners, samples, draws, length, dim, test) for task in tasks]
    axes = ("task", "learner", "samples", "draw")
    values: dict[str, Any] = {
        name: (axes, np.stack([one[name] for one in found])) for name in QUANTITIES}
    values["word"] = coded(axes, np.stack([one["word"] for one in found]), WORDS)
    return xarray.Dataset(
        values, {"task": list(tasks), "learner": list(learners), "samples": list(samples)})
