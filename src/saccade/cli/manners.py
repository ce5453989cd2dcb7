"""How the command line speaks: one sentence and exit code 2 for bad input, progress with time left, plain text when not a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from saccade.errors import Diverged, InvalidInput

if TYPE_CHECKING:
    from rich.console import Console


class Polite(TyperGroup):
    """Turns refusals into one sentence on standard error and exit code 2; an interrupt into exit code 130."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        with one_sentence():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        with one_sentence():
            return super().invoke(ctx)


@contextmanager
def one_sentence() -> Iterator[None]:
    """Whatever is refused inside, by us or by the parser of the command line, is said in one sentence."""
    try:
        yield
    except (InvalidInput, Diverged) as problem:
        typer.echo(f"saccade: {problem}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        typer.echo("saccade: interrupted; finished runs are kept, the same command goes on from there.", err=True)
        raise typer.Exit(130) from None
    except Exception as problem:
        # The parser's own exceptions, known by their method: typer has moved the class between its versions.
        say = getattr(problem, "format_message", None)
        if say is None or type(problem).__name__ == "NoArgsIsHelpError":
            raise
        text = " ".join(say().split())
        typer.echo(f"saccade: {text if text[-1:] in '.?!' else text + '.'}", err=True)
        raise typer.Exit(2) from None


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
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(what, total=total)
        yield lambda amount, text: bar.update(task, advance=amount, description=text)


def write_text(path: str, text: str) -> None:
    """Write a file the user asked for, or refuse with one sentence."""
    from pathlib import Path

    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise unwritable(path, problem) from None


def check_file(path: str) -> None:
    """Refuse at the door a file that cannot be written, before anything is computed. Leaves no trace, makes no folder."""
    from pathlib import Path
    from tempfile import TemporaryFile

    file = Path(path).absolute()
    try:
        if file.exists():
            with open(file, "a"):
                return
        nearest = next(folder for folder in file.parents if folder.exists())
        with TemporaryFile(dir=nearest):
            return
    except (OSError, ValueError) as problem:
        raise unwritable(path, problem) from None


def unwritable(path: str, problem: Exception) -> InvalidInput:
    reason = (getattr(problem, "strerror", None) or str(problem)).lower()
    return InvalidInput(f"output = {path!r} cannot be written ({reason}).")
