"""Bags of tokens: n bags of L_i tokens in R^d, stored flat, one token a row, with the offsets of
the bags. Nothing is ever padded.

    Bags(tokens, offsets)            bag i is tokens[offsets[i] : offsets[i + 1]]
    Bags.from_lengths(tokens, lengths)
    Bags.from_list([bag, bag, ...])  each (L_i, d)
    Bags.from_array(X, mask)         (n, L, d); values under a False are never read
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_array

FLOATS: Any = (np.float64, np.float32)
DOUBLE: Any = np.float64  # scikit-learn declares `dtype` as a name


class Bags:
    """Tokens (N, d) and offsets (n + 1); `positions` tells each token's place in its bag.

    Length, integer, slice and index-array access make it fit for scikit-learn's splitters:
    `bags[3]` is an (L_3, d) array, `bags[[0, 2]]` are Bags.
    """

    def __init__(self, tokens: Any, offsets: Any, positions: Any = None) -> None:
        self.tokens = np.asarray(tokens)
        self.offsets = np.asarray(offsets)
        self.positions = positions
        self._check()

    def _check(self) -> None:
        tokens, offsets = self.tokens, self.offsets
        if tokens.ndim != 2:
            raise ValueError(f"Expected 2D array of tokens, got {tokens.ndim}D array instead.")
        if offsets.ndim != 1 or len(offsets) < 2 or offsets.dtype.kind not in "iu":
            raise ValueError(
                "offsets must be a vector of whole numbers, one more than there are bags, got shape"
                f" {offsets.shape} of {offsets.dtype}.")
        if offsets[0] != 0 or offsets[-1] != len(tokens):
            raise ValueError(
                f"offsets must begin at 0 and end at the number of tokens {len(tokens)}, got"
                f" {offsets[0]} and {offsets[-1]}: the lengths do not sum to it.")
        if (offsets[1:] < offsets[:-1]).any():
            raise ValueError("offsets must not fall: a bag cannot have fewer than 0 tokens.")
        empty = np.flatnonzero(offsets[1:] == offsets[:-1])
        if len(empty):
            raise ValueError(
                f"Found bag {empty[0]} with 0 token(s) (shape=(0, {tokens.shape[1]})) while a"
                f" minimum of 1 is required ({len(empty)} such bag(s)).")

    @classmethod
    def from_lengths(cls, tokens: Any, lengths: Any) -> "Bags":
        """Bags of these numbers of tokens, one after the other."""
        return cls(tokens, np.concatenate([[0], np.cumsum(np.asarray(lengths))]))

    @classmethod
    def from_list(cls, bags: Sequence[Any], mask: Sequence[Any] | None = None) -> "Bags":
        """A list of (L_i, d) arrays; `mask` is a list of vectors, one entry a token."""
        arrays = [_token_table(bag, index) for index, bag in enumerate(bags)]
        widths = {array.shape[1] for array in arrays}
        if len(widths) > 1:
            raise ValueError(
                f"All bags must have the same number of features, got {sorted(widths)}.")
        kind = np.float32 if all(one.dtype == np.float32 for one in arrays) else np.float64
        lengths = [len(one) for one in arrays]
        flat = np.concatenate(arrays, dtype=kind) if sum(lengths) else np.empty((0, min(widths)))
        if mask is None:
            return cls.from_lengths(flat, lengths)
        keep = [np.asarray(one) for one in mask]
        if [one.shape for one in keep] != [(length,) for length in lengths]:
            raise ValueError("mask must hold one entry for each token of each bag.")
        return _kept(flat, np.concatenate(keep), lengths)

    @classmethod
    def from_array(cls, X: Any, mask: Any = None) -> "Bags":
        """(n, L, d) and an optional (n, L) mask: a view of X without mask, its kept tokens with."""
        X = np.asarray(X)
        if X.ndim != 3:
            raise ValueError(f"Expected 3D array, got {X.ndim}D array instead.")
        n, length, width = X.shape
        if min(n, length, width) == 0:
            unit = "sample(s)" if n == 0 else "token(s)" if length == 0 else "feature(s)"
            raise ValueError(
                f"Found array with 0 {unit} (shape={X.shape}) while a minimum of 1 is required.")
        flat = X.reshape(-1, width)
        if mask is None:
            return cls(flat, np.arange(0, n * length + 1, length))
        mask = np.asarray(mask)
        if mask.shape != (n, length):
            raise ValueError(f"mask must have shape {(n, length)} like X, got {mask.shape}.")
        return _kept(flat, mask.ravel(), np.full(n, length))

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.offsets)

    @property
    def places(self) -> np.ndarray:
        """Each token's place in its bag: its column in the array it came from, else 0, 1, 2, ..."""
        if self.positions is not None:
            return self.positions
        return np.arange(len(self.tokens)) - np.repeat(self.offsets[:-1], self.lengths)

    @property
    def shape(self) -> tuple[int]:
        return (len(self),)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, int | np.integer):
            first = range(len(self))[int(key)]
            return self.tokens[self.offsets[first] : self.offsets[first + 1]]
        return self.take(np.arange(len(self))[key])

    def __repr__(self) -> str:
        return f"Bags({len(self)} bags, {len(self.tokens)} tokens in R^{self.tokens.shape[1]})"

    def take(self, indices: np.ndarray) -> "Bags":
        """The bags of these indices, in this order (a copy)."""
        lengths = self.lengths
        chosen = lengths[indices]
        if len(set(lengths.tolist())) == 1:
            length = int(lengths[0])
            cube = self.tokens.reshape(len(self), length, -1)[indices]
            places = None
            if self.positions is not None:
                places = self.positions.reshape(len(self), length)[indices].ravel()
            return Bags(
                cube.reshape(-1, cube.shape[2]), np.arange(len(indices) + 1) * length, places)
        offsets = np.concatenate([[0], np.cumsum(chosen)])
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[indices] - offsets[:-1], chosen)
        places = None if self.positions is None else self.positions[rows]
        return Bags(self.tokens[rows], offsets, places)

    def split(self, per_token: np.ndarray) -> list[np.ndarray]:
        """A vector of one entry a token as a list of one vector a bag."""
        return np.split(per_token, self.offsets[1:-1])


