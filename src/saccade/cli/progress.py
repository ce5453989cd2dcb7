"""How far the work is, on standard error: on a terminal a live bar, else a line now and then."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from saccade.lab.pace import Pace, spoken
from saccade.lab.terminal import lively

if TYPE_CHECKING:
    from rich.progress import Progress

SILENCE = 10.0  # seconds between two lines where there is no live bar

Advance = Callable[[float, str], None]


@contextmanager
def progress(total: float, what: str, left: Callable[[], float] | None = None) -> Iterator[Advance]:
    """Yields `advance(amount, text)`; amounts add up to `total`. The seconds left are what `left`
    says, else they follow the amounts."""
    if not lively():
        yield Lines(total, left)
        return
    with _bar() as bar:
        task = bar.add_task(what, total=total, left=left)
        yield lambda amount, text: bar.update(task, advance=amount, description=text)


@contextmanager
def busy(what: str, seconds: float | None = None) -> Iterator[None]:
    """Work that cannot say how far it is; `seconds` says how long it usually takes. In a log it is
    told now and then."""
    pace = Pace({what: seconds or 0.0}, 1)
    pace.start(what)
    left = None if seconds is None else pace.left
    if not lively():
        from saccade.lab.telling import Telling

        with Telling(f"saccade: {what}", left=left):
            yield
        return
    with _bar() as bar:
        bar.add_task(what, total=None, left=left)
        yield


class Lines:
    """A line at most every SILENCE seconds, with the time left, and the last one: for a log."""

    def __init__(self, total: float, left: Callable[[], float] | None = None):
        self.total, self.done, self.left = total, 0.0, left
        self.said = time.monotonic()
        self.first: tuple[float, float] | None = None

    def __call__(self, amount: float, text: str) -> None:
        self.done += amount
        now, complete = time.monotonic(), self.done >= self.total * (1 - 1e-9)
        self.first = self.first or (now, self.done)
        if complete or now - self.said >= SILENCE:
            self.said = now
            typer.echo(text if complete else f"{text} ({self._words(now)})", err=True)

    def _words(self, now: float) -> str:
        if self.left is not None:
            return f"about {spoken(self.left())} left"
        since, before = self.first or (now, self.done)
        if self.done <= before:
            return "just begun"
        # What came before the first piece was done was compiling, too, and will not come again.
        return (
            f"about {spoken((now - since) * (self.total - self.done) / (self.done - before))} left")


def _bar() -> "Progress":
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn
    from rich.text import Text

    from saccade.cli.console import console

    class Left(ProgressColumn):
        """What is left, as whoever knows the work says it, or by the pace so far."""

        def render(self, task: Any) -> Text:
            known = task.fields.get("left")
            left = task.time_remaining if known is None else known()
            return Text("" if left is None else f"about {spoken(left)} left")

    # Three seconds of pace would jump about when one piece takes a minute.
    return Progress(
        TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn(), Left(),
        console=console(stderr=True), transient=True, speed_estimate_period=600)
