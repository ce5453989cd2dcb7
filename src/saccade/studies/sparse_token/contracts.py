"""The tasks and models of this study, small, as the shared contracts see them."""

from typing import Any

import jax
import jax.numpy as jnp

from saccade.contracts import Symmetry
from saccade.studies.sparse_token import models
from saccade.studies.sparse_token.task import SparseToken

DIM, LENGTH = 5, 4


def _task(key: Any, informative: int = 2, masks: Any = None, chances: Any = None) -> SparseToken:
    direction = jax.random.normal(key, (DIM,))
    unit = direction / jnp.linalg.norm(direction)
    return SparseToken.create(DIM, LENGTH, informative, 0.4, 2.0, unit, masks, chances)


TASKS = {
    "uniform places": _task,
    "uneven places": lambda key: _task(key, 1, jnp.eye(LENGTH, dtype=bool), (0.7, 0.1, 0.1, 0.1))}

normal = jax.random.normal
MODELS = {
    "attention": lambda key: models.AttentionClassifier(
        normal(key, (DIM,)), normal(jax.random.fold_in(key, 1), (DIM,)), jnp.asarray(0.3), 1.5),
    "pooled": lambda key: models.PooledClassifier(normal(key, (DIM,)), jnp.asarray(0.3)),
    "vectorised": lambda key: models.VectorisedClassifier(
        normal(key, (LENGTH, DIM)), jnp.asarray(0.3))}

SYMMETRIES = {
    "attention": Symmetry("invariant"), "pooled": Symmetry("invariant"),
    "vectorised": Symmetry("none")}
