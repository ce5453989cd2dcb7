"""Bags whose tokens have fixed places: groups of variables, patches of an image.

A token's place is its column in an array, or its index in a list, so a list may only leave out
tokens at the end; use an array and a mask for others.
"""

from typing import Any

import numpy as np

from saccade.estimators.bags import Bags
from saccade.estimators.base import BagClassifier
from saccade.estimators.looking import Looks


class PlacedClassifier(Looks, BagClassifier):
    """Two classes; places count, and no more of them may appear than in `fit`."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _read(self, X: Any, mask: Any = None, reset: bool = False) -> Bags:
        bags = super()._read(X, mask, reset)
        count_places(self, bags, reset)
        return bags


def count_places(estimator: Any, bags: Bags, reset: bool) -> None:
    """How many places there are is learned at `reset`; later there may not be more."""
    count = int(bags.places.max()) + 1
    if reset:
        estimator.n_places_ = count
    elif count > estimator.n_places_:
        raise ValueError(
            f"X has {count} tokens, but {type(estimator).__name__} is expecting"
            f" {estimator.n_places_} tokens as input.")


def by_place(bags: Bags, values: np.ndarray, count: int) -> np.ndarray:
    """One value a token as a table (n, count), 0 where a bag has no token."""
    table = np.zeros((len(bags), count))
    table[_entries(bags)] = values
    return table


def by_token(bags: Bags, table: np.ndarray) -> np.ndarray:
    """The entries of a table (n, count) at which a bag has a token, flat."""
    return table[_entries(bags)]


def _entries(bags: Bags) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat(np.arange(len(bags)), bags.lengths), bags.places
