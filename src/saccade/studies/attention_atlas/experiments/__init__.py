"""Learners meet tasks: one cell of the map, and the meetings that claims and figures read.

A draw is a task with fresh hidden directions, `samples` samples to learn from and `test` others to
judge by; it depends on the task's name and the number of the draw only, so all learners see the
same draws, and a smaller number of samples is the beginning of a larger one.
"""

import time
import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import equinox as eqx
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


def homes(tasks: Iterable[str], learners: Iterable[str]) -> set[str]:
    """The modules that bring these tasks and learners: a run's code version covers them and no
    others."""
    brought = (
        registry.brought("chart.ChartedTask", "charts"),
        registry.brought("chart.ChartedLearner", "learners"))
    return {
        home[name] for home, names in zip(brought, (tasks, learners)) for name in names
        if name in home}


def find_task(name: str) -> ChartedTask:
    return registry.one("task of the atlas", name, registry.charted_tasks())


def find_learner(name: str) -> ChartedLearner:
    return registry.one("learner of the atlas", name, registry.charted_learners())


class Samples(NamedTuple):
    """Samples of a task; `mask` is None where all have as many tokens."""

    X: np.ndarray
    y: np.ndarray
    where: np.ndarray
    mask: np.ndarray | None

    def rows(self, chosen: Any) -> "Samples":
        mask = None if self.mask is None else self.mask[chosen]
        return Samples(self.X[chosen], self.y[chosen], self.where[chosen], mask)


class Draw(NamedTuple):
    """One draw of a task: samples to learn from, of which a learner gets the first so many, and
    fresh ones to judge by."""

    known: Samples
    fresh: Samples
    judged: np.ndarray
    best: float
    null: float
    kind: Any


class Sizes(NamedTuple):
    """What a draw depends on besides its task and number; `numbers` are those behind a key."""

    most: int
    length: int
    dim: int
    test: int
    numbers: tuple[int, ...]


def sizes_of(key: Any, most: int, length: int, dim: int, test: int) -> Sizes:
    return Sizes(most, length, dim, test, tuple(np.asarray(jax.random.key_data(key)).tolist()))


@eqx.filter_jit
def _best(task: Any, X: Any) -> Any:
    """One program for all draws of a task."""
    return task.best(X)


def _keys(charted: ChartedTask, number: int, sizes: Sizes) -> Any:
    """Of the hidden directions, and of the samples."""
    key = jax.random.wrap_key_data(jnp.asarray(sizes.numbers, jnp.uint32))
    key = jax.random.fold_in(key, zlib.crc32(charted.id.encode()))
    return jax.random.split(jax.random.fold_in(key, number))


def task_of(charted: ChartedTask, number: int, sizes: Sizes) -> Any:
    """The task of draw `number`, with its own hidden directions."""
    size = charted.size or (sizes.length, sizes.dim)
    return charted.make(_keys(charted, number, sizes)[0], *size)


@lru_cache(maxsize=64)
def draw_of(name: str, number: int, sizes: Sizes) -> Draw:
    """Draw `number` of the task called `name`; the last ones are kept, for the next learner."""
    charted = find_task(name)
    task, of_samples = task_of(charted, number, sizes), _keys(charted, number, sizes)[1]
    kind = task.kind
    most, test = sizes.most, sizes.test
    if charted.most is not None:
        charted.check(most)
        test = min(test, charted.most - most)
    drawn = task.sample(of_samples, most + test)
    mask = np.asarray(drawn.mask) if charted.ragged else None
    whole = Samples(np.asarray(drawn.X), np.asarray(drawn.y), np.asarray(drawn.where), mask)
    known, fresh = whole.rows(slice(most)), whole.rows(slice(most, None))
    judged = charted.judged(fresh) & charted.located
    predicts = partial(_best, task) if isinstance(task, eqx.Module) else task.best
    best = error(np.asarray(predicts(fresh.X)), fresh.y, kind)
    return Draw(known, fresh, judged, best, null_error(fresh.y, kind), kind)


def met(learner: ChartedLearner, draw: Draw, samples: int, key: Any) -> dict[str, float]:
    """One learner on one draw. Numbers that are not finite are a result: its word is diverged.
    Seconds are the processor's, for fitting and predicting."""
    start = time.process_time()
    given, fresh = draw.known.rows(slice(samples)), draw.fresh
    learns: Any = learner.of(draw.kind, given.mask is not None)
    model = learns.fit(given.X, given.y, given.mask, key=key)
    F = np.asarray(model(fresh.X, fresh.mask))
    seconds = time.process_time() - start
    found = {"best": draw.best, "null": draw.null, "seconds": seconds, "word": 0}
    if not np.isfinite(F).all():
        return found | dict.fromkeys(("error", "excess", "auroc", "top1"), np.nan) | {"word": 1}
    wrong = error(F, fresh.y, draw.kind)
    looks = Looking(np.nan, np.nan)
    if draw.judged.any():
        seen = fresh.rows(draw.judged)
        looks = looking(np.asarray(model.attention(seen.X, seen.mask)), seen.where, seen.mask)
    gap = draw.null - draw.best  # none if all labels to judge by are alike
    excess = (wrong - draw.best) / gap if gap > 0 else np.nan
    return found | {"error": wrong, "excess": excess} | looks._asdict()


