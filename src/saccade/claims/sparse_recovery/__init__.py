"""The claims of sparse recovery: the construction, its certificate, classical solvers, learned algorithms, trained decoders."""

from saccade.claims.sparse_recovery import (
    certificate,
    construction,
    learned,
    questions,
    solvers,
    structure,
    trained,
    trained_limits,
    trained_structure,
)

CLAIMS = (
    *construction.CLAIMS,
    *certificate.CLAIMS,
    *solvers.CLAIMS,
    *learned.CLAIMS,
    *questions.CLAIMS,
    *structure.CLAIMS,
    *trained.CLAIMS,
    *trained_limits.CLAIMS,
    *trained_structure.CLAIMS,
)
