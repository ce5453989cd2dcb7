"""What of this study satisfies `saccade.contracts`, in small sizes for the test of them all."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp

from saccade.contracts import Model, Symmetry
from saccade.studies.sparse_recovery.models.unrolled import ALGORITHMS, UnrolledRecovery
from saccade.studies.sparse_recovery.task import ColumnsAsTokens, SparseRecovery

COORDINATES, ROWS, LAYERS = 7, 5, 8
GROUPS = (0, 1, 1, 2, 2, 3, 3, 4)
"""The token of measured values, blocks of two columns, and one of one."""


def _task(key: Any, **changes: Any) -> Any:
    return ColumnsAsTokens(SparseRecovery.create(COORDINATES, ROWS, 2, **changes))


def _model(name: str, key: Any) -> Model:
    """K layers as training begins with them; LISTA and LISTA-CP know one random matrix."""
    matrix = SparseRecovery.create(COORDINATES + 1, ROWS, 2).matrices(key, 1)[0]
    layers = ALGORITHMS[name].start(layers=LAYERS, X=matrix)
    if name == "lista-block":
        groups = jnp.asarray(GROUPS)[:, None] == jnp.arange(max(GROUPS) + 1)
        layers["groups"] = jnp.broadcast_to(groups.astype(float), (LAYERS, *groups.shape))
    return UnrolledRecovery(name, layers)


TASKS: dict[str, Callable[[Any], Any]] = {
    "columns": _task, "columns, noisy": partial(_task, noise=0.3),
    "columns, blocks": partial(_task, block=2, pool=range(6))}
MODELS: dict[str, Callable[[Any], Model]] = {name: partial(_model, name) for name in ALGORITHMS}
BY_ORDER = ("cd", "lista", "lista-cp")  # sweep over columns, or know the columns by their place
SYMMETRIES = (
    dict.fromkeys(MODELS, Symmetry("invariant")) | dict.fromkeys(BY_ORDER, Symmetry("none"))
    | {"lista-block": Symmetry("within-groups", GROUPS)})