class Meeting(NamedTuple):
    """A learner on a task from so many samples."""

    task: str
    learner: str
    samples: int


@lru_cache(maxsize=2**14)
def _outcome(meeting: Meeting, number: int, sizes: Sizes) -> dict[str, float]:
    """Of one draw. Kept, since claims and their sabotages share meetings."""
    key = jax.random.wrap_key_data(jnp.asarray(sizes.numbers, jnp.uint32))
    draw = draw_of(meeting.task, number, sizes)
    return met(
        find_learner(meeting.learner), draw, meeting.samples, jax.random.fold_in(key, number))


def outcomes(
    key: Any, meetings: Sequence[Meeting], draws: int, length: int, dim: int, test: int
) -> dict[str, np.ndarray]:
    """Every quantity by (meeting, draw); meetings on one task see the same draws."""
    for name, value, least in (
        ("draws", draws, 1), ("length", length, 2), ("dim", dim, 3), ("test", test, 50),
        *(("samples", one.samples, 8) for one in meetings),
    ):
        require(value >= least, name, value, f"must be at least {least}")
    for one in meetings:
        find_learner(one.learner).of(kind_of(one.task, length, dim), find_task(one.task).ragged)
    found = {}
    for task in dict.fromkeys(one.task for one in meetings):
        own = [one for one in meetings if one.task == task]
        most = max(one.samples for one in own)
        limited = find_task(task).most is not None
        sizes = sizes_of(key, most if limited else max(most, POOL), length, dim, test)
        for number in range(draws):  # draws outermost: each is made once
            found |= {(one, number): _outcome(one, number, sizes) for one in own}
    return {
        name: np.array([[found[one, at][name] for at in range(draws)] for one in meetings])
        for name in (*QUANTITIES, "word")}


@lru_cache(maxsize=256)
def kind_of(task: str, length: int, dim: int) -> Any:
    """Numbers or labels."""
    charted = find_task(task)
    return charted.make(jax.random.key(0), *(charted.size or (length, dim))).kind


@experiment(
    "attention-atlas.cell", scales={"standard": {"draws": 32}, "paper": {"draws": 64}},
    finds=lambda asked: homes((asked.task,), (asked.learner,)))
def cell(
    key, *, task: str = "single-location-1", learner: str = "softmax", samples: int = 200,
    draws: int = DRAWS, length: int = LENGTH, dim: int = DIM, test: int = TEST,
) -> xarray.Dataset:
    """One learner on one task from one number of samples: errors, where it looks, seconds, a word
    for every draw."""
    found = outcomes(key, [Meeting(task, learner, samples)], draws, length, dim, test)
    flat = {name: ("draw", values[0]) for name, values in found.items() if name != "word"}
    return xarray.Dataset(flat | {"word": coded("draw", found["word"][0], WORDS)})


@experiment("attention-atlas.meetings", finds=lambda asked: homes(asked.tasks, asked.learners))
def meetings(
    key, *, tasks: tuple[str, ...] = ("single-location-1", "group-sparse"),
    learners: tuple[str, ...] = ("softmax", "place"), samples: tuple[int, ...] = (200,),
    draws: int = 32, length: int = LENGTH, dim: int = DIM, test: int = TEST,
) -> xarray.Dataset:
    """The first learner on the first task from the first number of samples, the second on the
    second, and so on, by (meeting, draw); a list of one serves all meetings."""
    asked = [Meeting(*one) for one in aligned(tasks=tasks, learners=learners, samples=samples)]
    found = outcomes(key, asked, draws, length, dim, test)
    axes = ("meeting", "draw")
    values: dict[str, Any] = {name: (axes, found[name]) for name in QUANTITIES}
    values["word"] = coded(axes, found["word"], WORDS)
    return xarray.Dataset(values, {"meeting": [" ".join(map(str, one)) for one in asked]})


def aligned(**lists: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Lists side by side; one entry stands for as many as the longest has."""
    longest = max(1, *(len(values) for values in lists.values()))
    for name, values in lists.items():
        require(
            len(values) in (1, longest), name, len(values),
            f"entries must be 1, or {longest} like the longest list")
    return list(zip(*(list(values) * (longest // len(values)) for values in lists.values())))
