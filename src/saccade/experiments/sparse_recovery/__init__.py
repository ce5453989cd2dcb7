"""The experiments of sparse recovery."""

from saccade.experiments.sparse_recovery import (
    certificates,
    construction,
    learned,
    questions,
    solvers,
    trained,
    trainings,
)

EXPERIMENTS = (
    construction.construction,
    construction.restricted,
    construction.read_outs,
    certificates.certified,
    certificates.worst_case,
    certificates.coherence,
    solvers.rates,
    solvers.weights,
    solvers.peers,
    learned.one_matrix,
    learned.varying_matrices,
    questions.row_counts,
    questions.pools,
    questions.shifts,
    questions.invariance,
    questions.depths,
    questions.blocks,
    *trained.EXPERIMENTS,
)

TRAININGS = trainings.TRAININGS
