"""What somebody who works in Python hears of long work, on standard error: nothing for two seconds,
then how far it is and how long the rest takes; on a terminal in one line that changes, elsewhere
(a notebook, a log) in a line now and then.

`progress=False` turns it off for one call, `$SACCADE_QUIET` for all.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from saccade.lab.pace import Pace, spoken
from saccade.lab.terminal import lively
from saccade.lab.workers import Piece, Watcher

PATIENCE = 2.0  # seconds: shorter work needs no word
BETWEEN = 10.0  # seconds between two lines where lines cannot be written over
QUIET = "SACCADE_QUIET"


class Telling:
    """Inside `with Telling("saccade.sweep", total) as telling`, `telling(amount, text)` notes what
    is done; amounts add up to `total`. The seconds left are what `left` says, else they follow the
    amounts; where neither is known, the seconds so far are said."""

    def __init__(
        self, what: str, total: float = 0.0, left: Callable[[], float] | None = None, *,
        wanted: bool = True,
    ):
        self.what, self.total, self.left = what, total, left
        self.wanted = wanted and not os.environ.get(QUIET)
        self.done, self.text, self.since = 0.0, "", time.monotonic()
        self.first: tuple[float, float] | None = None
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._speak, daemon=True)

    def __enter__(self) -> "Telling":
        if self.wanted:
            self.thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.over.set()
        if self.wanted:
            self.thread.join()

    def __call__(self, amount: float, text: str = "") -> None:
        self.done, self.text = self.done + amount, text
        self.first = self.first or (time.monotonic(), self.done)

    def words(self) -> str:
        """`saccade.figure: single-location/4a (about 40 seconds left)`."""
        now = time.monotonic()
        if self.left is not None:
            time_left = f"about {spoken(self.left())} left"
        else:
            time_left = self._by_amounts(now) or f"{spoken(now - self.since)} so far"
        return f"{self.what}{f': {self.text}' * bool(self.text)} ({time_left})"

    def _by_amounts(self, now: float) -> str:
        since, before = self.first or (now, self.done)
        if self.done <= before or self.total <= 0:
            return ""
        # What came before the first piece was done was compiling, too, and will not come again.
        left = (now - since) * max(self.total - self.done, 0) / (self.done - before)
        return f"about {spoken(left)} left"

    def _speak(self) -> None:
        if self.over.wait(PATIENCE):
            return
        live = lively()
        with suppress(OSError, ValueError):  # whoever listened may be gone
            while True:
                words = f"\r\033[K{self.words()}" if live else f"{self.words()}\n"
                print(words, end="", file=sys.stderr, flush=True)
                if self.over.wait(1.0 if live else BETWEEN):
                    break
            print("\r\033[K" if live else "", end="", file=sys.stderr, flush=True)


class Followed(Watcher):
    """Follows pieces of work with the time left by their pace; `with Followed(...) as watch`."""

    def __init__(self, what: str, wanted: bool = True):
        self.telling = Telling(what, wanted=wanted)

    def __enter__(self) -> "Followed":
        self.telling.__enter__()
        return self

    def __exit__(self, *_: Any) -> None:
        self.telling.__exit__()

    def begin(self, pieces: Sequence[Piece], jobs: int) -> None:
        self.pace, self.count, self.ended = paced(pieces, jobs), len(pieces), 0
        self.telling.left = self.pace.left

    def start(self, piece: Piece) -> None:
        self.pace.start(piece.name)
        self.telling.text = f"{self._counted()}{piece.name}"

    def finish(self, piece: Piece, result: Any) -> None:
        self.pace.finish(piece.name)
        self.ended += 1
        self.telling.text = f"{self._counted()}{piece.name}"

    def _counted(self) -> str:
        return f"{self.ended} of {self.count} done, " if self.count > 1 else ""


def paced(pieces: Sequence[Piece], jobs: int) -> Pace:
    """The pace of pieces in the order in which they are handed out: several workers begin with the
    dearest."""
    in_order = sorted(pieces, key=lambda piece: -piece.cost) if jobs else pieces
    return Pace({piece.name: piece.cost for piece in in_order}, jobs)
