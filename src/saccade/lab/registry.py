"""Finds what the studies offer: claims, experiments, figures, ... by name or pattern, with the
nearest name on a miss.

A study offers whatever of these kinds its modules define: there is no list to keep beside them. A
room that is a package may give the order of its modules as ORDER; others follow by name.
"""

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, Any

from saccade.errors import require_word, unknown
from saccade.studies import STUDIES

if TYPE_CHECKING:
    from saccade.lab.adviser import Adviser
    from saccade.lab.benchmark import Benchmark
    from saccade.lab.calculator import Calculator
    from saccade.lab.chart import ChartedLearner, ChartedTask
    from saccade.lab.claim import Claim
    from saccade.lab.experiment import Experiment
    from saccade.lab.figure import Figure
    from saccade.lab.growth import Growth
    from saccade.lab.sweep.api import BuiltIn
    from saccade.lab.training import Training


def modules(room: str) -> Iterator[ModuleType]:
    """A room's module and, if it is a package, its parts in order. A study may leave rooms out."""
    if find_spec(room) is None:
        return
    home = import_module(room)
    yield home
    if not hasattr(home, "__path__"):
        return
    names = [found.name for found in iter_modules(home.__path__)]
    first = list(getattr(home, "ORDER", ()))
    for name in sorted(
        names, key=lambda name: (first.index(name) if name in first else len(first), name)
    ):
        yield from modules(f"{room}.{name}")


def defined(module: ModuleType, kind: type) -> Iterator[Any]:
    """What a module holds of this kind, alone or in a tuple or list, in the order of its lines."""
    for value in list(vars(module).values()):
        yield from (
            item for item in (value if isinstance(value, (tuple, list)) else (value,))
            if isinstance(item, kind))


@cache
def _offered(kind: type, rooms: tuple[str, ...], study: str) -> tuple[Any, ...]:
    homes = [module for room in rooms for module in modules(STUDIES[study].room(room))]
    by_id: dict[str, Any] = {}
    for item in (item for module in homes for item in defined(module, kind)):
        if item.study == study and by_id.setdefault(item.id, item) is not item:
            raise ValueError(f"two things of study {study!r} are called {item.id!r}.")
    return tuple(by_id.values())


def offered(kind: str, rooms: tuple[str, ...], study: str | None = None) -> list[Any]:
    """Everything of one kind (`module.Class` of the laboratory, imported when it is asked for) in
    the `rooms` of one study, or of all in order."""
    if study is not None and study not in STUDIES:
        raise unknown("study", study, STUDIES)
    module, _, name = kind.rpartition(".")
    wanted = getattr(import_module(f"saccade.lab.{module}"), name)
    names = [study] if study else STUDIES
    return [item for name in names for item in _offered(wanted, rooms, name)]


def claims(study: str | None = None) -> "list[Claim]":
    return offered("claim.Claim", ("claims",), study)


def experiments(study: str | None = None) -> "list[Experiment]":
    """Those that claims and figures read, and those that only sweeps ask for (`cells`)."""
    return offered("experiment.Experiment", ("experiments", "cells"), study)


def figures(study: str | None = None) -> "list[Figure]":
    return offered("figure.Figure", ("figures",), study)


def calculators(study: str | None = None) -> "list[Calculator]":
    return offered("calculator.Calculator", ("calculators",), study)


SHARED = ("saccade.estimators.benchmarks",)
"""Rooms outside the studies that bring rows of speed."""


def benchmarks(study: str | None = None) -> "list[Benchmark | Growth]":
    """Ratios to a peer, then how cost grows; of one study, or of all and of the shared rooms."""
    from saccade.lab.benchmark import Benchmark, Growth

    kinds = ("benchmark.Benchmark", "growth.Growth")
    names = [study] if study else STUDIES
    own = [
        item for name in names for kind in kinds for item in offered(kind, ("benchmarks",), name)]
    rooms = [module for room in SHARED if study is None for module in modules(room)]
    both = (Benchmark, Growth)
    return own + [item for room in rooms for kind in both for item in defined(room, kind)]


