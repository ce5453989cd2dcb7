"""Small tasks and models of this study that `tests/test_contracts.py` holds to the contracts."""

from typing import Any

import jax
import jax.numpy as jnp

from saccade.contracts import Symmetry
from saccade.studies.softmax_location.models import ScoreAttention, SoftmaxAttention
from saccade.studies.softmax_location.task import Search

DIM, LENGTH = 6, 5


def _heads(key: Any, count: int) -> SoftmaxAttention:
    k, v = jax.random.normal(key, (2, count, DIM))
    return SoftmaxAttention(k, v, 0.7)


TASKS = {
    "search": lambda key: Search(DIM, LENGTH, noise=0.2),
    "several": lambda key: Search(DIM, LENGTH, gamma=0.6, informative=2)}
MODELS = {
    "softmax": lambda key: _heads(key, 1), "two-heads": lambda key: _heads(key, 2),
    "scores": lambda key: ScoreAttention(jnp.eye(DIM)[0], jnp.eye(DIM)[1], 0.8)}
SYMMETRIES = dict.fromkeys(MODELS, Symmetry("invariant"))
