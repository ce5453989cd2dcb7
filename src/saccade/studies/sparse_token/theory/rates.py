"""Many samples: the error a fitted classifier tends to, and how fast (ridgeless square loss).

As alpha = n/d grows the part of w without signal dies out (r -> 0) and (m_q, m_o, b) tend to
population least squares on (A, S), so
    E(alpha) = E_inf + c/alpha + O(1/alpha^2)
(status: asymptotic; c by Richardson extrapolation of the closed form). The vectorised model has the
same limit as pooling and L times its c. A badly aligned query has a worse limit than pooling: no
number of samples repairs it.
"""

from typing import NamedTuple

from saccade.studies.sparse_token.task import SparseTokenSetting
from saccade.studies.sparse_token.theory.errors import test_error
from saccade.studies.sparse_token.theory.law import FeatureLaw, feature_law
from saccade.studies.sparse_token.theory.saddle import Overlaps
from saccade.studies.sparse_token.theory.square import solve_square, weighted_least_squares

# samples per dimension from which c is extrapolated: c/alpha is still 1e9 times the rounding error
# of E
FAR = 2e4


class LargeSampleRate(NamedTuple):
    """`limit` (E_inf) and `coefficient` (c), with what refining the quadrature changed in each."""

    limit: float
    coefficient: float
    limit_accuracy: float
    coefficient_accuracy: float
    status: str


def large_sample_rate(
    setting: SparseTokenSetting, model: str, alignment: float | None = None,
    sharpness: float | None = None,
) -> LargeSampleRate:
    """E_inf and c of the ridgeless square-loss classifier."""
    (coarse_limit, coarse), (limit, coefficient) = (
        _rate(feature_law(setting, model, alignment, sharpness, log2_points))
        for log2_points in (12, 14))
    settled = abs(coefficient - coarse) <= 0.05 * abs(coefficient) + 1e-6
    status = "converged" if settled else "not converged"
    return LargeSampleRate(
        limit, coefficient, abs(limit - coarse_limit), abs(coefficient - coarse), status)


def _rate(law: FeatureLaw) -> tuple[float, float]:
    limit = test_error(law, population_least_squares(law))
    far = FAR / law.sample_scale
    near_slope, far_slope = (
        alpha * (test_error(law, solve_square(law, alpha, 0.0)) - limit) for alpha in (far, 2 * far)
    )
    return limit, 2 * far_slope - near_slope


def population_least_squares(law: FeatureLaw) -> Overlaps:
    """The overlaps at infinitely many samples without ridge: r = V = 0."""
    query, across, intercept = weighted_least_squares(law, 1.0, 0.0)
    return Overlaps(float(query), float(across), float(intercept), 0.0, 0.0)