def sweeps(study: str | None = None) -> "list[BuiltIn]":
    return offered("sweep.api.BuiltIn", ("sweeps",), study)


def trainings(study: str | None = None) -> "list[Training]":
    return offered("training.Training", ("experiments",), study)


def advisers(study: str | None = None) -> "list[Adviser]":
    """What theories say about somebody's own data (`saccade.advise`)."""
    return offered("adviser.Adviser", ("advice",), study)


def charted_tasks(study: str | None = None) -> "list[ChartedTask]":
    """Tasks on the map of all learners and all tasks."""
    return offered("chart.ChartedTask", ("charts",), study)


def charted_learners(study: str | None = None) -> "list[ChartedLearner]":
    return offered("chart.ChartedLearner", ("learners",), study)


@cache
def brought(kind: str, room: str) -> dict[str, str]:
    """The module that brings each thing of this kind, by the thing's name."""
    module, _, name = kind.rpartition(".")
    wanted = getattr(import_module(f"saccade.lab.{module}"), name)
    homes = [home for study in STUDIES.values() for home in modules(study.room(room))]
    return {item.id: home.__name__ for home in homes for item in defined(home, wanted)}


def one(kind: str, name: str, items: Iterable[Any]) -> Any:
    """The item called `name`, or a refusal that suggests the nearest."""
    by_id = {item.id: item for item in items}
    if name not in by_id:
        raise unknown(kind, name, by_id)
    return by_id[name]


def of_study(name: str, find: Any) -> list[Any]:
    """What `find` offers in the study before the first "." or "/" of `name`, else in all."""
    require_word("name", name, "saccade.list() shows all")
    study = name.replace("/", ".").split(".")[0]
    return find(study if study in STUDIES else None)


def lacking(requires: str | None) -> dict[str, Any] | None:
    """What of `requires` is not here: "nlp:safetensors,tokenizers" (an extra) or "data:cifar10"."""
    kind, _, listed = (requires or "").partition(":")
    names = [name for name in listed.split(",") if name]
    if kind == "data":
        from saccade.datasets.catalogue import how_to_get, is_here

        absent = [name for name in names if not is_here(name)]
        return {"data": absent, "get": how_to_get(absent[0])} if absent else None
    missing = [name for name in names if find_spec(name) is None]
    return {"extra": kind, "missing": missing} if missing else None


def find_claims(patterns: Sequence[str] = ()) -> "list[Claim]":
    """Claims whose id, study or spec row matches any pattern (shell wildcards); every pattern must
    match something."""
    for pattern in patterns:
        require_word("claim", pattern, "an id, a row or a study; several are several arguments")
    known = [claim for study in STUDIES if _concerned(study, patterns) for claim in claims(study)]
    if not patterns:
        return known
    wanted: set[str] = set()
    for pattern in patterns:
        matched = {claim.id for claim in known if _matches(claim, pattern)}
        if not matched:
            names = [name for claim in claims() for name in (claim.id, claim.spec)]
            raise unknown("claim", pattern, names + list(STUDIES))
        wanted |= matched
    return [claim for claim in known if claim.id in wanted]


def _concerned(study: str, patterns: Sequence[str]) -> bool:
    """Whether a pattern may mean this study: one that names another or its rows does not."""

    def names(pattern: str) -> set[str]:
        return {
            name for name, item in STUDIES.items()
            if pattern == name or pattern.startswith((f"{name}.", f"{item.prefix}-"))}

    return not patterns or any(study in (names(pattern) or {study}) for pattern in patterns)


def _matches(claim: "Claim", pattern: str) -> bool:
    names = (claim.id, claim.id.split(".", 1)[1], claim.study, claim.spec)
    return any(fnmatchcase(name, pattern) for name in names)
