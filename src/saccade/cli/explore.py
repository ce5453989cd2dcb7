"""`saccade explore`: the live laboratory on this machine."""

from typing import Annotated

import typer

from saccade.cli.completion import studies


def explore(
    study: Annotated[
        str | None,
        typer.Argument(
            help="Which study's notebook to open; the first's if none is named.",
            autocompletion=studies)] = None,
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
    from saccade.studies import STUDIES

    raise typer.Exit(
        subprocess.run(command(study or next(iter(STUDIES)), port, edit, headless)).returncode)
