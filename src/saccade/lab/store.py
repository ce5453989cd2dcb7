"""The run store: one directory per evaluated experiment, named by the hash of what determines it,
written once, never half.

`lab/layout.py` says what is in a run, `lab/backend.py` how it gets into a folder or another place
in one piece. A run that did not finish is kept beside it as `<name>.failed`, with a status word and
its traceback; it never stands for a result.
"""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saccade.errors import InvalidInput, require
from saccade.lab import layout
from saccade.lab.backend import backend_at
from saccade.lab.layout import DAMAGE, FAILED, Contents, Request

if TYPE_CHECKING:
    import xarray


class DamagedRun(UserWarning):
    """A stored run did not match its checksums; it was set aside and will be computed again."""


class StoreUnwritable(InvalidInput):
    """Nothing can be written (full, read-only, no folder): no fault of the run."""


def default_address() -> str:
    """`$SACCADE_STORE`, or the platform's data folder for saccade."""
    from platformdirs import user_data_path

    return os.environ.get("SACCADE_STORE") or str(user_data_path("saccade") / "runs")


class Store:
    """Runs in a folder, or at an fsspec address: `memory://runs`, `s3://bucket/runs`."""

    def __init__(self, folder: str | os.PathLike | None = None):
        place = folder is None or isinstance(folder, str | os.PathLike)
        require(place, "store", folder, "must be a folder or an fsspec address")
        self.backend = backend_at(os.fspath(folder) if folder is not None else default_address())
        if self.backend.is_file():
            raise StoreUnwritable(
                f"The store {self.address!r} is a file; choose a folder with --store or"
                " $SACCADE_STORE.")

    @property
    def address(self) -> str:
        return self.backend.address

    @property
    def folder(self) -> Path:
        return Path(self.backend.address)

    def path(self, request: Request) -> Path:
        return self.folder / request.name

    def has(self, request: Request) -> bool:
        return self.backend.has(request.name)

    def load(self, request: Request) -> "xarray.Dataset | None":
        """The stored dataset, or None; a damaged run is reported, set aside and counts as none."""
        found = self.take(request.name)
        return None if found is None else layout.as_dataset(found)

    def take(self, name: str) -> Contents | None:
        """The verified contents of run `name`, or None; a damaged run is reported and set aside."""
        if not self.backend.has(name):
            return None
        try:
            return self.contents(name)
        except DAMAGE as problem:
            self._set_aside(name, problem)
            return None

    def contents(self, name: str) -> Contents:
        """The verified contents of run `name`; raises one of DAMAGE and changes nothing."""
        return layout.decode(name, lambda file: self.backend.read(name, file))

    def record(self, name: str) -> dict[str, Any]:
        """The verified record of a run, not its arrays; raises one of DAMAGE, changes nothing."""
        return layout.read_record(name, lambda file: self.backend.read(name, file))

    def names(self) -> Iterator[str]:
        """Every run, in no order; those that failed end in `.failed`."""
        return self.backend.names()

    def save(
        self, request: Request, dataset: "xarray.Dataset", seconds: float, durable: bool = True
    ) -> None:
        """Write a run in one piece; if another process finished the same run first, that one stays.

        Not `durable`: the run is whole for everybody at once, but a power cut may take it until the
        next `flush`.
        """
        name = request.name
        self.put(name, layout.encode(request, dataset, seconds), durable)
        self.remove(name + FAILED)

    def fail(
        self, request: Request, status: str, problem: str, traceback: str, seconds: float
    ) -> None:
        """Keep what went wrong with a run, in place of what went wrong before."""
        self.remove(request.name + FAILED)
        self.put(
            request.name + FAILED,
            layout.encode_failure(request, status, problem, traceback, seconds), True)

    def failure(self, request: Request) -> dict[str, Any] | None:
        """The record of the run's last failure, or None; an unreadable one counts as none."""
        found = self.take(request.name + FAILED)
        return None if found is None else found.record

    def put(self, name: str, files: dict[str, bytes], durable: bool = True) -> None:
        with self._writing():
            self.backend.put(name, files, durable)

    def remove(self, name: str) -> None:
        """Take a run away, if it is there."""
        if self.backend.has(name):
            with self._writing(), suppress(FileNotFoundError):  # somebody else may be faster
                self.backend.remove(name)

    def flush(self) -> None:
        """Wait until everything saved so far would survive a power cut."""
        with self._writing():
            self.backend.flush()

    def check_there(self) -> None:
        """Refuse a store that nobody has written to, where one is to be looked into."""
        if not self.backend.is_there():
            raise InvalidInput(
                f"There is no store at {self.address!r}; another is named by --store or"
                " $SACCADE_STORE.")

    def check_writable(self) -> None:
        """Refuse a store that cannot be written, before hours of work are spent."""
        with self._writing():
            self.backend.probe()

    def _set_aside(self, name: str, problem: Exception) -> None:
        warnings.warn(
            f"Run {name} is damaged ({problem}); it is set aside and computed again.", DamagedRun,
            stacklevel=5)
        with self._writing():
            self.backend.set_aside(name)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Turns what the system says about an unwritable place into one sentence."""
        try:
            yield
        except OSError as problem:
            reason = (problem.strerror or str(problem)).lower()
            raise StoreUnwritable(
                f"The store {self.address!r} cannot be written ({reason}); choose another with"
                " --store or $SACCADE_STORE.") from None
