"""Checkpoints of a training: model, optimiser, curves and step in one file, written by rename, so
that the last good one always stays."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np

from saccade.errors import InvalidInput
from saccade.networks.saving import fill, named_leaves, read_arrays, write_arrays

KIND = "training"


class Progressed(NamedTuple):
    """How far a training is: all that determines how it goes on, and what it has recorded."""

    model: Any
    optimiser_state: Any
    losses: np.ndarray
    gradient_norms: np.ndarray
    measured_steps: np.ndarray
    measured: np.ndarray

    @property
    def step(self) -> int:
        return len(self.losses)


def save_checkpoint(
    path: str | os.PathLike, state: Progressed, key: jax.Array, about: Mapping[str, Any]
) -> Path:
    """Write the state; `key` and `about` say whose training it is."""
    arrays = {name: np.asarray(leaf) for name, leaf in named_leaves(_arrays(state)).items()}
    return write_arrays(
        path, {"kind": KIND, "step": state.step, "key": _words(key), "about": dict(about)}, arrays)


def load_checkpoint(
    path: str | os.PathLike, start: Progressed, key: jax.Array, about: Mapping[str, Any]
) -> Progressed:
    """The state in `path`, for the training that would begin with `start`; refused if it belongs to
    another one."""
    header, arrays = read_arrays(path, KIND)
    if header.get("key") != _words(key) or header.get("about") != dict(about):
        raise InvalidInput(
            f"checkpoint = {str(path)!r} belongs to another training"
            f" ({_difference(header, key, about)} differs); remove it, or start without --resume.")
    curves = {name: arrays.pop(name) for name in Progressed._fields[2:] if name in arrays}
    if len(curves) < 4 or len(curves["losses"]) != header.get("step"):
        raise InvalidInput(
            f"checkpoint = {str(path)!r} is damaged: its curves do not reach its step.")
    filled = fill({"model": start.model, "optimiser_state": start.optimiser_state}, arrays, path)
    return Progressed(filled["model"], filled["optimiser_state"], **curves)


def _arrays(state: Progressed) -> dict[str, Any]:
    return {name: eqx.filter(value, eqx.is_array) for name, value in state._asdict().items()}


def _difference(header: Mapping[str, Any], key: jax.Array, about: Mapping[str, Any]) -> str:
    found = header.get("about") or {}
    names = [name for name in about if found.get(name) != about[name]]
    return (
        names[0] if names else "its random key" if header.get("key") != _words(key)
        else "its description")


def _words(key: jax.Array) -> list[int]:
    return [int(word) for word in np.ravel(jax.random.key_data(key))]
