"""Where the files of a store lie: a folder, or any address that fsspec understands (`memory://`,
`s3://`, `sftp://`, ...). A backend keeps whole runs by name: a run is there with all its files, or
not there at all.
"""

import os
import shutil
import stat
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from saccade.errors import InvalidInput
from saccade.lab.layout import RECORD, RUN_NAME
from saccade.lab.whole import unfinished

# What a writer leaves that was killed in the middle; nobody reads these.
TEMPORARY = (".writing-", ".probe-", ".old-")
DAMAGED = ".damaged-"


class Leftover(NamedTuple):
    """What is no run in a store, and its seconds untouched (by the store's own clock)."""

    name: str
    age: float


class Backend(Protocol):
    """What a store asks of the place it lies in. The store has checked the names."""

    address: str
    everywhere: str
    """the address for a process with another working folder"""
    shared: bool
    """whether other processes see it"""

    def is_there(self) -> bool: ...
    def is_file(self) -> bool: ...
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


def backend_at(address: str) -> Backend:
    if "://" not in address or address.startswith("file://"):
        return LocalBackend(Path(address.removeprefix("file://")))
    try:
        import fsspec
    except ImportError:
        raise InvalidInput(
            f"The store {address!r} needs fsspec, which is not installed: pip install"
            " 'saccade[remote]'.") from None
    try:
        system, root = fsspec.core.url_to_fs(address)
    except (ValueError, ImportError, OSError) as problem:
        raise InvalidInput(f"The store {address!r} cannot be opened ({problem}).") from None
    return RemoteBackend(address, system, root.rstrip("/"))


def token() -> str:
    return uuid.uuid4().hex[:8]


class LocalBackend:
    """A folder. A run is renamed from a temporary sibling, so whatever bears its name is whole."""

    shared = True

    def __init__(self, folder: Path):
        self.folder = folder
        self.address = str(folder)
        self.everywhere = str(folder.absolute())

    def is_there(self) -> bool:
        return self.folder.is_dir()

    def is_file(self) -> bool:
        """Whether something else than a folder bears the name."""
        return self.folder.exists() and not self.folder.is_dir()

    def has(self, name: str) -> bool:
        try:
            return stat.S_ISDIR(os.lstat(os.path.join(self.address, name)).st_mode)
        except OSError:
            return False

    def read(self, name: str, file: str) -> bytes:
        """A file's bytes. No link is followed: a foreign store must not lead us out of it."""
        if not self.has(name):
            raise FileNotFoundError(f"there is no run {name}")
        path = os.path.join(self.address, name, file)
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as handle:
            return handle.read()

    def put(self, name: str, files: Mapping[str, bytes], durable: bool) -> None:
        """Write by rename; a run that is there stays. `durable` waits until the disk has it."""
        temporary = os.path.join(self.address, f".writing-{name}-{token()}")
        with unfinished(Path(temporary)):
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
        """By the store's file system: another machine's clock, or one set back, ages no files."""
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
    """One flush for any number of files: of the folder's file system if possible, else of all."""
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


class RemoteBackend:
    """Runs as folders of objects, which cannot be renamed: a run is its `run.json`, written last,
    in one piece, and until it is there nobody sees the run."""

    def __init__(self, address: str, system: Any, root: str):
        self.address = self.everywhere = address
        self.system = system
        self.root = root
        self.shared = not address.startswith("memory:")

    def _path(self, name: str, file: str = "") -> str:
        return f"{self.root}/{name}/{file}".rstrip("/")

    def is_there(self) -> bool:
        return self.system.exists(self.root)

    def is_file(self) -> bool:
        return False

    def has(self, name: str) -> bool:
        return self.system.isfile(self._path(name, RECORD))

    def read(self, name: str, file: str) -> bytes:
        return self.system.cat_file(self._path(name, file))

    def put(self, name: str, files: Mapping[str, bytes], durable: bool) -> None:
        """Arrays first, the record last; a run that is there stays."""
        if self.has(name):
            return
        self.system.makedirs(self._path(name), exist_ok=True)
        for file, content in files.items():
            if file != RECORD:
                self.system.pipe_file(self._path(name, file), content)
        self.system.pipe_file(self._path(name, RECORD), files[RECORD])

    def remove(self, name: str) -> None:
        """The record first, so that nobody reads what is half gone."""
        self.system.rm_file(self._path(name, RECORD))
        self.system.rm(self._path(name), recursive=True)

    def set_aside(self, name: str) -> None:
        aside = f"{DAMAGED}{name}-{token()}"
        self.system.makedirs(self._path(aside), exist_ok=True)
        for path in self.system.ls(self._path(name), detail=False):
            self.system.copy(path, self._path(aside, path.rsplit("/", 1)[-1]))
        self.remove(name)

    def _folders(self) -> dict[str, bool]:
        """Every folder by name, and whether it holds a record; one listing."""
        found: dict[str, bool] = {}
        if self.system.exists(self.root):
            for path in self.system.find(self.root):
                name, _, file = path[len(self.root) :].lstrip("/").partition("/")
                found[name] = found.get(name, False) or file == RECORD
        return found

    def names(self) -> Iterator[str]:
        return (
            name for name, whole in self._folders().items() if whole and RUN_NAME.fullmatch(name))

    def strange(self) -> Iterator[str]:
        usual = (*TEMPORARY, DAMAGED)
        return (
            name for name in self._folders()
            if not RUN_NAME.fullmatch(name) and not name.startswith(usual))

    def leftovers(self) -> Iterator[Leftover]:
        """Runs set aside, and runs without a record; object stores tell no reliable age."""
        for name, whole in self._folders().items():
            unfinished = RUN_NAME.fullmatch(name) and not whole
            if unfinished or name.startswith((*TEMPORARY, DAMAGED)):
                yield Leftover(name, 0.0)

    def discard(self, leftover: str) -> None:
        self.system.rm(self._path(leftover), recursive=True)

    def flush(self) -> None:
        """An object is durable when its put returns."""

    def probe(self) -> None:
        name = f".probe-{token()}"
        self.system.makedirs(self._path(name), exist_ok=True)
        self.system.pipe_file(self._path(name, "probe"), b"")
        self.discard(name)
