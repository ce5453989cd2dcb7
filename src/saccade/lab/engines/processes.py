"""Several processes of this machine. They are spawned, never forked: a forked process hangs once
JAX has threads.

Every worker is a pool of one. When it dies, it is known which task it had, the task waits again,
and a new worker takes its place; one shared pool would lose the whole batch.
"""

import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import NamedTuple

from saccade.lab.engines.queue import Engine, Groups, Note, Queue
from saccade.lab.programs import one_thread_each
from saccade.lab.sweep.perform import Done, Task, perform
from saccade.lab.sweep.plan import Plan
from saccade.lab.workers import end, new_worker, send


class Busy(NamedTuple):
    """A task that a worker has."""

    pool: ProcessPoolExecutor
    task: Task
    since: float


def in_processes(jobs: int) -> Engine:
    def engine(plan: Plan, groups: Groups, note: Note) -> None:
        queue = Queue(plan, groups, jobs)
        with one_thread_each():
            _drive(queue, min(jobs, len(groups)), note)

    return engine


def _drive(queue: Queue, jobs: int, note: Note) -> None:
    idle = [new_worker() for _ in range(jobs)]
    busy: dict[Future, Busy] = {}
    try:
        while queue or busy:
            while queue and idle:
                _start(queue.take(), idle.pop(), busy)
            for future in wait(busy, return_when=FIRST_COMPLETED).done:
                for done in _collect(queue, future, busy.pop(future), idle):
                    note(done)
    except BaseException:
        end(idle + [one.pool for one in busy.values()])
        raise
    for pool in idle:
        pool.shutdown()


def _start(task: Task, pool: ProcessPoolExecutor, busy: dict[Future, Busy]) -> None:
    pool, future = send(pool, perform, task)
    busy[future] = Busy(pool, task, time.monotonic())


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
