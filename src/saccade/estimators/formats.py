"""Bags from where people have them: pandas tables with a row a token, series of aeon and sktime."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_array

from saccade.estimators.bags import FLOATS, Bags, is_list_of_bags


def transpose(X: Any) -> Any:
    """Series as aeon and sktime hold them, (n, channels, time) or a list of (channels, time_i),
    with the times as tokens: (n, time, channels), or a list of (time_i, channels).

        make_pipeline(FunctionTransformer(transpose), BagClassifierCV())
    """
    if is_list_of_bags(X):
        return [np.ascontiguousarray(np.asarray(one).T) for one in X]
    X = np.asarray(X)
    if X.ndim != 3:
        raise ValueError(f"Expected 3D array, got {X.ndim}D array instead.")
    return np.ascontiguousarray(np.swapaxes(X, 1, 2))


def from_series(X: Any, mask: Any = None) -> Bags:
    """The same as Bags; `mask` (n, time) is False where a series has ended."""
    turned = transpose(X)
    return (Bags.from_list if isinstance(turned, list) else Bags.from_array)(turned, mask)


def from_long(
    frame: Any, bag: str = "bag", label: str | None = None, features: Sequence[str] | None = None
) -> tuple:
    """A pandas table with one row a token: `bag` names the column that tells bags apart, `label`
    the one with the label of the bag (the same in all its rows), `features` the columns of the
    tokens [all others]. Gives (bags, ids) or (bags, y, ids), bags in order of first appearance.

        bags, y, ids = from_long(table, bag="patient", label="ill")
    """
    named = [bag, *([] if label is None else [label]), *(features or ())]
    for name in named:
        if name not in frame.columns:
            raise ValueError(f"There is no column {name!r}; the columns are {list(frame.columns)}.")
    columns = (
        list(features) if features is not None
        else [name for name in frame.columns if name not in (bag, label)])
    if frame[bag].isna().any():
        raise ValueError(f"Column {bag!r} contains NaN: every token must belong to a bag.")
    codes, ids = frame[bag].factorize()
    order = np.argsort(codes, kind="stable")
    tokens = check_array(frame[columns].iloc[order], dtype=FLOATS, ensure_all_finite=False)
    bags = Bags.from_lengths(tokens, np.bincount(codes))
    if label is None:
        return bags, np.asarray(ids)
    labels = frame[label].to_numpy()[order]
    y = labels[bags.offsets[:-1]]
    if (labels != np.repeat(y, bags.lengths)).any():
        raise ValueError(f"Column {label!r} differs between tokens of one bag.")
    return bags, y, np.asarray(ids)
