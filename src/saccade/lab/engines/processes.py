"""Several processes of this machine. They are spawned, never forked: a forked process hangs once
JAX has threads.

Every worker is a pool of one. When it dies, it is known which task it had, the task waits again,
and a new worker takes its place; one shared pool would lose the whole batch. So it goes with a
worker that is ended because its cells take longer than they may.
"""

import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from dataclasses import dataclass

from saccade.lab.engines.queue import Engine, Groups, Note, Queue
from saccade.lab.programs import one_thread_each
from saccade.lab.sweep.perform import Done, Task, perform
from saccade.lab.sweep.plan import Plan
from saccade.lab.sweep.target import resolve
from saccade.lab.workers import end, new_worker, send

LOOK = 0.25  # seconds between two looks at the clock, where cells have a limit


@dataclass
class Busy:
    """A task that a worker has; `ready` ends when its process runs and knows what to compute, and
    only then does the time of the cells begin."""

    pool: ProcessPoolExecutor
    task: Task
    since: float
    ready: Future | None = None

    def is_late(self, limit: float) -> bool:
        if self.ready is not None:
            if not self.ready.done():
                return False
            self.since, self.ready = time.monotonic(), None
        cells = sum(len(group) for group in self.task.groups)
        return time.monotonic() - self.since > limit * cells


def in_processes(jobs: int, limit: float | None = None, *, all_threads: bool = False) -> Engine:
    """`limit`: seconds that a cell may take; those of a task have their sum."""

    def engine(plan: Plan, groups: Groups, note: Note) -> None:
        queue = Queue(plan, groups, jobs)
        with nullcontext() if all_threads else one_thread_each():
            _drive(queue, min(jobs, len(groups)), note, limit)

    return engine


def _drive(queue: Queue, jobs: int, note: Note, limit: float | None) -> None:
    idle = [new_worker() for _ in range(jobs)]
    busy: dict[Future, Busy] = {}
    try:
        while queue or busy:
            while queue and idle:
                _start(queue.take(), idle.pop(), busy, limit)
            ended = wait(busy, LOOK if limit else None, return_when=FIRST_COMPLETED).done
            for future in ended:
                for done in _collect(queue, future, busy.pop(future), idle):
                    note(done)
            for done in _end_late(queue, busy, idle, limit) if limit else ():
                note(done)
    except BaseException:
        end(idle + [one.pool for one in busy.values()])
        raise
    for pool in idle:
        pool.shutdown()


def _start(
    task: Task, pool: ProcessPoolExecutor, busy: dict[Future, Busy], limit: float | None
) -> None:
    ready = None
    if limit:
        pool, ready = send(pool, _get_ready, task)
    pool, future = send(pool, perform, task)
    busy[future] = Busy(pool, task, time.monotonic(), ready)


def _get_ready(task: Task) -> None:
    """All that is done once: what is imported, and JAX's own beginning."""
    resolve(task.run, task.folder).key(0, task.seed)


def _collect(
    queue: Queue, future: Future, was: Busy, idle: list[ProcessPoolExecutor]
) -> list[Done]:
    try:
        done = future.result()
    except BrokenProcessPool:
        was.pool.shutdown(wait=False)
        idle.append(new_worker())
        return queue.after_death(was.task)
    idle.append(was.pool)
    queue.learn(was.task, was.since)
    return done


def _end_late(
    queue: Queue, busy: dict[Future, Busy], idle: list[ProcessPoolExecutor], limit: float
) -> list[Done]:
    """End the workers whose tasks take too long; what becomes of the cells of those."""
    late = {future: one for future, one in busy.items() if one.is_late(limit)}
    done: list[Done] = []
    for future, one in late.items():
        del busy[future]
        end([one.pool])
        idle.append(new_worker())
        done += queue.after_limit(one.task, limit)
    return done
