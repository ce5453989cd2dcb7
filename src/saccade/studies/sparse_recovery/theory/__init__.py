"""What is known of sparse recovery: the LASSO and its gap, bounds of ISTA and FISTA, coherence, and
the certificate of a linear rate."""

import saccade.precision  # noqa: F401
from saccade.studies.sparse_recovery.theory.certificate import (
    Certificate,
    certificate,
    error_bounds,
    reported_rate,
    reported_threshold,
)
from saccade.studies.sparse_recovery.theory.coherence import (
    coherence,
    frobenius_by_projection,
    frobenius_objective,
    lp_coherence,
    normalised_coherence,
)
from saccade.studies.sparse_recovery.theory.objective import duality_gap, lam_max, lasso_objective
from saccade.studies.sparse_recovery.theory.rates import fista_bound, ista_bound

__all__ = [
    "Certificate", "certificate", "coherence", "duality_gap", "error_bounds", "fista_bound",
    "frobenius_by_projection", "frobenius_objective", "ista_bound", "lam_max", "lasso_objective",
    "lp_coherence", "normalised_coherence", "reported_rate", "reported_threshold"]
