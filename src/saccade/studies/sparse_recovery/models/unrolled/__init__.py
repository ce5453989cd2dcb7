"""Iterative and unrolled algorithms for sparse recovery: ISTA, FISTA, coordinate descent and the
LISTA family in one batched form."""

import saccade.precision  # noqa: F401
from saccade.studies.sparse_recovery.models.unrolled.algorithms import (
    ALGORITHMS,
    algorithm_named,
    lista_vm_prefixes,
    unroll,
)
from saccade.studies.sparse_recovery.models.unrolled.steps import begin, problem, soft_threshold
from saccade.studies.sparse_recovery.models.unrolled.weights import alista_weight, squared_norm
