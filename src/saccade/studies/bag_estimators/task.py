"""Two distributions of bags whose truth is known, in NumPy: sparse tokens and single location.

sparse tokens     y = 1 or 0 evenly; tokens N(0, I); in a positive bag one token is shifted by
                  theta along xi = (1, ..., 1)/sqrt d
single location   one token is N(sqrt(d/2) k, I/2), the others N(0, I); y is its coordinate
                  along v, a direction at right angles to k
"""

from typing import NamedTuple

import jax
import numpy as np


class Sample(NamedTuple):
    """Tokens (n, L, d), labels or targets, and which token matters (n, L)."""

    X: np.ndarray
    y: np.ndarray
    where: np.ndarray


def generator(key) -> np.random.Generator:
    """NumPy's generator of a JAX key."""
    return np.random.default_rng(np.asarray(jax.random.key_data(key)).astype(np.uint64).tolist())


def _places(random: np.random.Generator, n: int, length: int) -> np.ndarray:
    where = np.zeros((n, length), bool)
    where[np.arange(n), random.integers(0, length, n)] = True
    return where


def sparse_tokens(
    random: np.random.Generator, n: int, length: int, dim: int, signal: float
) -> Sample:
    """n bags; as many positive as negative ones are expected."""
    y = random.integers(0, 2, n)
    X = random.standard_normal((n, length, dim))
    where = _places(random, n, length)
    X[where & (y == 1)[:, None]] += signal / np.sqrt(dim)
    return Sample(X, y, where)


def single_location(
    random: np.random.Generator, n: int, length: int, dim: int, marked: bool = True
) -> Sample:
    """n bags; without `marked` the informative token is not shifted along k, and only its variance
    tells it."""
    X = random.standard_normal((n, length, dim))
    where = _places(random, n, length)
    X[where] *= np.sqrt(0.5)
    X[where, 0] += np.sqrt(dim / 2) * marked
    return Sample(X, X[where][:, 1], where)
