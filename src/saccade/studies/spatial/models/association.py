"""Patch association: does row i of a similarity matrix hold its largest entries exactly on the set
of patch i? (Definition 2.2)."""

from typing import Any, NamedTuple

import numpy as np

from saccade.errors import require
from saccade.studies.spatial.task import partition


class Association(NamedTuple):
    """The metric, with and without the diagonal, which lies in its own set and so is a free hit
    when it is large."""

    exact: bool
    row_fraction: float
    overlap: float
    off_diagonal_overlap: float
    off_diagonal_row_fraction: float
    margin: float


def association(matrix: Any, labels: Any) -> Association:
    """Judge a similarity matrix (A, P^T P, attention) against a partition. Status: exact.

    A row passes if its smallest entry inside the set is strictly above its largest outside.
    `overlap` is the mean share of the top C places that lie in the set, ties at the C-th value
    sharing the places that remain evenly. `off_diagonal_...` leaves out j = i and asks for the top
    C - 1; with C = 1 nothing is left to find and it is 1. `margin` is the smallest gap between
    inside and outside (infinite for a single set).
    """
    index, _, set_size = partition(labels)
    values = np.asarray(matrix, float)
    size = len(index)
    require(
        values.shape == (size, size), "shape of matrix", values.shape,
        f"must be ({size}, {size}), one row per patch")
    require(bool(np.all(np.isfinite(values))), "matrix", matrix, "must hold finite numbers")
    same, diagonal = index[:, None] == index[None, :], np.eye(size, dtype=bool)
    gaps, off_gaps = _gaps(values, same, ~same), _gaps(values, same & ~diagonal, ~same)
    off = np.where(diagonal, -np.inf, values)
    return Association(
        bool(np.all(gaps > 0)), float(np.mean(gaps > 0)), _top_share(values, same, set_size),
        _top_share(off, same & ~diagonal, set_size - 1), float(np.mean(off_gaps > 0)),
        float(np.min(gaps)))


def _gaps(values: np.ndarray, inside: np.ndarray, outside: np.ndarray) -> np.ndarray:
    """Per row: smallest entry inside minus largest outside."""
    return np.min(np.where(inside, values, np.inf), axis=1) - np.max(
        np.where(outside, values, -np.inf), axis=1)


def _top_share(values: np.ndarray, inside: np.ndarray, places: int) -> float:
    """Mean share of the `places` largest entries of a row that lie inside; ties at the last place
    share what remains evenly."""
    if places == 0:
        return 1.0
    last = np.sort(values, axis=1)[:, -places][:, None]
    above, level = values > last, values == last
    remaining = places - above.sum(axis=1)
    hits = (above & inside).sum(axis=1) + remaining * (level & inside).sum(axis=1) / level.sum(
        axis=1)
    return float(np.mean(hits) / places)
