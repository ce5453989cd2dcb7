"""Closed forms for attention that learns one location (Marion et al., arXiv 2410.01537)."""

import saccade.precision  # noqa: F401  float64 before the first array

from .baselines import (
    largest_norm_hit_rate,
    linear_coefficients,
    linear_risk,
    linear_risk_lower_bound,
    null_risk,
)
from .beyond import beyond_risk, leaning_oracle_risk, shared_kappa
from .landscape import (
    critical_inverse_temperature,
    growth_rates,
    mode_projections,
    oracle_transverse_hessian,
    origin_hessian,
    origin_jacobian_eigenvalues,
    race_fraction,
)
from .overlaps import ORACLE, Overlaps, Setting, as_arrays, check_overlaps, check_setting
from .risk import (
    manifold_gradient,
    manifold_risk,
    oracle_excess_risk,
    oracle_risk,
    risk,
    risk_gradient,
    spread_manifold_risk,
)
from .states import (
    off_manifold_attractor,
    stationary_hessian_eigenvalues,
    swapped_overlaps,
    swapped_state,
    tangent_gradient_norms,
)
from .steps import bounds_on_square, largest_descending_step, largest_recovering_step, proof_step
