"""`saccade new-study`: the start of a study of one's own."""

from typing import Annotated

import typer


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
        f"Next: write {folder.name!r} into BUILT_IN of saccade/studies/__init__.py." if inside
        else "Next: pip install -e the folder below, run its tests, and fill in what they miss.",
        err=True)
    typer.echo(str(folder))
