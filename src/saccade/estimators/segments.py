"""Sums, maxima and softmax over the tokens of each bag, and the blocks of bags they are taken in.

Arrays here are (columns, tokens): one row a score, tokens of a bag side by side. Bags of equal
length take a reshape, others `reduceat`, which is right because no bag is empty.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

BLOCK = 2**18
"""Entries of a block of tokens: one or two megabytes, so that both products of an evaluation find
the tokens in the cache and memory is read once."""


class Segments:
    """Where each bag lies in a row of tokens."""

    def __init__(self, offsets: np.ndarray) -> None:
        self.starts = offsets[:-1] - offsets[0]
        self.lengths = np.diff(offsets)
        same = len(self.lengths) and (self.lengths == self.lengths[0]).all()
        self.length = int(self.lengths[0]) if same else 0

    def _rows(self, values: np.ndarray) -> np.ndarray:
        return values.reshape(len(values), len(self.lengths), self.length)

    def sum(self, values: np.ndarray) -> np.ndarray:
        if self.length:
            return self._rows(values).sum(axis=-1)
        return np.add.reduceat(values, self.starts, axis=1)

    def max(self, values: np.ndarray) -> np.ndarray:
        if self.length:
            return self._rows(values).max(axis=-1)
        return np.maximum.reduceat(values, self.starts, axis=1)

    def spread(self, per_bag: np.ndarray) -> np.ndarray:
        """Each bag's value on each of its tokens."""
        return np.repeat(per_bag, self.length or self.lengths, axis=-1)

    def softmax(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(softmax within each bag, log of the sum of exponentials); overwrites `scores`."""
        top = self.max(scores)
        scores -= self.spread(top)
        np.exp(scores, out=scores)
        total = self.sum(scores)
        scores *= self.spread(1 / total)
        return scores, top + np.log(total)


class Block(NamedTuple):
    """Some bags in a row: the slice of bags, the slice of tokens, and where they lie."""

    bags: slice
    tokens: slice
    segments: Segments


def blocks(offsets: np.ndarray, width: int, size: int = BLOCK) -> list[Block]:
    """Whole bags, together about `size` entries of tokens of this width."""
    return list(_blocks(np.asarray(offsets), max(1, size // max(1, width))))


def _blocks(offsets: np.ndarray, most: int) -> Iterator[Block]:
    first, last = 0, len(offsets) - 1
    while first < last:
        end = int(np.searchsorted(offsets, offsets[first] + most, side="right")) - 1
        end = min(max(end, first + 1), last)
        own = offsets[first : end + 1]
        yield Block(slice(first, end), slice(int(own[0]), int(own[-1])), Segments(own))
        first = end
