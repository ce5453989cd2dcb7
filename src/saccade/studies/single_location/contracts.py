"""Small tasks and models of this study that `tests/test_contracts.py` holds to the contracts."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from saccade.contracts import Model, Symmetry
from saccade.studies.single_location import models
from saccade.studies.single_location.task import SingleLocation, orthonormal_pair

DIM, LENGTH = 6, 5


def _single_head(key: Any) -> models.SingleHeadAttention:
    Q, K, V = jax.random.normal(key, (3, DIM, 2))
    return models.SingleHeadAttention(Q, K, V, jnp.ones((1, 2)), jnp.ones(DIM) / 2)


TASKS: dict[str, Callable[[Any], Any]] = {
    "single-location": lambda key: SingleLocation.create(key, DIM, LENGTH, noise=0.2),
    "uneven-law": lambda key: SingleLocation.create(
        key, DIM, LENGTH, location_probabilities=jnp.array([0.4, 0.3, 0.2, 0.1, 0.0])),
    "several-locations": lambda key: SingleLocation.create(key, DIM, LENGTH, informative=2)}
MODELS: dict[str, Callable[[Any], Model]] = {
    "erf": lambda key: models.ErfAttention(*orthonormal_pair(key, DIM), 0.7),
    "softmax": lambda key: models.SoftmaxAttention(*orthonormal_pair(key, DIM), 0.7),
    "argmax": lambda key: models.ArgmaxAttention(*orthonormal_pair(key, DIM)),
    "single-head": _single_head}
SYMMETRIES = dict.fromkeys(MODELS, Symmetry("invariant"))
