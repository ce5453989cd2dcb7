"""Bags and labels from a file: .npz, .csv or .parquet. What is wrong with it is one sentence.

npz      X (n, L, d), y (n), and mask (n, L) if some tokens are not there;
         or tokens (N, d), lengths (n), y (n)
csv,     one row a token, with a head: a column that tells bags apart (`bag`), one with the
parquet  label of the bag (`label`), all others features
"""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from saccade.errors import InvalidInput, shown
from saccade.estimators import Bags, from_long


def read_file(path: str, bag: str = "bag", label: str = "label") -> tuple[Any, Any, Any]:
    """(X, y, mask) of the file; `bag` and `label` name columns of a table."""
    file = Path(path).expanduser()
    readers: dict[str, Callable] = {".npz": _npz, ".csv": _csv, ".parquet": _parquet}
    if file.suffix.lower() not in readers:
        raise InvalidInput(f"file = {path!r} must end in .npz, .csv or .parquet.")
    if not file.is_file():
        raise InvalidInput(f"file = {path!r} does not exist.")
    read = _quietly(path, readers[file.suffix.lower()], file)
    if file.suffix.lower() == ".npz":
        return _bags_of_arrays(path, read)
    return _bags_of_table(path, read, bag, label)


def _quietly(path: str, read: Callable, file: Path) -> Any:
    """What a reader gives, or the first line of its complaint."""
    try:
        return read(file)
    except InvalidInput:
        raise
    except Exception as problem:  # readers of foreign formats raise many kinds
        line = str(problem).strip().partition("\n")[0].rstrip(".")[:120] or type(problem).__name__
        raise InvalidInput(f"file = {path!r} cannot be read ({line}).") from None


def _npz(file: Path) -> dict[str, np.ndarray]:
    if not zipfile.is_zipfile(file):
        raise ValueError("it is no archive of NumPy arrays")
    with np.load(file, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _csv(file: Path) -> Any:
    import pandas

    return pandas.read_csv(file)


def _parquet(file: Path) -> Any:
    import pandas

    try:
        return pandas.read_parquet(file)
    except ImportError:
        raise InvalidInput(
            "Reading .parquet needs the extra 'export' (pip install 'saccade[export]').") from None


def _bags_of_arrays(path: str, arrays: dict[str, np.ndarray]) -> tuple[Any, Any, Any]:
    if "y" in arrays and "X" in arrays:
        _check_array(path, arrays["X"], "X", 3, "(n, L, d)")
        _check_tokens(path, arrays["X"], arrays.get("mask"))
        return arrays["X"], arrays["y"], arrays.get("mask")
    if {"y", "tokens", "lengths"} <= set(arrays):
        _check_array(path, arrays["tokens"], "tokens", 2, "(N, d)")
        _check_tokens(path, arrays["tokens"])
        try:
            return Bags.from_lengths(arrays["tokens"], arrays["lengths"]), arrays["y"], None
        except ValueError as problem:
            raise InvalidInput(f"file = {path!r}: {problem}") from None
    held = ", ".join(arrays) or "nothing"
    raise InvalidInput(
        f"file = {path!r} must hold X and y (and mask), or tokens, lengths and y; it holds {held}.")


def _check_array(path: str, array: np.ndarray, name: str, axes: int, shape: str) -> None:
    if array.ndim != axes or array.dtype.kind not in "iufb":
        raise InvalidInput(
            f"file = {path!r}: {name} must hold numbers of shape {shape}, it holds"
            f" {array.dtype} of shape {array.shape}.")


def _check_tokens(path: str, array: np.ndarray, mask: np.ndarray | None = None) -> None:
    """Every token that is there is made of finite numbers."""
    bad = ~np.isfinite(array).all(axis=-1)
    if mask is not None and mask.shape == bad.shape:
        bad &= mask.astype(bool)
    if bad.any():
        place = ", ".join(str(int(one)) for one in np.argwhere(bad)[0])
        raise InvalidInput(
            f"file = {path!r}: token [{place}] holds NaN or infinity ({int(bad.sum())} such"
            " tokens); leave such tokens out, or hide them by a mask.")


def _bags_of_table(path: str, table: Any, bag: str, label: str) -> tuple[Any, Any, Any]:
    missing = [name for name in (bag, label) if name not in table.columns]
    if missing:
        [first, *more] = map(str, table.columns)
        if not more and any(mark in first for mark in ";\t|"):
            raise InvalidInput(
                f"file = {path!r} has the one column {shown(first)}; separate columns by commas.")
        raise InvalidInput(
            f"file = {path!r} has no column {missing[0]!r}; name the columns of the bag and of the"
            f" label by --bag and --label (it has {', '.join(map(str, table.columns[:8]))}).")
    if len(table) == 0:
        raise InvalidInput(f"file = {path!r} has no row below its head.")
    for name in (bag, label):
        if table[name].isna().any():
            row = int(table[name].isna().to_numpy().argmax()) + 1
            raise InvalidInput(f"file = {path!r}: row {row} has no entry in the column {name!r}.")
    features = [name for name in table.columns if name not in (bag, label)]
    words = [name for name in features if table[name].dtype.kind not in "iufb"]
    if words or not features:
        what = f"the column {words[0]!r} does not hold numbers" if words else "there is no feature"
        raise InvalidInput(f"file = {path!r}: {what}.")
    _check_numbers(path, table, features)
    try:
        found, y, _ = from_long(table, bag, label)
    except ValueError as problem:
        raise InvalidInput(f"file = {path!r}: {' '.join(str(problem).split())}") from None
    return found, y, None


def _check_numbers(path: str, table: Any, features: list[str]) -> None:
    bad = ~np.isfinite(table[features].to_numpy(dtype=float))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise InvalidInput(
            f"file = {path!r}: row {row + 1} has no finite number in the column"
            f" {features[column]!r} ({int(bad.any(axis=1).sum())} such rows); leave them out.")
