"""Closed forms for attention that learns one location (Marion, Berthier, Biau, Boyer; arXiv
2410.01537)."""

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.studies.single_location.theory.attractor import Attractor, off_manifold_attractor
from saccade.studies.single_location.theory.landscape import (
    GrowthRates,
    OracleHessian,
    critical_inverse_temperature,
    growth_rates,
    mode_projections,
    oracle_transverse_hessian,
    origin_hessian,
    origin_jacobian_eigenvalues,
)
from saccade.studies.single_location.theory.linear import (
    check_probabilities,
    linear_coefficients,
    linear_risk,
    linear_risk_lower_bound,
    null_risk,
)
from saccade.studies.single_location.theory.manifold import (
    check_informative,
    manifold_gradient,
    manifold_risk,
    oracle_excess_risk,
    oracle_risk,
    spread_manifold_risk,
)
from saccade.studies.single_location.theory.norms import largest_norm_hit_rate
from saccade.studies.single_location.theory.overlaps import (
    ORACLE,
    Overlaps,
    Setting,
    as_arrays,
    check_overlaps,
    check_setting,
    distance_to_manifold,
    gram,
)
from saccade.studies.single_location.theory.risk import risk, risk_gradient
from saccade.studies.single_location.theory.states import (
    SwappedState,
    stationary_hessian_eigenvalues,
    swapped_overlaps,
    swapped_state,
    tangent_gradient_norms,
)

__all__ = [
    "ORACLE", "Attractor", "GrowthRates", "OracleHessian", "Overlaps", "Setting", "SwappedState",
    "as_arrays", "check_informative", "check_overlaps", "check_probabilities", "check_setting",
    "critical_inverse_temperature", "distance_to_manifold", "gram", "growth_rates",
    "largest_norm_hit_rate", "linear_coefficients", "linear_risk", "linear_risk_lower_bound",
    "manifold_gradient", "manifold_risk", "mode_projections", "null_risk", "off_manifold_attractor",
    "oracle_excess_risk", "oracle_risk", "oracle_transverse_hessian", "origin_hessian",
    "origin_jacobian_eigenvalues", "risk", "risk_gradient", "spread_manifold_risk",
    "stationary_hessian_eigenvalues", "swapped_overlaps", "swapped_state", "tangent_gradient_norms"]
