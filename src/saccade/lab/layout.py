"""How a run is laid out in files: `run.json` (request, versions, layout, checksums) and one `.npy`
file per array.

Bytes in, bytes out: where they lie is the backend's affair. What comes back from a store is data
made by somebody else: nothing is unpickled, every checksum is verified, a run must bear the name
that its request gives, and names that could lead out of the store are refused.
"""

import hashlib
import io
import json
import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from saccade.lab.fingerprint import environment

if TYPE_CHECKING:
    import xarray

FORMAT = 2
RECORD = "run.json"
FAILED = ".failed"
FINISHED = "finished"
RUN_NAME = re.compile(r"[0-9a-f]{32}(\.failed)?")
ARRAY_FILE = re.compile(r"[0-9]{1,6}\.npy")
UNSAFE = re.compile(r"[/\\\x00-\x1f\x7f]|^\.*$")
# What reading a damaged run may raise; anything else is a fault of ours and must be seen.
DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, RecursionError)

Read = Callable[[str], bytes]


class Request(NamedTuple):
    """Everything that determines a run's numbers."""

    experiment: str
    parameters: Mapping[str, Any]
    repetition: int
    seed: int
    code: str
    precision: str = "float64"

    @property
    def name(self) -> str:
        """The run's directory name: a hash of the request and of JAX's version."""
        return name_of(self._asdict(), FORMAT, environment()["jax"])


class Contents(NamedTuple):
    """A record, and (dims, values, attributes) of each variable; a failed run has none."""

    record: dict[str, Any]
    variables: dict[str, tuple[list[str], np.ndarray, dict[str, Any]]]


def repetition_of(request: Mapping[str, Any]) -> int:
    """Which repetition a stored request asked for; runs of the first format call it a block."""
    return request["repetition"] if "repetition" in request else request["block"]


def canonical(value: Any) -> str:
    """JSON with one spelling per value, for hashing."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def name_of(request: Mapping[str, Any], layout: int, jax: str) -> str:
    text = canonical({**request, "format": layout, "jax": jax})
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def encode(request: Request, dataset: "xarray.Dataset", seconds: float) -> dict[str, bytes]:
    """The files of a finished run, `run.json` last."""
    files: dict[str, bytes] = {}
    arrays: dict[str, dict[str, Any]] = {}
    for number, (name, variable) in enumerate(dataset.variables.items()):
        content = io.BytesIO()
        np.save(content, _plain(variable.values, str(name)), allow_pickle=False)
        files[f"{number}.npy"] = content.getvalue()
        arrays[str(name)] = {
            "file": f"{number}.npy", "dims": [str(dim) for dim in variable.dims],
            "attrs": dict(variable.attrs), "coordinate": name in dataset.coords,
            "sha256": hashlib.sha256(files[f"{number}.npy"]).hexdigest()}
    files[RECORD] = _record(request, FINISHED, seconds, attrs=dict(dataset.attrs), arrays=arrays)
    return files


def encode_failure(
    request: Request, status: str, problem: str, traceback: str, seconds: float
) -> dict[str, bytes]:
    """The file of a run that did not finish: a status word, one sentence, and the traceback."""
    about = {"problem": problem, "traceback": traceback}
    return {RECORD: _record(request, status, seconds, failure=about, attrs={}, arrays={})}


def _record(request: Request, status: str, seconds: float, **more: Any) -> bytes:
    record = {
        "format": FORMAT, "request": request._asdict(), "status": status, "seconds": seconds,
        "versions": environment(), **more}
    text = canonical(record)
    checksum = hashlib.sha256(text.encode()).hexdigest()
    return f'{text[:-1]},"sha256":"{checksum}"}}\n'.encode()


def read_record(name: str, read: Read) -> dict[str, Any]:
    """The record of run `name`: checksum, name and status verified, else ValueError says which."""
    record = json.loads(read(RECORD))
    said = record.pop("sha256", None)
    if said != hashlib.sha256(canonical(record).encode()).hexdigest():
        raise ValueError(f"{RECORD} does not match its checksum")
    if name.removesuffix(FAILED) != name_of(
        record["request"], record["format"], record["versions"]["jax"]
    ):
        raise ValueError(f"{RECORD} belongs to another run")
    if (record["status"] == FINISHED) == name.endswith(FAILED):
        raise ValueError(f"{RECORD} has a status that does not fit the run's name")
    return record


def decode(name: str, read: Read) -> Contents:
    """The verified contents of run `name`; `read(file)` gives the bytes of one of its files."""
    record = read_record(name, read)
    variables = {}
    for variable, entry in record["arrays"].items():
        file = str(entry["file"])
        if UNSAFE.search(variable) or not ARRAY_FILE.fullmatch(file):
            raise ValueError(f"{RECORD} names a variable or a file that a run cannot have")
        content = read(file)
        if hashlib.sha256(content).hexdigest() != entry["sha256"]:
            raise ValueError(f"{file} does not match its checksum")
        variables[variable] = (entry["dims"], _array(content), entry["attrs"])
    return Contents(record, variables)


def _array(content: bytes) -> np.ndarray:
    """The array in a `.npy` file. Headers are kept: many are alike, and parsing them is slow."""
    if content[:8] != b"\x93NUMPY\x01\x00":
        return np.load(io.BytesIO(content), allow_pickle=False)
    end = 10 + int.from_bytes(content[8:10], "little")
    shape, by_columns, kind = _header(content[8:end])
    count = math.prod(shape)
    if kind.hasobject or len(content) != end + count * kind.itemsize:
        raise ValueError("an array file holds objects, or not what its header says")
    values = (
        np.frombuffer(content, kind, count, end) if kind.itemsize * count else np.empty(count, kind)
    )
    return values.reshape(shape, order="F" if by_columns else "C").copy()


@lru_cache(maxsize=256)
def _header(content: bytes) -> tuple[tuple[int, ...], bool, np.dtype]:
    return np.lib.format.read_array_header_1_0(io.BytesIO(content))


def as_dataset(contents: Contents) -> "xarray.Dataset":
    import xarray

    coordinates = {name for name, entry in contents.record["arrays"].items() if entry["coordinate"]}
    return xarray.Dataset(contents.variables, attrs=contents.record["attrs"]).set_coords(
        coordinates)


def _plain(values: Any, name: str) -> np.ndarray:
    if UNSAFE.search(name):
        raise TypeError(f"A variable cannot be named {name!r} in a run.")
    array = np.asarray(values)
    if array.dtype.kind == "O":
        array = array.astype(str)
    if array.dtype.kind not in "biufcU":
        raise TypeError(f"Variable {name!r} has dtype {array.dtype}, which a run cannot hold.")
    return array
