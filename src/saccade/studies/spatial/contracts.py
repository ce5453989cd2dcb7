"""Small tasks and models of this study that the test of contracts holds to them."""

from typing import Any

import jax
import jax.numpy as jnp

from saccade.contracts import Symmetry
from saccade.studies.spatial import models
from saccade.studies.spatial.models import GeneralisedLinear, PositionalAttention
from saccade.studies.spatial.task import Spatial

LABELS, DIM = (0, 0, 1, 1, 2, 2), 4
SETS = models.three_value_attention(jnp.asarray(LABELS), 1.0, 2.0, -0.1)


def _layer(key: Any, A: jax.Array) -> PositionalAttention:
    return PositionalAttention(A, 0.2 * jax.random.normal(key, (DIM,)))


TASKS = {
    "spatial": lambda key: Spatial.create(key, LABELS, DIM, 0.4),
    "crowded": lambda key: Spatial.create(key, LABELS, DIM, 1.0)}
MODELS = {
    "associating": lambda key: _layer(key, SETS),
    "positional": lambda key: _layer(key, jax.random.normal(key, SETS.shape)),
    "linear": lambda key: GeneralisedLinear(jax.random.normal(key, (len(LABELS), DIM))),
    "equal-weights": lambda key: GeneralisedLinear(
        jnp.tile(jax.random.normal(key, (DIM,)), (len(LABELS), 1)))}
SYMMETRIES = {
    "associating": Symmetry("within-groups", LABELS), "positional": Symmetry("none"),
    "linear": Symmetry("none"), "equal-weights": Symmetry("invariant")}
