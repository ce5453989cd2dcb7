"""Several processes of this machine. They are spawned, never forked: a forked process hangs once
JAX has threads.

Every worker is a pool of one. When it dies, it is known which task it had, the task waits again,
and a new worker takes its place; one shared pool would lose the whole batch.
"""

import multiprocessing
import os
import signal
import sys
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import NamedTuple

from saccade.lab.engines.queue import Engine, Groups, Note, Queue
from saccade.lab.programs import one_thread_each
from saccade.lab.sweep.perform import Done, Task, perform
from saccade.lab.sweep.plan import Plan

GRACE = 2.0  # seconds that workers have to end by themselves


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
    idle = [_worker() for _ in range(jobs)]
    busy: dict[Future, Busy] = {}
    try:
        while queue or busy:
            while queue and idle:
                _start(queue.take(), idle.pop(), busy)
            for future in wait(busy, return_when=FIRST_COMPLETED).done:
                for done in _collect(queue, future, busy.pop(future), idle):
                    note(done)
    except BaseException:
        _end(idle + [one.pool for one in busy.values()])
        raise
    for pool in idle:
        pool.shutdown()


def _start(task: Task, pool: ProcessPoolExecutor, busy: dict[Future, Busy]) -> None:
    try:
        future = pool.submit(perform, task)
    except BrokenProcessPool:  # it died while it had nothing to do
        pool = _worker()
        future = pool.submit(perform, task)
    busy[future] = Busy(pool, task, time.monotonic())


def _collect(
    queue: Queue, future: Future, was: Busy, idle: list[ProcessPoolExecutor]
) -> list[Done]:
    try:
        done = future.result()
    except BrokenProcessPool:
        was.pool.shutdown(wait=False)
        idle.append(_worker())
        return queue.after_death(was.task)
    idle.append(was.pool)
    queue.learn(was.task, was.since)
    return done


def _worker() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=_begin)


def _begin() -> None:
    """Leave interrupts to the parent, clean up when told to end, do not outlive a killed parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(1))  # unwinds, so that nothing half written is left
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()


def _end(pools: list[ProcessPoolExecutor]) -> None:
    """Stop at once: what is finished is in the store, and what is half written nobody sees."""
    processes = [
        one for pool in pools for one in list((getattr(pool, "_processes", None) or {}).values())]
    for process in processes:
        process.terminate()
    for pool in pools:
        pool.shutdown(wait=False, cancel_futures=True)
    deadline = time.monotonic() + GRACE
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))
        process.kill()  # a long compiled program does not hear the polite word
