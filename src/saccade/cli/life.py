"""The first sign of life: a long command says on standard error that it is at work before it
imports what computes, which alone takes seconds on a busy machine; so does a short one that is
slow, and whatever is still silent after SILENT seconds."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

SILENT = 1.0  # seconds
HEAVY = ("numpy", "scipy", "jax", "sklearn", "matplotlib", "xarray")
SHORT = ("calc", "compare", "cite", "ledger", "list", "new-study", "runs")
SLOW = 0.5  # seconds from the start to the first import: a short command will not be short here
QUIET = ("explore",)  # says its own piece


class Life:
    """Whether anything has been said or shown since the command began."""

    def __init__(self) -> None:
        self.context: Any = None
        self.shown = False
        self.since = time.monotonic()

    @property
    def name(self) -> str:
        return getattr(self.context, "invoked_subcommand", None) or ""

    def say(self) -> None:
        if not self.shown and self.name and self.name not in QUIET:
            self.shown = True
            with suppress(OSError, ValueError):
                print(
                    f"saccade: {self.name} is at work; importing and compiling come first.",
                    file=sys.stderr, flush=True)

    def find_spec(self, module: str, path: Any = None, target: Any = None, /) -> None:
        """Asked by Python before every import; finds nothing itself. A library that loads holds
        Python's lock, so that a timer could come too late."""
        late = time.monotonic() - self.since >= SLOW
        if module in HEAVY and (late or self.name not in SHORT):
            self.say()


LIFE = Life()


@contextmanager
def signs_of_life() -> Iterator[None]:
    """For the whole program: inside, silence is broken once."""
    timer = threading.Timer(SILENT, LIFE.say)
    timer.daemon = True
    out, err = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _Noticing(out), _Noticing(err)
    sys.meta_path.insert(0, LIFE)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        sys.meta_path.remove(LIFE)
        sys.stdout, sys.stderr = out, err


class _Noticing:
    """A stream that notes when something is written to it."""

    def __init__(self, stream: Any):
        self._stream = stream

    def write(self, text: str) -> int:
        LIFE.shown = True
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
