"""Checks at the door of the calculators: shapes that fit together, numbers in range, one sentence
each when not."""

from typing import Any

import numpy as np

from saccade.errors import InvalidInput, require
from saccade.studies.sparse_recovery.calculators.inputs import (
    MOST_STEPS,
    LassoInputs,
    Matrix,
    PromptInputs,
    RateInputs,
    Thresholds,
)


def array(value: Any, name: str, axes: int, empty_is: tuple[int, ...] | None = None) -> np.ndarray:
    """A rectangular array with `axes` axes, or a refusal; an empty list has the shape `empty_is`
    where that is known."""
    if len(value) == 0 and empty_is is not None:
        return np.zeros(empty_is)
    try:
        made = np.asarray(value, float)
    except ValueError:
        made = np.zeros(())
    require(
        made.ndim == axes, name, value,
        "must be a matrix: rows of equal length" if axes == 2 else "is ragged")
    return made


def measured(given: Any, dim: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """X and y with shapes that fit; X may be empty where the dimension is known from elsewhere."""
    X = array(given.X, "X", 2, None if dim is None else (0, dim))
    require(X.shape[1] >= 1, "X", given.X, "must have at least one coordinate a row")
    require(
        dim is None or X.shape[1] == dim, "X", f"rows of {X.shape[1]}",
        f"must have rows of {dim} coordinates")
    y = np.asarray(given.y, float)
    require(
        y.size == len(X), "y", f"a list of {y.size}",
        f"must have {len(X)} values, as many as X has rows")
    return X, y


def checked_lam(given: LassoInputs) -> float:
    require(given.lam >= 0, "lam", given.lam, "must be at least 0")
    return given.lam


def checked_record(given: RateInputs) -> list[int]:
    for step in given.record:
        require(
            0 <= step <= MOST_STEPS, "record", step,
            f"must hold step numbers from 0 to {MOST_STEPS}")
    return given.record


def thresholds(values: Thresholds, dim: int, layers: int | None = None) -> np.ndarray:
    """One row of d thresholds a layer."""
    require(len(values) > 0, "thresholds", values, "must have at least one entry, one a layer")
    rows = [np.asarray(value, float) for value in values]
    for number, row in enumerate(rows):
        fits = row.ndim == 0 or row.shape == (dim,)
        require(
            fits, f"thresholds[{number}]", values[number],
            f"must be a number or a list of {dim} numbers")
        require(
            bool((row >= 0).all()), f"thresholds[{number}]", values[number], "must be at least 0")
    matched = layers is None or len(rows) == layers
    require(
        matched, "thresholds", f"a list of {len(rows)}", f"must have {layers} entries, one a layer")
    return np.stack([np.broadcast_to(row, (dim,)) for row in rows])


def layered(value: Any, name: str, layers: int, shape: tuple[int, int]) -> np.ndarray:
    """K matrices of `shape`, from a list of K or from one that serves all layers."""
    try:
        made = np.asarray(value, float)
    except ValueError:
        raise InvalidInput(f"{name} = [...] must hold matrices of equal shape.") from None
    made = made.reshape(shape) if made.size == 0 and 0 in shape else made
    made = np.broadcast_to(made, (layers, *shape)) if made.shape == shape else made
    rule = f"must be a {shape[0]} x {shape[1]} matrix, or a list of {layers} of them, one a layer"
    require(made.shape == (layers, *shape), name, f"of shape {made.shape}", rule)
    return made


def matrices(rows: list[Matrix]) -> np.ndarray:
    """K square matrices of one size, which is the dimension d."""
    rule = "must be a list of d x d matrices of one size, one a layer"
    try:
        M = np.asarray(rows, float)
    except ValueError:
        raise InvalidInput(f"M = [...] {rule}.") from None
    require(M.ndim == 3 and M.shape[1] == M.shape[2] >= 1, "M", f"of shape {M.shape}", rule)
    return M


def prompted(given: PromptInputs, dim: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    X = array(given.X, "X", 2)
    require(X.shape[1] >= 1, "X", given.X, "must have at least one coordinate a row")
    require(
        dim is None or X.shape[1] == dim, "X", f"rows of {X.shape[1]}",
        f"must have rows of {dim} coordinates, as M")
    y = np.asarray(given.y, float)
    fits = len(X) == y.size + 1
    require(
        fits, "X", f"{len(X)} rows",
        f"must have {y.size + 1} rows: one for each of the {y.size} values, and the query")
    return X, y
