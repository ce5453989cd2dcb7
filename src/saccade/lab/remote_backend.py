"""A store at any address that fsspec understands: `memory://`, `s3://`, `gs://`, `sftp://`, ...

Object stores cannot rename. There a run is its `run.json`, which is written last, in one piece:
until it is there, nobody sees the run.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from saccade.errors import InvalidInput
from saccade.lab.backend import DAMAGED, TEMPORARY, Leftover, token
from saccade.lab.layout import RECORD, RUN_NAME


def open_address(address: str) -> "RemoteBackend":
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


class RemoteBackend:
    """Runs as folders of objects."""

    def __init__(self, address: str, system: Any, root: str):
        self.address = self.everywhere = address
        self.system = system
        self.root = root
        self.shared = not address.startswith("memory:")

    def _path(self, name: str, file: str = "") -> str:
        return f"{self.root}/{name}/{file}".rstrip("/")

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
        """Damaged runs set aside, and runs without a record; object stores tell no age on which we
        could rely."""
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
