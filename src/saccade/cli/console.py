"""How the command line speaks: tables and JSON, one sentence and exit code 2 for bad input, plain
text when not a terminal or when asked for."""

import json
import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from saccade.cli.interrupts import CODE, HEARING
from saccade.cli.life import LIFE
from saccade.errors import Diverged, InvalidInput
from saccade.lab.terminal import PLAIN, lively
from saccade.lab.whole import unwritable, write_whole

if TYPE_CHECKING:
    from rich.console import Console


TRY = """Three things to try:
  saccade report --open                                   every claim with verdict and picture
  saccade verify single-location.critical-temperature     does it hold? (--sabotage: what breaks it)
  saccade figure single-location/4a                       attention finds the token
"""


class OneSentence(TyperGroup):
    """Says refusals in one sentence; understands `--plain` anywhere on the line."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        if "--plain" in args[:end]:
            ctx.call_on_close(_turn_plain_on())
        if is_plain():
            without_frames(self)
        return super().parse_args(
            ctx, [word for word in args[:end] if word != "--plain"] + args[end:])

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        with one_sentence():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        HEARING.context = LIFE.context = ctx
        with one_sentence():
            return super().invoke(ctx)


@contextmanager
def one_sentence() -> Iterator[None]:
    """A refusal inside, by us or by the parser, is one sentence on standard error and exit code 2;
    an interrupt is exit code 130."""
    try:
        yield
    except (InvalidInput, Diverged) as problem:
        typer.echo(f"saccade: {problem}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        HEARING.say()
        raise typer.Exit(CODE) from None
    except Exception as problem:
        # The parser's own exceptions, known by their method: typer has moved the class between its
        # versions.
        say = getattr(problem, "format_message", None)
        if say is None:
            raise
        context = getattr(problem, "ctx", None)
        if context is not None and type(problem).__name__ == "NoArgsIsHelpError":
            typer.echo(context.get_help(), nl=is_plain())  # rich prints by itself
            if context.parent is None:
                typer.echo(f"\n{TRY}", nl=False)
            raise typer.Exit() from None
        text = _wrong_value(problem) or " ".join(say().split())
        typer.echo(f"saccade: {text if text[-1:] in '.?!' else text + '.'}", err=True)
        raise typer.Exit(2) from None


def _wrong_value(problem: Any) -> str:
    """The sentence for an option whose value cannot be read, where the parser found that out by
    pydantic, which does not say the value; else nothing."""
    found = getattr(problem.__cause__, "errors", None)
    names = getattr(getattr(problem, "param", None), "opts", None)
    if not found or not names:
        return ""
    from saccade.lab.messages import wrong_value

    return wrong_value(names[0], found()[0])


def _turn_plain_on() -> Callable[[], None]:
    """Turn plain output on, for this process and those it starts; gives what turns it off again."""
    before = {PLAIN: os.environ[PLAIN]} if PLAIN in os.environ else {}
    os.environ[PLAIN] = "1"

    def restore() -> None:
        os.environ.pop(PLAIN, None)
        os.environ.update(before)

    return restore


def is_plain() -> bool:
    """No frames and no colours: asked for, or nobody looks at a terminal that could show them."""
    return not lively(sys.stdout)


def without_frames(command: Any) -> None:
    """Help as plain text, for a command and all below it."""
    command.rich_markup_mode = None
    for below in getattr(command, "commands", {}).values():
        without_frames(below)


def console(stderr: bool = False) -> "Console":
    """A rich console; without a terminal wide and without colours, so that tables are not cut."""
    from rich.console import Console

    made = Console(stderr=stderr)
    if made.is_terminal and not os.environ.get(PLAIN):
        return made
    return Console(stderr=stderr, width=200, no_color=True, highlight=False, force_terminal=False)


def print_table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    if is_plain():
        typer.echo("\n".join(plain_lines(title, heads, rows)))
        return
    from saccade.cli.tables import simple_table

    console().print(simple_table(title, heads, rows))


def plain_lines(
    title: str, heads: Sequence[str], rows: Iterable[Sequence[str]], width: int = 200
) -> list[str]:
    """A table without frames: only the last column wraps. (Rich takes half a second for all
    claims.)"""
    cells = [[str(cell) for cell in row] for row in (heads, *rows)]
    wide = [max(map(len, column)) + 2 for column in zip(*cells)][:-1]
    left = max(width - sum(wide), 40)
    lines = [title]
    for row in cells:
        first, *more = textwrap.wrap(row[-1], left) or [""]
        start = "".join(cell.ljust(size) for cell, size in zip(row, wide))
        lines += [(start + first).rstrip(), *(" " * sum(wide) + text for text in more)]
    return lines


def print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=1))


def give(what: str, value: Any, json_file: str | None, show: Callable[[], None]) -> None:
    """`value` as JSON alone for the file '-'; else `show` it, and write the file if it is named."""
    if json_file == "-":
        print_json(value)
        return
    show()
    if json_file:
        write_whole(json_file, json.dumps(value, indent=1))
        typer.echo(f"{what} written to {json_file}")


def check_file(path: str | None) -> None:
    """Refuse a file that cannot be written ('-' and none can) in advance; leaves no trace."""
    if path in (None, "-"):
        return
    file = Path(path).absolute()
    try:
        if file.exists():
            with open(file, "a"):
                pass
            if not file.is_file():
                return
        nearest = next(folder for folder in file.resolve().parents if folder.exists())
        with TemporaryFile(dir=nearest):
            return
    except (OSError, ValueError) as problem:
        raise unwritable(path, problem) from None
