"""An existing Dask cluster: `dask scheduler` and its workers, started by hand, by Slurm
(dask-jobqueue) or by anything else.

A task writes its runs to the store, which all machines must see, and returns only names: what a
dead worker had finished is not lost, and a scheduler that dies takes nothing with it. At most one
task per worker thread is under way, so that a death is blamed on the right one.
"""

import os
import time
import warnings
from concurrent.futures import CancelledError
from typing import Any, NamedTuple

from saccade.errors import InvalidInput, require
from saccade.lab.engines.queue import DEATHS, Engine, Groups, Note, Queue
from saccade.lab.sweep.perform import Done, Task, perform
from saccade.lab.sweep.plan import Plan

PATIENCE = 60.0  # seconds that a scheduler has to come back
LOOK = 1.0  # seconds between two looks at who is there


class Tls(NamedTuple):
    """Files of an encrypted connection, in PEM format."""

    ca_file: str | None = None
    cert: str | None = None
    key: str | None = None


class Lost(Exception):
    """The connection to the scheduler is gone."""


def on_cluster(address: str, tls: Tls | None = None, patience: float = PATIENCE) -> Engine:
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise InvalidInput(
            "--cluster needs Dask, which is not installed: pip install 'saccade[cluster]'."
        ) from None

    for name, path in (tls or Tls())._asdict().items():
        require(path is None or os.path.isfile(path), f"tls_{name}", path, "must be a file")

    def engine(plan: Plan, groups: Groups, note: Note) -> None:
        queue = Queue(plan, groups, workers=1)
        while queue:
            with _connected(address, tls, patience) as client:
                try:
                    _drive(client, queue, note)
                except Lost:
                    warnings.warn(
                        f"The scheduler at {address} is gone; trying to find it again.",
                        stacklevel=2)

    return engine


def _connected(address: str, tls: Tls | None, patience: float) -> Any:
    """A client; tries for `patience` seconds, since a restarted scheduler needs a moment."""
    import distributed

    security = None
    if tls is not None:
        security = distributed.Security(
            tls_ca_file=tls.ca_file, tls_client_cert=tls.cert, tls_client_key=tls.key,
            require_encryption=True)
    deadline = time.monotonic() + patience
    while True:
        try:
            return distributed.Client(
                address, security=security, timeout="5s", set_as_default=False)
        except (OSError, TimeoutError, ValueError, TypeError, RuntimeError) as problem:
            # A wrong address, or one that wants TLS and was given no files, does not get better by
            # waiting.
            if isinstance(problem, ValueError | TypeError) or time.monotonic() > deadline:
                raise InvalidInput(
                    f"The cluster at {address!r} cannot be reached"
                    f" ({str(problem).splitlines()[0] or type(problem).__name__}); finished runs"
                    " are kept, the same command goes on from there.") from None
            time.sleep(LOOK)


def _drive(client: Any, queue: Queue, note: Note) -> None:
    busy: dict[Any, tuple[Task, float]] = {}
    alone_since = None
    try:
        while queue or busy:
            threads = _threads(client)
            if not threads and alone_since is None:
                warnings.warn(
                    "The cluster has no workers yet; waiting for the first.", stacklevel=3)
                alone_since = time.monotonic()
            queue.workers = max(1, threads)
            while queue and len(busy) < threads:
                task = queue.take()
                busy[client.submit(perform, task, pure=False)] = (task, time.monotonic())
            for future in _finished(client, busy):
                for done in _collect(queue, future, *busy.pop(future)):
                    note(done)
    except BaseException as problem:
        for task, _ in busy.values():
            queue.put_back(task)
        if isinstance(problem, Lost):
            raise
        _cancel(client, list(busy))
        raise


def _threads(client: Any) -> int:
    try:
        return sum(client.nthreads().values())
    except (OSError, TimeoutError, RuntimeError, AttributeError) as problem:
        raise Lost from problem


def _finished(client: Any, busy: dict[Any, Any]) -> list[Any]:
    """Tasks that came to an end, after at most `LOOK` seconds."""
    import distributed

    if not busy:
        time.sleep(0.05)
        return []
    try:
        with client.as_current():
            distributed.wait(list(busy), timeout=LOOK, return_when="FIRST_COMPLETED")
    except (TimeoutError, CancelledError):
        pass
    except OSError as problem:
        raise Lost from problem
    if client.status != "running" or any(future.status in ("cancelled", "lost") for future in busy):
        raise Lost
    return [future for future in busy if future.done()]


def _collect(queue: Queue, future: Any, task: Task, since: float) -> list[Done]:
    import distributed

    if future.status == "error":
        problem = future.exception()
        if isinstance(problem, distributed.KilledWorker):
            # Dask has tried several workers already.
            return queue.after_death(task, DEATHS)
        raise problem
    done = future.result()
    if not queue.plan.store.backend.has(done[-1].name) and done[-1].status == "finished":
        raise InvalidInput(
            "The workers of the cluster do not write to the same store as this machine:"
            f" {task.store!r}.")
    queue.learn(task, since)
    return done


def _cancel(client: Any, futures: list[Any]) -> None:
    try:
        client.cancel(futures, force=True)
    except Exception:  # the sweep ends anyway, and with the reason that it has
        warnings.warn(
            "The cluster could not be told to stop what it was doing for this sweep.", stacklevel=2)
