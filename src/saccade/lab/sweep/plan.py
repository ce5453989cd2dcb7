"""The plan of a sweep: its cells, which of them the store has, what remains, and for how long."""

import statistics
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from saccade.errors import InvalidInput
from saccade.lab.layout import DAMAGE, FAILED, FINISHED, Request
from saccade.lab.store import DamagedRun, Store
from saccade.lab.sweep.design import Place, Specification, grid_axes, places
from saccade.lab.sweep.perform import Task, Work
from saccade.lab.sweep.target import Target, resolve, varied

MISSING = "missing"
SAMPLE = 2000  # runs that are looked at, at most, to estimate a time


class Cell(NamedTuple):
    """One cell: the values of the axes, the replicate, the full parameters and the run it is."""

    place: Place
    replicate: int
    parameters: Any
    request: Request
    name: str


@dataclass(frozen=True)
class Plan:
    """`status` tells of every run by name: finished, missing, or the word under which it failed."""

    specification: Specification
    folder: str | None
    target: Target
    store: Store
    cells: Sequence[Cell]
    status: Mapping[str, str]
    damaged: Mapping[str, str]
    seconds_per_cell: float | None

    @property
    def axes(self) -> dict[str, list[Any]]:
        return grid_axes(self.specification)

    def missing(self, retry: bool = False) -> list[Cell]:
        """The cells to compute, each run once: what is missing, with `retry` what failed too."""
        wanted = {cell.name: cell for cell in self.cells if self.status[cell.name] != FINISHED}
        return [cell for cell in wanted.values() if retry or self.status[cell.name] == MISSING]

    def groups(self, retry: bool = False) -> list[tuple[Work, ...]]:
        """The missing cells in the groups that are computed at once."""
        cells = self.missing(retry)
        work = [Work(dict(cell.request.parameters), cell.replicate, cell.name) for cell in cells]
        numbers = varied(self.target, [cell.parameters for cell in cells])
        return [tuple(work[number] for number in group) for group in numbers]

    def task(self, groups: Sequence[tuple[Work, ...]]) -> Task:
        made = self.specification
        return Task(made.run, self.folder, self.store.backend.everywhere, made.seed, tuple(groups))

    def counts(self) -> dict[str, int]:
        """Number of distinct runs by status word."""
        words = [self.status[name] for name in {cell.name for cell in self.cells}]
        return {word: words.count(word) for word in sorted(set(words))}


def plan(made: Specification, store: Store, folder: str | None = None, mend: bool = True) -> Plan:
    """Lay out the cells and look into the store: damaged runs are reported, set aside if `mend`."""
    target = resolve(made.run, folder)
    if made.replicates > 1 and not target.random:
        raise InvalidInput(
            f"replicates = {made.replicates} must be 1: the calculator {made.run!r} has no"
            " randomness.")
    if target.defaults(made.scale) == {} and made.scale != "quick" and not target.random:
        raise InvalidInput(f"scale = {made.scale!r} means nothing to a calculator; leave it out.")
    cells = [
        _cell(target, made, place, replicate) for place in places(made)
        for replicate in range(made.replicates)]
    status, damaged, seconds = _look(cells, store, mend)
    if not seconds and MISSING in status.values():
        seconds = _of_its_kind(target, store)
    per_cell = statistics.median(seconds) if seconds else None
    return Plan(made, folder, target, store, cells, status, damaged, per_cell)


def _cell(target: Target, made: Specification, place: Place, replicate: int) -> Cell:
    parameters = target.parameters({**made.fixed, **place}, made.scale)
    request = target.request(parameters, replicate, made.seed)
    return Cell(place, replicate, parameters, request, request.name)


def _look(
    cells: Sequence[Cell], store: Store, mend: bool
) -> tuple[dict[str, str], dict[str, str], list[float]]:
    """Status by name, what is damaged and why, seconds of finished cells; checksums verified."""
    status: dict[str, str] = {}
    damaged: dict[str, str] = {}
    seconds: list[float] = []
    stored = set(store.names())
    for name in {cell.name: None for cell in cells}:
        status[name] = MISSING
        for run in (name, name + FAILED):
            if run in stored and status[name] == MISSING:
                record = _verified(store, run, damaged, mend)
                status[name] = record["status"] if record else MISSING
                if run == name and record:
                    seconds.append(float(record["seconds"]))
    return status, damaged, seconds


def _verified(store: Store, run: str, damaged: dict[str, str], mend: bool) -> dict[str, Any] | None:
    try:
        return store.contents(run).record
    except DAMAGE as problem:
        damaged[run] = str(problem)
        if mend:
            store.take(run)  # warns, and sets it aside
        else:
            warnings.warn(f"Run {run} is damaged ({problem}).", DamagedRun, stacklevel=5)
        return None


def _of_its_kind(target: Target, store: Store) -> list[float]:
    """Seconds of stored runs of the same experiment at other parameters."""
    seconds = []
    for name in islice(store.names(), SAMPLE):
        try:
            record = store.record(name)
        except DAMAGE:
            continue
        if record["request"]["experiment"] == target.label and record["status"] == FINISHED:
            seconds.append(float(record["seconds"]))
    return seconds


def describe(
    made: Plan, workers: int = 1, retry: bool = False,
    say: Callable[[float], str] = lambda s: f"{s:.3g} s",
) -> str:
    """The plan in a few lines."""
    asked = made.specification
    runs, groups = len(made.status), made.groups(retry)
    missing = sum(len(group) for group in groups)
    axes = (
        " x ".join(f"{name} ({len(values)})" for name, values in made.axes.items())
        or f"{asked.design} design")
    failed = {
        word: count for word, count in made.counts().items() if word not in (FINISHED, MISSING)}
    lines = [
        asked.title or asked.run, f"  run        {made.target.label}",
        f"  cells      {runs}: {axes}"
        + (f" x {asked.replicates} replicates" if asked.replicates > 1 else ""),
        f"  in store   {made.counts().get(FINISHED, 0)} finished"
        + "".join(f", {n} {word}" for word, n in failed.items()),
        f"  to compute {missing}, {_how(made, len(groups), missing)}",
        f"  time       {_time(made, missing, workers, say)}", f"  store      {made.store.address}"]
    if failed and not retry:
        lines.append("  (cells that failed are computed again with --retry)")
    return "\n".join(lines)


def _how(made: Plan, groups: int, missing: int) -> str:
    if made.target.batch is None:
        return "one by one (not written for groups)"
    return (
        f"in {groups} groups of up to {made.target.batch.width} at once" if missing else "in groups"
    )


def _time(made: Plan, missing: int, workers: int, say: Callable[[float], str]) -> str:
    if not missing:
        return "nothing to do"
    if made.seconds_per_cell is None:
        return "not known: the store has no run of this kind"
    total = made.seconds_per_cell * missing / workers
    return (
        f"about {say(total)} (stored runs of this kind took {say(made.seconds_per_cell)}, median)")
