"""Arrays on disk: a .npz with a JSON header, written by rename, checked on reading. Nothing is
pickled.

An existing file is a finished one: it is written beside its place, flushed and renamed. The header
holds a checksum of every array, so a damaged file is refused with one sentence rather than loaded.
"""

import hashlib
import json
import os
import uuid
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

from saccade.errors import InvalidInput

HEADER = "header"


def write_arrays(
    path: str | os.PathLike, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> Path:
    """Write `arrays` and a JSON `header` to `path`, all or nothing."""
    path = Path(path)
    plain = {name: np.asarray(array) for name, array in arrays.items()}
    sums = {name: _checksum(array) for name, array in plain.items()}
    text = json.dumps({**header, "checksums": sums}, sort_keys=True)
    temporary = path.with_name(f".{path.name}-{uuid.uuid4().hex[:8]}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as handle:
            np.savez(handle, **{HEADER: np.frombuffer(text.encode(), np.uint8)}, **plain)  # type: ignore[arg-type]
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, path)
        _flush(path.parent)
    except OSError as problem:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        reason = (problem.strerror or str(problem)).lower()
        raise InvalidInput(f"checkpoint = {str(path)!r} cannot be written ({reason}).") from None
    return path


def read_arrays(path: str | os.PathLike, kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of a file whose header says it is of this `kind`; refused with one sentence
    if it is not or is damaged."""
    try:
        with open(path, "rb") as handle, np.load(handle, allow_pickle=False) as file:
            header = json.loads(file[HEADER].tobytes())
            arrays = {name: file[name] for name in file.files if name != HEADER}
        sums = header.pop("checksums")
        damaged = {
            name for name in sums.keys() | arrays.keys()
            if sums.get(name) != _checksum(arrays.get(name))}
    except FileNotFoundError:
        raise InvalidInput(f"checkpoint = {str(path)!r} does not exist.") from None
    except (
        OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile,
        zlib.error,
    ):
        raise InvalidInput(
            f"checkpoint = {str(path)!r} is damaged or was not written by saccade.") from None
    if damaged:
        raise InvalidInput(
            f"checkpoint = {str(path)!r} is damaged: {min(damaged)} does not match its checksum.")
    if header.get("kind") != kind:
        raise InvalidInput(
            f"checkpoint = {str(path)!r} holds a {header.get('kind')}, and a {kind} is needed.")
    return header, arrays


def named_leaves(tree: Any) -> dict[str, Any]:
    """The arrays of a PyTree by their path in it, such as `layers.qkv`."""
    found = jax.tree_util.tree_flatten_with_path(eqx.filter(tree, _is_array_like))[0]
    return {_name(place): leaf for place, leaf in found}


def fill(tree: Any, arrays: Mapping[str, np.ndarray], path: str | os.PathLike) -> Any:
    """`tree` (of arrays or of their shapes) with its arrays replaced; one sentence about the first
    that is missing or of another shape."""
    wanted = named_leaves(tree)
    for name, leaf in wanted.items():
        if name not in arrays:
            raise InvalidInput(
                f"checkpoint = {str(path)!r} has no {name}; it belongs to another model.")
        have, need = arrays[name], leaf
        if have.shape != need.shape or have.dtype != np.dtype(need.dtype):
            raise InvalidInput(
                f"checkpoint = {str(path)!r} holds {name} of shape {have.shape} and type"
                f" {have.dtype}, but this model needs shape {need.shape} and type"
                f" {np.dtype(need.dtype)}.")
    extra = sorted(arrays.keys() - wanted.keys())
    if extra:
        raise InvalidInput(
            f"checkpoint = {str(path)!r} holds {extra[0]}, which this model does not have.")
    dynamic, static = eqx.partition(tree, _is_array_like)
    places, structure = jax.tree_util.tree_flatten_with_path(dynamic)
    return eqx.combine(
        structure.unflatten([jax.numpy.asarray(arrays[_name(place)]) for place, _ in places]),
        static)


def _is_array_like(leaf: Any) -> bool:
    return eqx.is_array(leaf) or isinstance(leaf, jax.ShapeDtypeStruct)


def _name(place: tuple) -> str:
    return jax.tree_util.keystr(place, simple=True, separator=".")


def _checksum(array: np.ndarray | None) -> str:
    if array is None:
        return "missing"
    about = f"{array.dtype.str}{array.shape}".encode()
    return hashlib.sha256(about + np.ascontiguousarray(array).tobytes()).hexdigest()


def _flush(folder: Path) -> None:
    """Make the rename itself durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
