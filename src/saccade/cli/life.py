"""The first sign of life: a command that is still silent after SILENT seconds (it imports, compiles
or looks through a store) says on standard error that it is at work."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

SILENT = 1.5  # seconds
QUIET = ("explore",)  # says its own piece


class Life:
    """Whether anything has been said or shown since the command began."""

    def __init__(self) -> None:
        self.context: Any = None
        self.shown = False

    def say(self) -> None:
        name = getattr(self.context, "invoked_subcommand", None) or ""
        if not self.shown and name and name not in QUIET:
            self.shown = True
            with suppress(OSError, ValueError):
                print(
                    f"saccade: {name} is at work; importing and compiling come first.",
                    file=sys.stderr, flush=True)


LIFE = Life()


@contextmanager
def signs_of_life() -> Iterator[None]:
    """For the whole program: inside, silence is broken once."""
    timer = threading.Timer(SILENT, LIFE.say)
    timer.daemon = True
    out, err = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _Noticing(out), _Noticing(err)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
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
