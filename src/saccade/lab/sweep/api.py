"""`saccade.sweep`: understand what is asked for, carry the plan out on an engine, and say what
became of every cell; also the sweeps that studies bring along."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saccade.errors import InvalidInput, require
from saccade.lab import engines, registry
from saccade.lab.archive.dataset import gather_plan
from saccade.lab.layout import FINISHED
from saccade.lab.store import Store
from saccade.lab.style import STYLE
from saccade.lab.sweep.design import Specification, read, specification
from saccade.lab.sweep.perform import Done
from saccade.lab.sweep.plan import MISSING, Plan, plan
from saccade.lab.sweep.target import resolve
from saccade.lab.telling import Telling

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure as Drawing

Source = str | Path | Mapping[str, Any]


@dataclass(frozen=True)
class BuiltIn:
    """A sweep of a study, one phase diagram as a TOML file to copy from: `draw(data)` draws it
    opened; `minutes` is what it last took in one process of a busy machine."""

    id: str
    title: str
    caption: str
    file: Path
    draw: Callable[["xarray.Dataset"], "Drawing"]
    minutes: float

    @property
    def study(self) -> str:
        return self.id.split("/")[0]

    def specification(self) -> Specification:
        return read(self.file)


def find(name: str) -> BuiltIn:
    return registry.one("sweep", name, registry.of_study(name, registry.sweeps))


def draw(item: BuiltIn, data: "xarray.Dataset") -> "Drawing":
    """The figure, in the house style."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        return item.draw(data)


@dataclass(frozen=True, repr=False)
class Outcome:
    """A sweep carried out: the plan with what is now in the store, and the seconds it took."""

    plan: Plan
    computed: int
    seconds: float

    @property
    def keys(self) -> list[str]:
        """Names of the runs, cell by cell."""
        return [cell.name for cell in self.plan.cells]

    @property
    def failed(self) -> dict[str, str]:
        """Status word of every run that did not finish."""
        return {
            name: word for name, word in self.plan.status.items() if word not in (FINISHED, MISSING)
        }

    def __repr__(self) -> str:
        counts = ", ".join(f"{number} {word}" for word, number in self.plan.counts().items())
        return (
            f"Outcome of {self.plan.specification.title or self.plan.target.label}: {counts};"
            f" {self.computed} computed in {self.seconds:.3g} s; .open() gives all as one dataset")

    def open(self) -> "xarray.Dataset":
        """All cells as one dataset."""
        return gather_plan(self.plan)


def sweep(
    source: Source, *, axes: Mapping[str, Any] | None = None,
    fixed: Mapping[str, Any] | None = None, design: str | None = None,
    cells: Sequence[Mapping[str, Any]] | None = None, samples: int | None = None,
    scale: str | None = None, replicates: int | None = None, seed: int | None = None,
    title: str | None = None, jobs: int | None = None, cluster: str | None = None,
    tls: engines.Tls | None = None, cell_timeout: float | None = None, store: str | None = None,
    retry: bool = False, dry_run: bool = False, done: Callable[[Done], None] | None = None,
    progress: bool = True, **more: Any,
) -> Outcome:
    """Evaluate many cells and keep each as a run: `sweep("single-location.risk", axes={"kappa":
    [0.1, 0.5]}, fixed={...}).open()`.

    `source` is a TOML file, a built-in sweep (`study/name`), a mapping with the contents of such a
    file, or the name of an experiment or a calculator. Beside a name, the `design` is "grid" (all
    combinations of `axes`: parameter = values, or {"low", "high", "count"}), "list" (`cells`) or
    "random" (`samples` of `axes`); `fixed` holds the parameters that all cells share.

    Cells are computed in this process, in `jobs` others or on a Dask `cluster`. A cell that takes
    longer than `cell_timeout` seconds is ended and marked, and the rest goes on. `done` is told of
    every cell, instead of standard error.
    """
    given = {
        "axes": axes, "fixed": fixed, "design": design, "cells": cells, "samples": samples,
        "scale": scale, "replicates": replicates, "seed": seed, "title": title}
    asked = {name: value for name, value in given.items() if value is not None} | more
    made, folder = understood(source, asked)
    engine = engines.choose(jobs, cluster, tls, cell_timeout)
    laid_out = plan(made, Store(store), folder, mend=not dry_run)
    if dry_run:
        return Outcome(laid_out, 0, 0.0)
    missing = len(laid_out.missing(retry))
    with Telling("saccade.sweep", missing, wanted=progress and done is None) as telling:

        def tell(one: Done) -> None:
            telling(1, f"{telling.done + 1:.0f} of {missing} cells")

        return execute(laid_out, engine, retry, done or tell)


def understood(
    source: Source, asked: Mapping[str, Any] | None = None
) -> tuple[Specification, str | None]:
    """The specification that `source` means, and the folder to look for its own modules in."""
    asked = asked or {}
    known = isinstance(source, Mapping | str | Path)
    require(known, "source", source, "must be a name, a TOML file or what such a file holds")
    if isinstance(source, Mapping):
        return specification({**source, **asked}), None
    if isinstance(source, str) and not source.endswith(".toml") and "/" not in source:
        resolve(source)  # a name that nothing bears is the first thing to say
        return specification({"run": source, **asked}), None
    if asked:
        raise InvalidInput(
            f"{next(iter(asked))!r} cannot be given beside a sweep file; write it into a copy of"
            " the file.")
    if isinstance(source, Path) or source.endswith(".toml"):
        return read(source), str(Path(source).absolute().parent)
    return find(source).specification(), None


def execute(
    plan: Plan, engine: engines.Engine, retry: bool = False,
    watch: Callable[[Done], None] = lambda done: None,
) -> Outcome:
    """Compute what is missing. Interrupted, it leaves whole runs only; called again, it goes on."""
    status = dict(plan.status)
    start = time.monotonic()
    groups = plan.groups(retry)
    settled: set[str] = set()

    def note(done: Done) -> None:
        status[done.name] = done.status
        settled.add(done.name)
        watch(done)

    if groups:
        plan.store.check_writable()
        engine(plan, groups, note)
    return Outcome(replace(plan, status=status), len(settled), time.monotonic() - start)
