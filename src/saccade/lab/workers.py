"""Processes of this machine that do pieces of work, for the ledger, the figures and sweeps alike.

They are spawned, never forked: a forked process hangs once JAX has threads. Every worker is a pool
of one: when it dies, it is known which piece it had. An interrupt belongs to the parent; it ends
its workers within GRACE seconds, and a worker does not outlive a parent that was killed.
"""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, NamedTuple

from saccade.lab.programs import one_thread_each

GRACE = 2.0  # seconds that workers have to end by themselves
TRIES = 2  # a piece whose process died is tried once more: it may have been another's memory
DIED = "its process died twice (killed, or out of memory)"


class Piece(NamedTuple):
    """`function(*arguments)`, which another process can be sent; about `cost` seconds of work on
    the things it `holds`. No two pieces work on one thing at once, so that nothing is computed
    twice."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    cost: float = 1.0
    holds: frozenset[str] = frozenset()


class Watcher:
    """Is told of all pieces first, then when each starts and when it ends with its result. This one
    keeps silent."""

    def begin(self, pieces: Sequence[Piece], jobs: int) -> None: ...

    def start(self, piece: Piece) -> None: ...

    def finish(self, piece: Piece, result: Any) -> None: ...


class Died(NamedTuple):
    """What a piece gives whose process died every time it was tried."""

    reason: str = DIED


def carry_out(
    pieces: Sequence[Piece], jobs: int = 0, watch: Watcher | None = None, tries: int = TRIES
) -> list[Any]:
    """The results of all pieces, in their order: one after another in this process (`jobs` = 0), or
    the dearest first in `jobs` others."""
    watch = watch or Watcher()
    watch.begin(pieces, jobs)
    if jobs == 0:
        return [_here(piece, watch) for piece in pieces]
    with one_thread_each():
        return _Crew(pieces, min(jobs, len(pieces)), watch, tries).work()


def _here(piece: Piece, watch: Watcher) -> Any:
    watch.start(piece)
    result = piece.function(*piece.arguments)
    watch.finish(piece, result)
    return result


class _Crew:
    """Workers, the pieces that wait, and who has which."""

    def __init__(self, pieces: Sequence[Piece], jobs: int, watch: Watcher, tries: int):
        self.pieces, self.watch, self.tries = pieces, watch, tries
        self.waiting = sorted(range(len(pieces)), key=lambda number: -pieces[number].cost)
        self.idle = [new_worker() for _ in range(jobs)]
        self.busy: dict[Future, tuple[ProcessPoolExecutor, int]] = {}
        self.deaths = [0] * len(pieces)
        self.results: list[Any] = [None] * len(pieces)

    def work(self) -> list[Any]:
        try:
            while self.waiting or self.busy:
                self._hand_out()
                for future in wait(self.busy, return_when=FIRST_COMPLETED).done:
                    self._collect(future)
        except BaseException:
            end(self.idle + [pool for pool, _ in self.busy.values()])
            raise
        for pool in self.idle:
            pool.shutdown()
        return self.results

    def _hand_out(self) -> None:
        """The dearest pieces to idle workers, but for those whose things are being worked on."""
        held = {thing for _, number in self.busy.values() for thing in self.pieces[number].holds}
        for number in list(self.waiting):
            piece = self.pieces[number]
            if not self.idle or piece.holds & held:
                continue
            self.waiting.remove(number)
            held |= piece.holds
            if not self.deaths[number]:
                self.watch.start(piece)
            pool, future = send(self.idle.pop(), piece.function, *piece.arguments)
            self.busy[future] = pool, number

    def _collect(self, future: Future) -> None:
        pool, number = self.busy.pop(future)
        if isinstance(future.exception(), BrokenProcessPool):
            pool.shutdown(wait=False)
            self.idle.append(new_worker())
            self.deaths[number] += 1
            if self.deaths[number] < self.tries:
                self.waiting.insert(0, number)
                return
            result = Died()
        else:
            self.idle.append(pool)
            result = future.result()
        self.results[number] = result
        self.watch.finish(self.pieces[number], result)


def new_worker() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=_begin)


def send(
    pool: ProcessPoolExecutor, function: Callable[..., Any], *arguments: Any
) -> tuple[ProcessPoolExecutor, Future]:
    """Give a worker work, or a new one if it died while it had nothing to do. Its process starts
    with the first work, deaf to interrupts from birth."""
    with interrupts_held(), _STARTING:
        try:
            return pool, pool.submit(function, *arguments)
        except BrokenProcessPool:
            pool = new_worker()
            return pool, pool.submit(function, *arguments)


_STARTING = threading.Lock()  # held while a process is started
_LEAVING = threading.Event()


def start_no_more() -> None:
    """For a program that is about to leave, and kills its processes first: one that dies so would
    be replaced by a new one. Whoever wants to start one now waits for the end."""
    if not _LEAVING.is_set():
        _LEAVING.set()
        _STARTING.acquire(timeout=1.0)


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Interrupts wait outside. A process started inside inherits that, so that Ctrl-C in a terminal
    does not reach it while it still imports."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Leave interrupts to the parent, clean up when told to end, do not outlive a killed parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(1))  # unwinds, so that nothing half written is left
    sys.unraisablehook = _unless_told_to_end
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()


def _unless_told_to_end(problem: Any) -> None:
    """The order to end may fall into a callback (JAX's at a collection of garbage), where nothing
    can be raised: it is given again a moment later."""
    if problem.exc_type is SystemExit:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGTERM)).start()
    else:
        sys.__unraisablehook__(problem)


def end(pools: Sequence[ProcessPoolExecutor]) -> None:
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
