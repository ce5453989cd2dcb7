"""`saccade new-study`: the start of a study of one's own."""

from typing import Annotated

import typer


def new_study(
    name: Annotated[
        str, typer.Argument(help="Lower-case words joined by hyphens, e.g. sparse-patches.")],
    into: Annotated[str, typer.Option(help="The folder to write saccade-NAME into.")] = ".",
) -> None:
    """Lay out a package for a study of your own; its tests fail until you fill it in.

    Examples:

        saccade new-study sparse-patches

        saccade new-study sparse-patches --into ~/papers
    """
    from saccade.lab.new_study import new_study as lay_out

    folder = lay_out(name, into)
    typer.echo(
        "Next: pip install -e the folder below, run its tests, and fill in what they miss.",
        err=True)
    typer.echo(str(folder))
