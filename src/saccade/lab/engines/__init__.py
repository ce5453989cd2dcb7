"""Engines: who computes the cells of a sweep. An engine is called with a plan, groups of cells, and
whom to tell of each settled cell."""

from saccade.errors import InvalidInput, require, require_number, require_whole
from saccade.lab.engines.cluster import Tls, on_cluster
from saccade.lab.engines.processes import in_processes
from saccade.lab.engines.queue import Engine, Groups, Note
from saccade.lab.sweep.perform import Writer, settle
from saccade.lab.sweep.plan import Plan

LONGEST = 366 * 86400.0  # seconds


def choose(
    jobs: int | None = None, cluster: str | None = None, tls: Tls | None = None,
    cell_timeout: float | None = None, *, otherwise: Engine | None = None,
) -> Engine:
    """In `jobs` processes, on the Dask scheduler at address `cluster`, or, if neither is asked for,
    `otherwise` (in this process). A limit to the time of a cell needs a process to end."""
    if cluster is not None and (jobs is not None or cell_timeout is not None):
        option, why = (
            ("--jobs", "a cluster has its own workers") if jobs is not None
            else ("--cell-timeout", "saccade cannot end the workers of a cluster"))
        raise InvalidInput(f"{option} and --cluster exclude each other: {why}.")
    if cluster is not None:
        return on_cluster(cluster, tls)
    if cell_timeout is not None:
        require_number("cell_timeout", cell_timeout)
        require(
            0 < cell_timeout <= LONGEST, "cell_timeout", cell_timeout,
            "must be above 0 seconds and at most a year")
    if jobs is not None or cell_timeout is not None:
        if jobs is not None:
            require_whole("jobs", jobs, 1)
        return in_processes(jobs or 1, cell_timeout, all_threads=jobs is None)
    return otherwise or here


def aside(plan: Plan, groups: Groups, note: Note) -> None:
    """The engine of the command line: experiments in one process beside this one, so that a cell
    that kills its process does not take the others with it; formulas here, which do no such thing.
    (Not from Python: a script without `if __name__ == "__main__"` cannot start processes.)"""
    apart = plan.target.random and plan.store.backend.shared
    (in_processes(1, all_threads=True) if apart else here)(plan, groups, note)


def here(plan: Plan, groups: Groups, note: Note) -> None:
    """The engine that needs nothing: every cell in this process, one group after the other."""
    writer = Writer(plan.store)
    try:
        for group in groups:
            for done in settle(plan.target, group, plan.specification.seed, writer):
                note(done)
    finally:
        writer.flush()
