"""Arrays and trainings on disk: a .npz with a JSON header, written by rename, checked on reading.
Nothing is pickled.

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
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np

from saccade.errors import InvalidInput

HEADER, TRAINING = "header", "training"


def write_arrays(
    path: str | os.PathLike, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> Path:
    """Write `arrays` and a JSON `header` to `path`, all or nothing."""
    path = Path(path)
    plain = {name: np.asarray(array) for name, array in arrays.items()}
    sums = {name: _checksum(array) for name, array in plain.items()}
    text = json.dumps({**header, "checksums": sums}, sort_keys=True)
    contents: dict[str, Any] = {HEADER: np.frombuffer(text.encode(), np.uint8), **plain}
    temporary = path.with_name(f".{path.name}-{uuid.uuid4().hex[:8]}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "wb") as handle:
            np.savez(handle, **contents)
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
    """Header and arrays of a file of this `kind`; a damaged one, or another, is refused."""
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
    leaves = jax.tree_util.tree_leaves_with_path(eqx.filter(tree, _is_array_like))
    return {_name(place): leaf for place, leaf in leaves}


def fill(tree: Any, arrays: Mapping[str, np.ndarray], path: str | os.PathLike) -> Any:
    """`tree` (of arrays or of their shapes) with its arrays replaced; one that is missing, unknown
    or of another shape is named."""
    wanted = named_leaves(tree)
    for name, leaf in wanted.items():
        if name not in arrays:
            raise InvalidInput(
                f"checkpoint = {str(path)!r} has no {name}; it belongs to another model.")
        stored, dtype = arrays[name], np.dtype(leaf.dtype)
        if stored.shape != leaf.shape or stored.dtype != dtype:
            raise InvalidInput(
                f"checkpoint = {str(path)!r} holds {name} of shape {stored.shape} and type"
                f" {stored.dtype}, but this model needs shape {leaf.shape} and type {dtype}.")
    extra = sorted(arrays.keys() - wanted.keys())
    if extra:
        raise InvalidInput(
            f"checkpoint = {str(path)!r} holds {extra[0]}, which this model does not have.")
    dynamic, static = eqx.partition(tree, _is_array_like)
    places, structure = jax.tree_util.tree_flatten_with_path(dynamic)
    return eqx.combine(
        structure.unflatten([jax.numpy.asarray(arrays[_name(place)]) for place, _ in places]),
        static)


class Trained(NamedTuple):
    """A training so far: the model, its loss and gradient norm at every step, what was measured at
    `measured_steps` on the way, and the optimiser's state, from which it goes on."""

    model: Any
    losses: np.ndarray
    gradient_norms: np.ndarray
    measured_steps: np.ndarray
    measured: np.ndarray
    optimiser_state: Any

    @property
    def step(self) -> int:
        return len(self.losses)


def save_checkpoint(
    path: str | os.PathLike, state: Trained, key: jax.Array, about: Mapping[str, Any]
) -> Path:
    """Write the state; `key` and `about` say whose training it is."""
    parts = {name: eqx.filter(value, eqx.is_array) for name, value in state._asdict().items()}
    header = {"kind": TRAINING, "step": state.step, "key": _words(key), "about": dict(about)}
    return write_arrays(path, header, named_leaves(parts))


def load_checkpoint(
    path: str | os.PathLike, start: Trained, key: jax.Array, about: Mapping[str, Any]
) -> Trained:
    """The state in `path` of the training that begins with `start`; that of another is refused."""
    header, arrays = read_arrays(path, TRAINING)
    if header.get("key") != _words(key) or header.get("about") != dict(about):
        raise InvalidInput(
            f"checkpoint = {str(path)!r} belongs to another training"
            f" ({_difference(header, key, about)} differs); remove it, or start without --resume.")
    curves = {name: arrays.pop(name) for name in Trained._fields[1:5] if name in arrays}
    if len(curves) < 4 or len(curves["losses"]) != header.get("step"):
        raise InvalidInput(
            f"checkpoint = {str(path)!r} is damaged: its curves do not reach its step.")
    filled = fill({"model": start.model, "optimiser_state": start.optimiser_state}, arrays, path)
    return Trained(**filled, **curves)


def _difference(header: Mapping[str, Any], key: jax.Array, about: Mapping[str, Any]) -> str:
    stored = header.get("about") or {}
    different = [name for name in about if stored.get(name) != about[name]]
    by_key = "its random key" if header.get("key") != _words(key) else "its description"
    return different[0] if different else by_key


def _words(key: jax.Array) -> list[int]:
    return [int(word) for word in np.ravel(jax.random.key_data(key))]


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
