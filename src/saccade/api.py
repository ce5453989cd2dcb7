"""The verbs, from Python: the same names and the same results as on the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saccade.errors import require
from saccade.lab import ledger, registry
from saccade.lab import run as runs
from saccade.lab.store import Store

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure as Drawing

Row = dict[str, Any]


def run(
    name: str, *, scale: str = "quick", block: int = 0, seed: int = 0, store: str | None = None,
    fresh: bool = False, **changes: Any,
) -> "xarray.Dataset":
    """The labelled dataset of experiment `name`, computed once and stored:
    `run("single-location.descent", dim=100)`."""
    experiment = registry.one("experiment", name, registry.experiments())
    result = runs.run(
        experiment, scale=scale, block=block, seed=seed, store=Store(store), fresh=fresh, **changes)
    return result.data


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

    return draw(registry.one("figure", name, registry.figures()), scale, seed, Store(store), fresh)


def report(
    rows: list[Row], folder: str | Path = "report", *, scale: str = "quick", seed: int = 0,
    store: str | None = None, drawn: Callable[[Any], None] = lambda picture: None,
) -> Path:
    """Write the static report of judged `rows`; returns the path of its first page. `drawn` is told
    of each figure."""
    from saccade.report import write_report

    return write_report(rows, folder, scale=scale, seed=seed, store=Store(store), drawn=drawn)
