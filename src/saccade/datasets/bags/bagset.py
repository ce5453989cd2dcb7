"""Labelled bags of tokens in memory: flat tokens and offsets, never padded; their checksum."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from saccade.errors import InvalidInput


@dataclass(frozen=True)
class BagSet:
    """Bag i holds the rows `offsets[i]` to `offsets[i + 1]` of `tokens` (tokens, features); its
    label is `labels[i]`, 0 or 1. `where` marks the tokens that decide, where that is known."""

    tokens: np.ndarray
    offsets: np.ndarray
    labels: np.ndarray
    where: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.offsets)

    @property
    def X(self) -> list[np.ndarray]:
        """The bags as estimators take them: a list of (tokens, features) arrays."""
        return np.split(self.tokens, self.offsets[1:-1])

    @property
    def where_lists(self) -> list[np.ndarray] | None:
        return None if self.where is None else np.split(self.where, self.offsets[1:-1])

    @property
    def checksum(self) -> str:
        """SHA-256 over the shapes, the tokens as little-endian doubles, offsets and labels."""
        digest = hashlib.sha256(f"{self.tokens.shape} {len(self)}".encode())
        for array, kind in ((self.tokens, "<f8"), (self.offsets, "<i8"), (self.labels, "<i8")):
            digest.update(np.ascontiguousarray(array, kind).data)
        return digest.hexdigest()


def bag_set(
    tokens: Any, lengths: Sequence[int] | np.ndarray, labels: Any, place: str, where: Any = None
) -> BagSet:
    """A `BagSet`, or a refusal that names the place where something does not fit."""
    tokens, lengths = np.asarray(tokens, float), np.asarray(lengths, int)
    labels = np.asarray(labels)
    if tokens.ndim != 2 or tokens.size == 0:
        raise InvalidInput(f"{place} holds an array of shape {tokens.shape}, not tokens.")
    if len(lengths) != len(labels) or lengths.sum() != len(tokens) or np.any(lengths < 1):
        raise InvalidInput(
            f"{place} holds {len(tokens)} tokens, {len(lengths)} bags and {len(labels)} labels,"
            " which do not fit together.")
    if not np.isfinite(tokens).all():
        raise InvalidInput(f"{place} holds tokens that are not finite numbers.")
    if not set(np.unique(labels)) <= {0, 1}:
        raise InvalidInput(f"{place} holds labels other than 0 and 1.")
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return BagSet(tokens, offsets, labels.astype(np.int64), where)


def from_series(
    series: Sequence[np.ndarray], labels: Any, window: int, step: int, place: str
) -> BagSet:
    """Series (time, channels) as bags of windows: a token is `window` times of all channels, one
    every `step`."""
    bags = [windows(one, window, step) for one in series]
    return bag_set(np.concatenate(bags), [len(bag) for bag in bags], labels, place)


def windows(series: np.ndarray, window: int, step: int) -> np.ndarray:
    """The windows of one series (time, channels) as rows (windows, window * channels)."""
    view = np.lib.stride_tricks.sliding_window_view(series, window, axis=0)[::step]
    return view.transpose(0, 2, 1).reshape(len(view), -1)
