"""Ctrl-C: one sentence, exit code 130, within a few seconds, and no process left behind.

Python raises KeyboardInterrupt only when its own code runs again, which a compiled program can put
off for minutes; and an interpreter that shuts down while such a program runs can crash. So a thread
hears of the signal at once (`signal.set_wakeup_fd`). If the work has not ended PATIENCE seconds
later, or at the second Ctrl-C, it says the sentence, kills every process below this one and leaves.
"""

import multiprocessing.util
import os
import shutil
import signal
import sys
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

from saccade.lab.whole import discard_unfinished

PATIENCE = 3.0  # seconds for the work to end by itself
CODE = 130
WAYS_ON = {
    "bench": "nothing of a benchmark is kept.", "diagnose": "nothing of a comparison is kept.",
    "mutants": "runs of the unaltered formulas are kept, the altered ones are tried again.",
    "train": "checkpoints are kept, --resume goes on from them.",
    "explore": "the notebook is closed.", "data": "what is fetched already is kept."}
USUAL_WAY = "finished runs are kept, the same command goes on from there."


class Hearing:
    """Whether an interrupt was heard, which command it met, and whether the sentence was said."""

    def __init__(self) -> None:
        self.context: Any = None
        self.heard = self.said = False

    def say(self) -> None:
        if not self.said:
            self.said = True
            way = WAYS_ON.get(getattr(self.context, "invoked_subcommand", None) or "", USUAL_WAY)
            with suppress(OSError, ValueError):
                print(f"\nsaccade: interrupted; {way}", file=sys.stderr, flush=True)


HEARING = Hearing()


@contextmanager
def heard() -> Iterator[None]:
    """Inside, an interrupt ends the program as this module promises; for the whole program only."""
    ear, mouth = os.pipe()
    os.set_blocking(mouth, False)
    signal.set_wakeup_fd(mouth, warn_on_full_buffer=False)
    threading.Thread(target=_listen, args=(ear,), daemon=True).start()
    sys.unraisablehook = _unless_interrupted
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    except BaseException:
        if HEARING.heard:
            leave()
        raise
    finally:  # the work is done: what still runs ends by itself, and an interrupt cannot hasten it
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Heard before it is raised: whoever catches it may be faster than the thread that listens.

    An extension that is being imported may not survive an exception in the Python it calls (JAX's
    ends in a segmentation fault); nothing is under way then that would have to be unwound.
    """
    HEARING.heard = True
    if _importing(frame):
        threading.Thread(target=leave, daemon=True).start()
        return
    raise KeyboardInterrupt


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _unless_interrupted(problem: Any) -> None:
    """An interrupt that falls into a callback (JAX's at a collection of garbage) cannot be raised
    there; the thread that listens ends the program, so nothing need be said."""
    if problem.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(problem)


def _listen(ear: int) -> None:
    while signal.SIGINT not in os.read(ear, 1):
        pass
    HEARING.heard = True
    waiting = threading.Timer(PATIENCE, leave)
    waiting.daemon = True
    waiting.start()
    while signal.SIGINT not in os.read(ear, 1):
        pass
    leave()


def leave() -> NoReturn:
    """Say the sentence, end what was started, and go without shutting the interpreter down."""
    HEARING.say()
    last = threading.Timer(PATIENCE / 2, os._exit, [CODE])
    last.daemon = True
    last.start()
    workers = sys.modules.get("saccade.lab.workers")  # if not, nobody starts any
    if workers is not None:
        workers.start_no_more()
    _end_all()
    # Semaphores have names that outlive a process. Given back, they leave the tracker of such
    # things, which ends by itself, nothing to complain about.
    with suppress(Exception):
        getattr(multiprocessing.util, "_run_finalizers")(0)  # noqa: B009 (it has no public name)
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    _remove_temporaries()
    os._exit(CODE)


def _remove_temporaries() -> None:
    """What would go when the interpreter unwinds and shuts down, which it does not."""
    with suppress(OSError):
        discard_unfinished()
    # Not by looking for objects: one that an interrupted import left half made can crash a look.
    cleanup = getattr(tempfile.TemporaryDirectory, "_cleanup").__func__  # noqa: B009
    for finalizer in list(getattr(weakref.finalize, "_registry")):  # noqa: B009
        _, function, arguments, _ = finalizer.peek() or (None, None, [""], {})
        if getattr(function, "__func__", None) is cleanup:
            shutil.rmtree(arguments[0], ignore_errors=True)


def _end_all() -> None:
    """Kill every process below this one, but for the tracker of semaphores."""
    import psutil

    with suppress(psutil.Error):
        started = psutil.Process().children(recursive=True)
        for process in started:
            with suppress(psutil.Error):
                if not any("resource_tracker" in word for word in process.cmdline()):
                    process.kill()
        psutil.wait_procs(started, timeout=1.0)
