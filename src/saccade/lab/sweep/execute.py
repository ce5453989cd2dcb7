"""Carry a plan out on an engine, and say what became of every cell."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from saccade.lab.layout import FINISHED
from saccade.lab.sweep.perform import Done
from saccade.lab.sweep.plan import MISSING, Plan

if TYPE_CHECKING:
    import xarray

    from saccade.lab.engines import Engine

Watch = Callable[[Done], None]


@dataclass(frozen=True)
class Outcome:
    """A sweep that has been carried out: the plan with what is now in the store, and the seconds it
    took."""

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

    def open(self) -> "xarray.Dataset":
        """All cells as one dataset."""
        from saccade.lab.archive.gather import gather_plan

        return gather_plan(self.plan)


def execute(
    plan: Plan, engine: "Engine", retry: bool = False, watch: Watch = lambda done: None
) -> Outcome:
    """Compute what is missing. Interrupted, it leaves whole runs only; called again, it goes on
    from there."""
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
