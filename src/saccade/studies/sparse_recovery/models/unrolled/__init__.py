"""Iterative and unrolled algorithms for sparse recovery: ISTA, FISTA, coordinate descent and the
LISTA family in one batched form."""

import saccade.precision  # noqa: F401
from saccade.studies.sparse_recovery.models.unrolled.algorithms import (
    ALGORITHMS,
    LEARNED,
    Algorithm,
    algorithm_named,
    unroll,
)
from saccade.studies.sparse_recovery.models.unrolled.steps import (
    Problem,
    State,
    problem,
    soft_threshold,
)
from saccade.studies.sparse_recovery.models.unrolled.varying import lista_vm_prefixes
from saccade.studies.sparse_recovery.models.unrolled.weights import alista_weight, squared_norm

__all__ = [
    "ALGORITHMS", "LEARNED", "Algorithm", "Problem", "State", "algorithm_named", "alista_weight",
    "lista_vm_prefixes", "problem", "soft_threshold", "squared_norm", "unroll"]
