"""Where the files of a store lie. A backend keeps whole runs by name: a run is there with all its
files, or not there at all."""

import os
import shutil
import stat
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from saccade.lab.layout import RUN_NAME

# What a writer leaves that was killed in the middle; nobody reads these.
TEMPORARY = (".writing-", ".probe-", ".old-")
DAMAGED = ".damaged-"


class Leftover(NamedTuple):
    """Something in a store that is no run: its name, and for how many seconds nobody has touched it
    (by the store's own clock)."""

    name: str
    age: float


class Backend(Protocol):
    """What a store asks of the place it lies in. Names are checked by the store before they get
    here."""

    address: str
    everywhere: str
    """the address for a process with another working folder"""
    shared: bool
    """whether other processes see it"""

    def has(self, name: str) -> bool: ...
    def read(self, name: str, file: str) -> bytes: ...
    def put(self, name: str, files: Mapping[str, bytes], durable: bool) -> None: ...
    def remove(self, name: str) -> None: ...
    def set_aside(self, name: str) -> None: ...
    def names(self) -> Iterator[str]: ...
    def strange(self) -> Iterator[str]: ...
    def leftovers(self) -> Iterator[Leftover]: ...
    def discard(self, leftover: str) -> None: ...
    def flush(self) -> None: ...
    def probe(self) -> None: ...


def token() -> str:
    return uuid.uuid4().hex[:8]


class LocalBackend:
    """A folder. A run is written to a temporary sibling and renamed, so a directory that bears a
    run's name is whole."""

    shared = True

    def __init__(self, folder: Path):
        self.folder = folder
        self.address = str(folder)
        self.everywhere = str(folder.absolute())

    def has(self, name: str) -> bool:
        try:
            return stat.S_ISDIR(os.lstat(os.path.join(self.address, name)).st_mode)
        except OSError:
            return False

    def read(self, name: str, file: str) -> bytes:
        """The bytes of a file; a link is not followed, so that a foreign store cannot make us read
        what lies outside it."""
        if not self.has(name):
            raise FileNotFoundError(f"there is no run {name}")
        path = os.path.join(self.address, name, file)
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as handle:
            return handle.read()

    def put(self, name: str, files: Mapping[str, bytes], durable: bool) -> None:
        """Write by rename; if the run is there already, that one stays. `durable` waits until the
        disk has it."""
        temporary = os.path.join(self.address, f".writing-{name}-{token()}")
        try:
            os.makedirs(temporary)
            for file, content in files.items():
                with open(os.path.join(temporary, file), "wb") as handle:
                    handle.write(content)
                    if durable:
                        handle.flush()
                        os.fsync(handle.fileno())
            self._into_place(temporary, os.path.join(self.address, name))
            if durable:
                _sync_folder(self.folder)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise

    def _into_place(self, temporary: str, final: str) -> None:
        try:
            os.rename(temporary, final)
        except OSError:
            if not os.path.isdir(final):
                raise
            shutil.rmtree(temporary)

    def remove(self, name: str) -> None:
        """Renamed first, so that a reader never meets a half-removed run."""
        aside = self.folder / f".old-{name}-{token()}"
        os.rename(self.folder / name, aside)
        shutil.rmtree(aside, ignore_errors=True)

    def set_aside(self, name: str) -> None:
        os.rename(self.folder / name, self.folder / f"{DAMAGED}{name}-{token()}")

    def names(self) -> Iterator[str]:
        for entry in _entries(self.folder):
            if RUN_NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                yield entry.name

    def strange(self) -> Iterator[str]:
        """What is neither a run nor something a store leaves behind."""
        for entry in _entries(self.folder):
            whole = RUN_NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            if not whole and not entry.name.startswith((*TEMPORARY, DAMAGED)):
                yield entry.name

    def leftovers(self) -> Iterator[Leftover]:
        now = self._now()
        for entry in _entries(self.folder):
            if entry.name.startswith((*TEMPORARY, DAMAGED)):
                yield Leftover(entry.name, now - entry.stat(follow_symlinks=False).st_mtime)

    def _now(self) -> float:
        """The time as the store's file system tells it: another machine's clock, or one that was
        set back, must not age files."""
        probe = self.folder / f".probe-{token()}"
        try:
            probe.touch()
            return probe.stat().st_mtime
        except OSError:
            return time.time()
        finally:
            probe.unlink(missing_ok=True)

    def discard(self, leftover: str) -> None:
        path = self.folder / leftover
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)

    def flush(self) -> None:
        """Wait until the disk holds everything written so far."""
        if self.folder.is_dir():
            sync_filesystem(self.folder)

    def probe(self) -> None:
        """Raises OSError if nothing can be written here."""
        path = self.folder / f".probe-{token()}"
        self.folder.mkdir(parents=True, exist_ok=True)
        path.touch()
        path.unlink()


def _entries(folder: Path) -> Iterator[os.DirEntry]:
    if folder.is_dir():
        with os.scandir(folder) as entries:
            yield from entries


def _sync_folder(folder: Path) -> None:
    """Make a rename itself durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_filesystem(folder: Path) -> None:
    """One flush for any number of files: of the folder's file system where the system can do that,
    else of all."""
    import ctypes

    try:
        system = ctypes.CDLL(None, use_errno=True).syncfs
    except (OSError, AttributeError):
        os.sync()
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if system(descriptor) != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), str(folder))
    finally:
        os.close(descriptor)
