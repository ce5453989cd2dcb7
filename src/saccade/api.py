"""The verbs, from Python: the same names and the same results as on the command line."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saccade.errors import InvalidInput, require
from saccade.lab import ledger, registry
from saccade.lab import run as runs
from saccade.lab.store import Store

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure as Drawing

Row = dict[str, Any]


OPTIONS = ("scale", "repetition", "seed", "store", "fresh")


def run(
    name: str, changes: Mapping[str, Any] | None = None, /, *, scale: str | None = None,
    repetition: int | None = None, seed: int | None = None, store: str | None = None,
    fresh: bool | None = None, **more: Any,
) -> "xarray.Dataset":
    """The labelled dataset of experiment `name`, computed once and stored.

    Parameters are given as a mapping, `run("spatial.realistic", {"block": 3}, scale="standard")`,
    or as keywords, `run("single-location.descent", dim=100)`; keywords that an experiment shares
    with the options of running it are refused, so that neither is taken for the other.
    """
    experiment = registry.one("experiment", name, registry.of_study(name, registry.experiments))
    given = dict(zip(OPTIONS, (scale, repetition, seed, store, fresh)))
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    for option in options if changes is None else ():
        if option in experiment.model.model_fields:
            raise InvalidInput(
                f"{option!r} is a parameter of {name} and an option of running it; write"
                f' run({name!r}, {{"{option}": ...}}) for the parameter, or'
                f" run({name!r}, {{}}, {option}=...) for the option.")
    options["store"] = Store(store)
    return runs.run(experiment, {**(changes or {}), **more}, **options).data


def verify(
    *patterns: str, scale: str = "quick", sabotage: bool = False, seed: int = 0, jobs: int = 1,
    store: str | None = None, fresh: bool = False, done: Callable[[Row], None] = lambda row: None,
) -> list[Row]:
    """Judge the claims that match `patterns` (all if none); one dictionary per claim, as in the
    JSON of the command line."""
    require(jobs >= 1, "jobs", jobs, "must be at least 1")
    chosen = registry.find_claims(patterns)
    conditions = ledger.Conditions(scale, seed, sabotage, fresh, store)
    conditions.store.check_writable()
    return ledger.judge_all(chosen, conditions, jobs, done)


def figure(
    name: str, *, scale: str = "quick", seed: int = 0, store: str | None = None, fresh: bool = False
) -> "Drawing":
    """Draw figure `name`, for example `figure("single-location/4a")`; a matplotlib Figure."""
    from saccade.lab.figure import draw

    return draw(
        registry.one("figure", name, registry.of_study(name, registry.figures)), scale, seed,
        Store(store), fresh)


def report(
    rows: list[Row], folder: str | Path = "report", *, scale: str = "quick", seed: int = 0,
    store: str | None = None, drawn: Callable[[Any], None] = lambda picture: None,
) -> Path:
    """Write the static report of judged `rows`; returns the path of its first page. `drawn` is told
    of each figure."""
    from saccade.report import write_report

    return write_report(rows, folder, scale=scale, seed=seed, store=Store(store), drawn=drawn)
