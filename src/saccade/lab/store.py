"""The run store: one directory per evaluated experiment, named by the hash of what determines it, written once, never half.

A run holds `run.json` (request, versions, layout, checksums) and one `.npy` file per array. It is written to a temporary sibling,
flushed to disk and renamed, so a directory that bears a run's name is a finished run. Nothing is unpickled from a store.
"""

import hashlib
import json
import os
import shutil
import uuid
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from saccade.errors import InvalidInput
from saccade.lab.fingerprint import environment

if TYPE_CHECKING:
    import xarray

FORMAT = 1


class DamagedRun(UserWarning):
    """A stored run did not match its checksums; it was set aside and will be computed again."""


class Request(NamedTuple):
    """Everything that determines a run's numbers."""

    experiment: str
    parameters: Mapping[str, Any]
    block: int
    seed: int
    code: str
    precision: str = "float64"

    @property
    def name(self) -> str:
        """The run's directory name: a hash of the request and of JAX's version."""
        text = canonical({**self._asdict(), "format": FORMAT, "jax": environment()["jax"]})
        return hashlib.sha256(text.encode()).hexdigest()[:32]


def canonical(value: Any) -> str:
    """JSON with one spelling per value, for hashing."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def default_folder() -> Path:
    """`$SACCADE_STORE`, or the platform's data folder for saccade."""
    from platformdirs import user_data_path

    return Path(os.environ.get("SACCADE_STORE") or user_data_path("saccade") / "runs")


class Store:
    """A folder of runs."""

    def __init__(self, folder: str | os.PathLike | None = None):
        self.folder = Path(folder) if folder is not None else default_folder()

    def path(self, request: Request) -> Path:
        return self.folder / request.name

    def load(self, request: Request) -> "xarray.Dataset | None":
        """The stored dataset, or None if there is none; a torn or altered run is reported, set aside, and counts as none."""
        path = self.path(request)
        if not path.is_dir():
            return None
        try:
            return read_run(path)
        except (OSError, ValueError, KeyError, TypeError) as problem:
            self._set_aside(path, problem)
            return None

    def save(self, request: Request, dataset: "xarray.Dataset", seconds: float) -> Path:
        """Write a run by rename; if another process finished the same run first, that one stays."""
        temporary = self.folder / f".writing-{request.name}-{uuid.uuid4().hex[:8]}"
        final = self.path(request)
        try:
            temporary.mkdir(parents=True)
            write_run(temporary, request, dataset, seconds)
            try:
                os.rename(temporary, final)
            except OSError:
                if not final.is_dir():
                    raise
                shutil.rmtree(temporary)
            _flush(self.folder)
        except OSError as problem:
            shutil.rmtree(temporary, ignore_errors=True)
            raise unwritable(self.folder, problem) from None
        return final

    def check_writable(self) -> None:
        """Refuse at the door a store that cannot be written, before hours of work are spent."""
        probe = self.folder / f".probe-{uuid.uuid4().hex[:8]}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            probe.touch()
            probe.unlink()
        except OSError as problem:
            raise unwritable(self.folder, problem) from None

    def _set_aside(self, path: Path, problem: Exception) -> None:
        aside = path.with_name(f".damaged-{path.name}-{uuid.uuid4().hex[:8]}")
        warnings.warn(
            f"Run {path.name} is damaged ({problem}); it is set aside and computed again.", DamagedRun, stacklevel=4
        )
        try:
            os.rename(path, aside)
        except OSError as error:
            raise unwritable(self.folder, error) from None


def unwritable(folder: Path, problem: OSError) -> InvalidInput:
    reason = (problem.strerror or str(problem)).lower()
    return InvalidInput(
        f"The store {str(folder)!r} cannot be written ({reason}); choose another with --store or $SACCADE_STORE."
    )


def write_run(folder: Path, request: Request, dataset: "xarray.Dataset", seconds: float) -> None:
    """Lay out a run in `folder`: arrays first, `run.json` with their checksums last."""
    arrays: dict[str, dict[str, Any]] = {}
    for number, (name, variable) in enumerate(dataset.variables.items()):
        file = f"{number}.npy"
        with open(folder / file, "wb") as handle:
            np.save(handle, _plain(variable.values, str(name)), allow_pickle=False)
            _sync(handle)
        arrays[str(name)] = {
            "file": file,
            "dims": [str(dim) for dim in variable.dims],
            "attrs": dict(variable.attrs),
            "coordinate": name in dataset.coords,
            "sha256": _checksum(folder / file),
        }
    record = {
        "format": FORMAT,
        "request": request._asdict(),
        "status": "finished",
        "seconds": seconds,
        "versions": environment(),
        "attrs": dict(dataset.attrs),
        "arrays": arrays,
    }
    record["sha256"] = hashlib.sha256(canonical(record).encode()).hexdigest()
    with open(folder / "run.json", "w", encoding="utf-8") as handle:
        json.dump(record, handle, indent=1, sort_keys=True)
        _sync(handle)


def read_run(path: Path) -> "xarray.Dataset":
    """The dataset of a run directory, every checksum verified; raises ValueError naming what does not match."""
    import xarray

    record = json.loads((path / "run.json").read_text(encoding="utf-8"))
    said = record.pop("sha256", None)
    if said != hashlib.sha256(canonical(record).encode()).hexdigest():
        raise ValueError("run.json does not match its checksum")
    variables: dict[str, Any] = {}
    for name, entry in record["arrays"].items():
        file = path / Path(entry["file"]).name
        if _checksum(file) != entry["sha256"]:
            raise ValueError(f"{file.name} does not match its checksum")
        variables[name] = (entry["dims"], np.load(file, allow_pickle=False), entry["attrs"])
    coordinates = {name for name, entry in record["arrays"].items() if entry["coordinate"]}
    return xarray.Dataset(variables, attrs=record["attrs"]).set_coords(coordinates)


def _plain(values: Any, name: str) -> np.ndarray:
    array = np.asarray(values)
    if array.dtype.kind == "O":
        array = array.astype(str)
    if array.dtype.kind not in "biufcU":
        raise TypeError(f"Variable {name!r} has dtype {array.dtype}, which a run cannot hold.")
    return array


def _checksum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _sync(handle: Any) -> None:
    handle.flush()
    os.fsync(handle.fileno())


def _flush(folder: Path) -> None:
    """Make the rename itself durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
