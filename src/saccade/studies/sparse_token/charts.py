"""The tasks of this study on the map of all learners and all tasks: one or three shifted tokens."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from saccade.lab.chart import ChartedTask
from saccade.studies.sparse_token.task import SparseToken

SIGNAL = 4.0


def _task(key: Any, length: int, dim: int, informative: int, signal: float) -> SparseToken:
    direction = jax.random.normal(key, (dim,))
    unit = direction / jnp.linalg.norm(direction)
    return SparseToken.create(dim, length, informative, 0.5, signal, unit)


def _positive(sample: Any) -> np.ndarray:
    """Only in positive samples is there a token to find."""
    return np.asarray(sample.y) > 0


def _charted(informative: int, signal: float, name: str, quick: bool = True) -> ChartedTask:
    return ChartedTask(
        name, "sparse-token", f"{informative} of the tokens shifted by {signal:g} where y = 1",
        partial(_task, informative=informative, signal=signal), judged=_positive, quick=quick)


TOKENS = (
    _charted(1, SIGNAL, "sparse-token-1"), _charted(3, SIGNAL / 2, "sparse-token-3"),
    *(
        _charted(count, signal, f"sparse-token-{count}-theta-{signal:g}", quick=False)
        for count in (1, 3) for signal in (2.0, 3.0, 6.0)))
