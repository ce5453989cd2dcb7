"""Engines: who computes the cells of a sweep. An engine is called with a plan, groups of cells, and
whom to tell of each settled cell."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from saccade.errors import InvalidInput, require
from saccade.lab.sweep.perform import Done, Work

if TYPE_CHECKING:
    from saccade.lab.engines.cluster import Tls
    from saccade.lab.sweep.plan import Plan

Group = tuple[Work, ...]
Engine = Callable[["Plan", Sequence[Group], Callable[[Done], None]], None]


def choose(jobs: int | None = None, cluster: str | None = None, tls: "Tls | None" = None) -> Engine:
    """In this process; in `jobs` processes of this machine; or on the Dask scheduler at address
    `cluster`."""
    if jobs is not None and cluster is not None:
        raise InvalidInput(
            "--jobs and --cluster exclude each other: a cluster has its own workers.")
    if cluster is not None:
        from saccade.lab.engines.cluster import on_cluster

        return on_cluster(cluster, tls)
    if jobs is not None:
        require(jobs >= 1, "jobs", jobs, "must be at least 1")
        from saccade.lab.engines.processes import in_processes

        return in_processes(jobs)
    from saccade.lab.engines.here import here

    return here
