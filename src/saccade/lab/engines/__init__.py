"""Engines: who computes the cells of a sweep. An engine is called with a plan, groups of cells, and
whom to tell of each settled cell."""

from saccade.errors import InvalidInput, require
from saccade.lab.engines.cluster import Tls, on_cluster
from saccade.lab.engines.processes import in_processes
from saccade.lab.engines.queue import Engine, Groups, Note
from saccade.lab.sweep.perform import Writer, settle
from saccade.lab.sweep.plan import Plan


def choose(jobs: int | None = None, cluster: str | None = None, tls: Tls | None = None) -> Engine:
    """In this process, in `jobs` processes, or on the Dask scheduler at address `cluster`."""
    if jobs is not None and cluster is not None:
        raise InvalidInput(
            "--jobs and --cluster exclude each other: a cluster has its own workers.")
    if cluster is not None:
        return on_cluster(cluster, tls)
    if jobs is not None:
        require(jobs >= 1, "jobs", jobs, "must be at least 1")
        return in_processes(jobs)
    return here


def here(plan: Plan, groups: Groups, note: Note) -> None:
    """The engine that needs nothing: every cell in this process, one group after the other."""
    writer = Writer(plan.store)
    try:
        for group in groups:
            for done in settle(plan.target, group, plan.specification.seed, writer):
                note(done)
    finally:
        writer.flush()
