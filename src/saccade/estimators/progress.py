"""How far a fit is, in one line on standard error that is written over: for people who wait."""

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from saccade.errors import require

PATIENCE = 1.0
"""Seconds before anything is said: who waits less wants no line."""


def wanted(verbose: Any) -> bool:
    """True and False are what they say; "auto" is True where standard error is a terminal."""
    require(verbose in ("auto", True, False), "verbose", verbose, "must be True, False or 'auto'")
    return sys.stderr.isatty() if verbose == "auto" else bool(verbose)


class Progress:
    """Told of every piece of work that is done, it says what comes next and about how long all that
    is left will take: pieces of one name should take as long as those of it did so far.

        with Progress(["mean", "lme"] * 3, on=True) as done:
            done("mean")
    """

    def __init__(
        self, pieces: Iterable[str], on: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.left, self.on, self.clock = list(pieces), on, clock
        self.spent: defaultdict[str, float] = defaultdict(float)
        self.times: Counter[str] = Counter()
        self.begun = self.last = clock()
        self.width = 0

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *problem: object) -> None:
        self._write("")

    def __call__(self, name: str) -> None:
        now = self.clock()
        self.left.remove(name)
        self.spent[name] += now - self.last
        self.times[name] += 1
        self.last = now
        if self.left:
            seconds = self.seconds_left()
            rest = "" if seconds is None else f", about {max(1, round(seconds))} s left"
            total = len(self.left) + self.times.total()
            self.say(f"fitting {self.left[0]}: {self.times.total()} of {total} done{rest}")

    def say(self, text: str) -> None:
        if self.clock() - self.begun >= PATIENCE:
            self._write(text)

    def seconds_left(self) -> float | None:
        """None as long as a piece is left of which none was done before."""
        if any(not self.times[name] for name in self.left):
            return None
        return sum(self.spent[name] / self.times[name] for name in self.left)

    def _write(self, text: str) -> None:
        if self.on and (text or self.width):
            end = "" if text else "\r"
            print(f"\r{text:<{self.width}}", end=end, file=sys.stderr, flush=True)
            self.width = len(text)
