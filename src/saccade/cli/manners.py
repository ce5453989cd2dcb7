"""How the command line speaks: one sentence and exit code 2 for bad input, progress with time left, plain text when not a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from rich.console import Console


class Polite(TyperGroup):
    """Turns refusals into one sentence on standard error and exit code 2; an interrupt into exit code 130."""

    def invoke(self, ctx: Any) -> Any:
        from saccade.errors import Diverged, InvalidInput

        try:
            return super().invoke(ctx)
        except (InvalidInput, Diverged) as problem:
            typer.echo(f"saccade: {problem}", err=True)
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            typer.echo("saccade: interrupted; finished runs are kept, the same command goes on from there.", err=True)
            raise typer.Exit(130) from None


def console(stderr: bool = False) -> "Console":
    """A rich console; wide and without colours when the output is not a terminal, so that tables are not cut."""
    from rich.console import Console

    made = Console(stderr=stderr)
    return made if made.is_terminal else Console(stderr=stderr, width=200, no_color=True, highlight=False)


@contextmanager
def progress(total: float, what: str) -> Iterator[Callable[[float, str], None]]:
    """Yields `advance(amount, text)`. A live bar with the time left on a terminal; a line now and then elsewhere."""
    if not sys.stderr.isatty():
        yield lambda amount, text: typer.echo(text, err=True)
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
        console=console(stderr=True), transient=True,
    )
    with bar:
        task = bar.add_task(what, total=total)
        yield lambda amount, text: bar.update(task, advance=amount, description=text)


def write_text(path: str, text: str) -> None:
    """Write a file the user asked for, or refuse with one sentence."""
    from pathlib import Path

    from saccade.errors import InvalidInput

    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise InvalidInput(f"{path!r} cannot be written ({(problem.strerror or '').lower()}).") from None
