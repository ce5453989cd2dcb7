"""The work on one group of cells, wherever it happens: compute what is missing, write each cell as
its own run, return only names.

A cell that goes wrong becomes a run with a status word and its traceback, and does not stop the
others.
"""

import time
import traceback
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from saccade.errors import Diverged, InvalidInput
from saccade.lab.layout import FINISHED
from saccade.lab.programs import let_go_of_programs
from saccade.lab.store import Request, Store, StoreUnwritable
from saccade.lab.sweep.target import Target, resolve

FLUSH_EVERY = 1.0  # seconds; what a power cut can take, and then the checksums tell
KILLED, TIMED_OUT = "killed", "timed out"
FAILURES = ("failed", "refused", "diverged", "out of memory", KILLED, TIMED_OUT)


class OtherVersion(InvalidInput):
    """A worker would compute something else than was planned."""


class Work(NamedTuple):
    """One cell to compute: the parameters as JSON, the replicate, and the name the run must get."""

    parameters: dict[str, Any]
    repetition: int
    name: str


class Task(NamedTuple):
    """Groups of cells for one worker. Plain values only: it crosses processes and machines."""

    run: str
    folder: str | None
    store: str
    seed: int
    groups: tuple[tuple[Work, ...], ...]


class Done(NamedTuple):
    """One cell that is settled; `seconds` of computing, 0 if somebody else had done it."""

    name: str
    status: str
    seconds: float


class Writer:
    """Saves runs at once, durably about once a second: a flush costs as much as many cells."""

    def __init__(self, store: Store):
        self.store = store
        self._flushed = time.monotonic()
        self._waiting = False

    def save(self, request: Request, data: Any, seconds: float) -> None:
        self.store.save(request, data, seconds, durable=False)
        self._waiting = True
        if time.monotonic() - self._flushed > FLUSH_EVERY:
            self.flush()

    def flush(self) -> None:
        if self._waiting:
            self.store.flush()
        self._flushed = time.monotonic()
        self._waiting = False


@lru_cache(maxsize=8)
def _store(address: str) -> Store:
    return Store(address)


def perform(task: Task) -> list[Done]:
    """Settle every cell of a task."""
    target = resolve(task.run, task.folder)
    writer = Writer(_store(task.store))
    done = [one for group in task.groups for one in settle(target, group, task.seed, writer)]
    writer.flush()
    return done


def settle(target: Target, group: Sequence[Work], seed: int, writer: Writer) -> list[Done]:
    """Settle one group; cells that are there already are left alone."""
    let_go_of_programs()  # a look at the clock, mostly
    present = [work for work in group if writer.store.backend.has(work.name)]
    missing = [work for work in group if work not in present] if present else list(group)
    done = [Done(work.name, FINISHED, 0.0) for work in present]
    if target.batch is not None and len(missing) > 1:
        made = _together(target, missing, seed, writer)
        if made is not None:
            return done + made
    return done + [_alone(target, work, seed, writer) for work in missing]


def _asked(target: Target, work: Work, seed: int) -> tuple[Any, Request]:
    parameters = target.parameters(work.parameters)
    request = target.request(parameters, work.repetition, seed)
    if request.name != work.name:
        raise OtherVersion(
            "A worker has another version of saccade, of JAX or of the experiment than the one that"
            " planned the sweep.")
    return parameters, request


def _together(
    target: Target, group: Sequence[Work], seed: int, writer: Writer
) -> list[Done] | None:
    """The group under one vmap; None if anything went wrong: each cell alone then tells which."""
    assert target.batch is not None
    asked = [_asked(target, work, seed) for work in group]
    start = time.perf_counter()
    try:
        keys = [target.key(work.repetition, seed) for work in group]
        made = target.batch.compute(keys, [parameters for parameters, _ in asked])
    except Exception:
        return None
    seconds = (time.perf_counter() - start) / len(group)
    done = []
    for (_, request), data in zip(asked, made, strict=True):
        writer.save(request, data, seconds)
        done.append(Done(request.name, FINISHED, seconds))
    return done


def _alone(target: Target, work: Work, seed: int, writer: Writer) -> Done:
    parameters, request = _asked(target, work, seed)
    start = time.perf_counter()
    try:
        data = target.compute(target.key(work.repetition, seed), parameters)
        seconds = time.perf_counter() - start
        writer.save(request, data, seconds)
        return Done(request.name, FINISHED, seconds)
    except StoreUnwritable:
        raise  # no fault of the cell
    except Exception as problem:
        seconds = time.perf_counter() - start
        sentence = f"{type(problem).__name__}: {problem}"
        writer.store.fail(request, word_for(problem), sentence, traceback.format_exc(), seconds)
        return Done(request.name, word_for(problem), seconds)


def word_for(problem: Exception) -> str:
    """The status word of a cell that raised."""
    if "RESOURCE_EXHAUSTED" in str(problem):  # how XLA says it
        return "out of memory"
    words = {InvalidInput: "refused", Diverged: "diverged", MemoryError: "out of memory"}
    return next((word for kind, word in words.items() if isinstance(problem, kind)), "failed")


def mark(task: Task, work: Work, word: str, sentence: str, seconds: float = 0.0) -> Done:
    """Keep a cell that has no result through no exception of its own: its worker died, or it took
    too long."""
    target = resolve(task.run, task.folder)
    _, request = _asked(target, work, task.seed)
    _store(task.store).fail(request, word, sentence, "", seconds)
    return Done(request.name, word, seconds)
