"""What several experiments share: the keys of repetitions, spaced counts, named arrays."""

from typing import Any

import jax
import numpy as np


def each_key(key: Any, count: int) -> list[Any]:
    """The keys of `jax.random.split`, one by one. Taking them out of JAX's array would compile a
    program for every count."""
    numbers = np.asarray(jax.random.key_data(jax.random.split(key, count)))
    return [jax.random.wrap_key_data(row) for row in numbers]


def spaced(first: int, last: int, points: int) -> list[int]:
    """About `points` whole numbers from `first` to `last`, evenly spaced in log."""
    return np.unique(np.rint(np.geomspace(first, last, points)).astype(int)).tolist()


def along(axes: str | tuple[str, ...], **values: Any) -> dict[str, Any]:
    """Variables of a dataset that share their axes."""
    return {name: (axes, np.asarray(value)) for name, value in values.items()}
