"""What several experiments share: how their programs are compiled, spaced counts, named arrays."""

from typing import Any

import numpy as np

QUICKLY = {"xla_backend_optimization_level": 2}
"""Generating random numbers under `vmap` takes XLA's highest optimisation level three seconds to
compile each time it occurs, and up to twenty in the transfer programs; one level lower it takes a
tenth of that and runs as fast (at D = 6, d = 4: 9.3 s against 2.4 s, and 1.3 s against 1.2 s for
the run itself). For outermost programs only."""


def spaced(first: int, last: int, points: int) -> list[int]:
    """About `points` whole numbers from `first` to `last`, evenly spaced in log."""
    return np.unique(np.rint(np.geomspace(first, last, points)).astype(int)).tolist()


def along(axes: str | tuple[str, ...], **values: Any) -> dict[str, Any]:
    """Variables of a dataset that share their axes."""
    return {name: (axes, np.asarray(value)) for name, value in values.items()}
