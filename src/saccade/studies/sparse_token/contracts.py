"""The tasks and models of this study as the shared contracts see them (`saccade.contracts`), small."""

from collections.abc import Callable, Mapping
from typing import Any, cast

import jax

from saccade.contracts import Model, Symmetry, Task
from saccade.studies.sparse_token.models import (
    AttentionClassifier,
    PooledClassifier,
    VectorisedClassifier,
)
from saccade.studies.sparse_token.task import SparseToken

DIM, LENGTH = 5, 4


def _task(key: Any, informative: int = 2, **places: Any) -> SparseToken:
    direction = jax.random.normal(key, (DIM,))
    unit = direction / jax.numpy.linalg.norm(direction)
    return SparseToken.create(DIM, LENGTH, informative, 0.4, 2.0, unit, **places)


def _vectors(key: Any, *shapes: tuple[int, ...]) -> list[jax.Array]:
    keys = jax.random.split(key, len(shapes))
    return [jax.random.normal(one, shape) for one, shape in zip(keys, shapes, strict=True)]


UNEVEN = {
    "location_masks": jax.numpy.eye(LENGTH, dtype=bool),
    "location_probabilities": (0.7, 0.1, 0.1, 0.1)}

TASKS: Mapping[str, Callable[[Any], Task]] = {
    "uniform places": lambda key: _task(key),
    "uneven places": lambda key: _task(key, 1, **UNEVEN)}

MODELS: Mapping[str, Callable[[Any], Model]] = {
    "attention": lambda key: AttentionClassifier(*_vectors(key, (DIM,), (DIM,), ()), 1.5),
    "pooled": lambda key: PooledClassifier(*_vectors(key, (DIM,), ())),
    "vectorised": lambda key: VectorisedClassifier(*_vectors(key, (LENGTH, DIM), ()))}

SYMMETRIES: Mapping[str, Symmetry] = {
    "attention": Symmetry("invariant"), "pooled": Symmetry("invariant"),
    "vectorised": Symmetry("none")}