def _token_table(bag: Any, index: int) -> np.ndarray:
    table = check_array(
        bag, dtype=FLOATS, ensure_all_finite=False, ensure_min_samples=0, input_name=f"bag {index}")
    if len(table) == 0:
        raise ValueError(
            f"Found bag {index} with 0 token(s) (shape={table.shape}) while a minimum of 1 is"
            " required.")
    return table


def _kept(flat: np.ndarray, mask: np.ndarray, lengths: Any) -> Bags:
    """The tokens under a True, which must be left in every bag."""
    if mask.dtype != bool:
        if mask.dtype.kind not in "iuf" or not np.isin(mask, (0, 1)).all():
            raise ValueError(f"mask must hold True and False, got values of {mask.dtype}.")
        mask = mask.astype(bool)
    lengths = np.asarray(lengths)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    counts = np.add.reduceat(mask.astype(np.int64), offsets[:-1])
    if (counts == 0).any():
        hidden = np.flatnonzero(counts == 0)
        raise ValueError(
            f"mask hides every token of bag {hidden[0]} ({len(hidden)} such bag(s)): found a bag"
            " with 0 token(s) while a minimum of 1 is required.")
    places = (np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths))[mask]
    return Bags(flat[mask], np.concatenate([[0], np.cumsum(counts)]), places)


def rank(X: Any) -> int:
    """The number of axes of anything that can be read as an array."""
    return X.ndim if hasattr(X, "ndim") else np.asarray(X).ndim


def is_list_of_bags(X: Any) -> bool:
    """A list, tuple or object array of two-dimensional tables (a nested list of numbers is not)."""
    if isinstance(X, np.ndarray) and X.dtype != object:
        return False
    if not isinstance(X, list | tuple | np.ndarray) or len(X) == 0:
        return False
    first = X[0]
    return np.ndim(first) == 2 if hasattr(first, "__len__") else False
