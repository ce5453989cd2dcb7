"""`saccade figure`: draw a figure from stored runs."""

from typing import Annotated

import typer

from saccade.cli.completion import figures
from saccade.cli.judge import Fresh, Scale, Seed, StoreFolder


def figure(
    name: Annotated[
        str,
        typer.Argument(
            help="STUDY/NAME, e.g. single-location/4a; saccade list shows all.",
            autocompletion=figures)],
    scale: Scale = "quick",
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="FILE.pdf, .png or .svg (default: NAME.pdf here)."),
    ] = None,
    seed: Seed = 0, store: StoreFolder = None, fresh: Fresh = False,
) -> None:
    """Draw a figure; runs it needs are computed once and kept.

    Examples:

        saccade figure single-location/4a

        saccade figure single-location/basins --scale paper -o basins.png
    """
    from saccade.cli.console import check_file
    from saccade.cli.progress import busy
    from saccade.lab import figure as drawing
    from saccade.lab import registry
    from saccade.lab.store import Store

    chosen = registry.one("figure", name, registry.figures())
    path = output or f"{name.replace('/', '-')}.pdf"
    drawing.check_output(path)
    check_file(path)
    runs = Store(store)
    runs.check_writable()
    seconds = chosen.seconds.get(scale, 1.0)
    if seconds > 2:
        typer.echo(
            f"{name} at scale {scale}: about {seconds:.0f} seconds if nothing is stored yet.",
            err=True)
    with busy(f"drawing {name}", seconds if seconds > 2 else None):
        made = drawing.draw(chosen, scale, seed, runs, fresh)
    typer.echo(f"Figure: {drawing.save(made, path)}")
