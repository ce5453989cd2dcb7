"""`saccade list`, `figure`, `explore`, `plan` and `new-study`: what studies offer, and the start of
one's own."""

import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from saccade.cli import completion
from saccade.cli.calculate import pairs
from saccade.cli.console import check_file, print_json, print_table
from saccade.cli.options import AsJson, Fresh, Scale, Seed, Set, StoreFolder, check_scale
from saccade.cli.progress import busy
from saccade.lab.pace import spoken
from saccade.studies import STUDIES


def list_(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Only this study, or all about one thing, e.g. an experiment's parameters.",
            autocompletion=completion.anything)] = None,
    as_json: AsJson = False,
) -> None:
    """List claims with their published verdicts, figures, calculators and experiments; or say all
    about one of them.

    Examples:

        saccade list single-location

        saccade list single-location.descent

        saccade list --json
    """
    from saccade.cli.tables import listed_verdict

    if name is not None and name not in STUDIES:
        _describe(name, as_json)
        return
    found = offered(name)
    if as_json:
        print_json(found)
        return
    for item in found["claims"]:
        item["verdict"] = listed_verdict(item["published"])
        item["reading"] = item["citation"]["reading"]
    for title, heads, keys in (
        (
            "claims", ("claim", "row", "read as", "kind", "expected", "published", "says"),
            ("id", "spec", "reading", "kind", "expected", "verdict", "statement")),
        ("figures", ("figure", "title"), ("id", "title")),
        ("calculators", ("calculator", "status", "gives"), ("id", "status", "about")),
        ("experiments", ("experiment", "runs"), ("id", "about")),
    ):
        rows = [[row[key] for key in keys] for row in found[title]]
        print_table(title.capitalize(), heads, rows)


def _describe(name: str, as_json: bool) -> None:
    from saccade.lab.discovery import describe

    found = describe(name)
    if as_json:
        print_json(found)
    else:
        typer.echo(repr(found))


def cite(study: Annotated[
    str | None,
    typer.Argument(
        help="A study; the papers of all if none is named.", autocompletion=completion.studies),
] = None,
) -> None:
    """Print BibTeX entries of saccade and of the paper behind a study.

    Examples:

        saccade cite sparse-token >> references.bib

        saccade cite
    """
    from saccade.api import cite as entries

    typer.echo(entries(study))


def offered(study: str | None = None) -> dict[str, list[dict[str, Any]]]:
    """From the index: nothing heavy is imported as long as it fits the source."""
    from saccade.lab import index, record

    found = index.listing(study)
    return found | {"claims": record.in_listing(found["claims"])}


def figure(
    name: Annotated[
        str,
        typer.Argument(
            help="STUDY/NAME, e.g. single-location/4a; saccade list shows all.",
            autocompletion=completion.figures)],
    scale: Scale = "quick",
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="FILE.pdf, .png or .svg (default: NAME.pdf here)."),
    ] = None,
    seed: Seed = 0, store: StoreFolder = None, fresh: Fresh = False, set_: Set = None,
) -> None:
    """Draw a figure; runs it needs are computed once and kept.

    Examples:

        saccade figure single-location/4a

        saccade figure single-location/basins --scale paper -o basins.png

        saccade figure sparse-token/1 --set signal=3
    """
    from saccade.lab import costs, registry, settings
    from saccade.lab import figure as drawing
    from saccade.lab.ledger import Conditions
    from saccade.lab.store import Store

    chosen = registry.one("figure", name, registry.of_study(name, registry.figures))
    check_scale(scale)
    path = output or f"{name.replace('/', '-')}.pdf"
    drawing.check_output(path)
    check_file(path)
    changes = settings.as_changes(pairs(set_ or []))
    runs = Store(store)
    runs.check_writable()
    conditions = Conditions(scale, seed, fresh=fresh, folder=store)
    seconds = costs.of_figures([settings.changed_figure(chosen, changes)], conditions)[name]
    if seconds > 2:
        typer.echo(f"{name} at scale {scale}: about {spoken(seconds)}.", err=True)
    with busy(f"drawing {name}", seconds):
        made = drawing.draw_as_asked(chosen, changes, scale, seed, runs, fresh)
    typer.echo(f"Figure: {drawing.save(made, path)}")


def explore(
    study: Annotated[
        str | None,
        typer.Argument(
            help="Which study's notebook to open; the first's if none is named.",
            autocompletion=completion.studies)] = None,
    port: Annotated[
        int | None, typer.Option(help="The port on localhost; chosen if not given.")] = None,
    edit: Annotated[bool, typer.Option("--edit", help="Open the notebook with its code.")] = False,
    headless: Annotated[
        bool, typer.Option("--headless", help="Do not open a browser; print the address.")] = False,
) -> None:
    """Move the sliders of a study: a marimo app on localhost (extra `explore`). Ctrl-C ends it.

    Examples:

        saccade explore single-location

        saccade explore sparse-token --port 2718 --headless
    """
    import subprocess

    from saccade.lab.notebooks import command
    from saccade.lab.workers import interrupts_held

    name = study or next(iter(STUDIES))
    words = command(name, port, edit, headless)
    typer.echo(f"saccade: opening the notebook of {name}; Ctrl-C closes it.", err=True)
    with interrupts_held():  # Ctrl-C is ours; marimo would tell where in its code it was
        server = subprocess.Popen(words)
    raise typer.Exit(server.wait())


planning = typer.Typer(
    no_args_is_help=True, help="Plan an experiment: how many samples does a target error need?",
    epilog="Example: saccade plan sparse-token --length 10 --signal 5 --target-error 0.05")
# The callback keeps it a group of commands, even if studies offer only one (or none).
planning.callback()(lambda: None)


def plan_commands() -> Iterator[tuple[str, Callable]]:
    """What studies offer as COMMANDS of their module `plan`. One that cannot be imported must not
    take the command line with it."""
    for study in STUDIES.values():
        room = study.room("plan")
        try:
            commands = import_module(room).COMMANDS if find_spec(room) else {}
        except Exception as problem:
            warnings.warn(f"The commands of {room} are left out: {problem}", stacklevel=2)
            continue
        yield from commands.items()


for _name, _function in plan_commands():
    planning.command(_name)(_function)


def new_study(
    name: Annotated[
        str, typer.Argument(help="Lower-case words joined by hyphens, e.g. sparse-patches.")],
    into: Annotated[
        str | None, typer.Option(help="The folder to write into; by default this one.")] = None,
    inside: Annotated[
        bool, typer.Option("--inside", help="Among saccade's own studies, in a checkout of it.")
    ] = False,
) -> None:
    """Lay out a study of your own, as a package; its tests fail until you fill it in.

    Examples:

        saccade new-study sparse-patches

        saccade new-study sparse-patches --into ~/papers

        saccade new-study sparse-patches --inside
    """
    from saccade import studies
    from saccade.lab.new_study import new_study as lay_out

    folder = lay_out(name, into or (studies.__path__[0] if inside else "."), inside=inside)
    typer.echo(
        f"Next: write {folder.name!r} into BUILT_IN of saccade/studies/__init__.py, fill it in, and"
        " run tools/format.py." if inside
        else "Next: pip install -e the folder below, run its tests, and fill in what they miss.",
        err=True)
    typer.echo(str(folder))
