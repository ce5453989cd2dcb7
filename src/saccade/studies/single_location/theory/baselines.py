"""What is reached without looking: the linear predictor (Proposition 3), the longest token."""

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy import integrate, stats

from saccade.errors import require

from .overlaps import Setting, check_setting

SUM_TOLERANCE = 1e-9
LARGEST = 1e150
Law = Float[np.ndarray, " length"]


def check_probabilities(location_probabilities: ArrayLike) -> Law:
    """The law of the location (p) as an array, or `InvalidInput` when it is none."""
    name, law = "location_probabilities", np.asarray(location_probabilities, float)
    require(law.ndim == 1 and law.size > 0, name, law, "must be a non-empty list")
    proper = bool(np.all(np.isfinite(law)) and np.all(law >= 0))
    require(proper, name, law, "must be finite and at least 0")
    total = float(law.sum())
    sums_to_one = abs(total - 1) <= SUM_TOLERANCE
    require(sums_to_one, name, law, f"must sum to 1, the sum is {total:.12g}")
    return law


def _check_spreads(gamma: float, noise: float = 0.0) -> None:
    """As `check_setting`, and their squares must be finite; that of gamma, by which is divided, not
    0."""
    check_setting(Setting(2, 1, 1.0, gamma, noise))
    fits = 1 / LARGEST <= gamma <= LARGEST
    require(fits, "gamma", gamma, f"must lie between {1 / LARGEST:g} and {LARGEST:g}")
    require(noise <= LARGEST, "noise", noise, f"must be at most {LARGEST:g}")


def linear_coefficients(location_probabilities: ArrayLike, gamma: float = 2**-0.5) -> Law:
    """c_j = gamma^2 p_j/(1 + p_j (gamma^2 - 1)): the best weight on token j is c_j v*. Exact."""
    _check_spreads(gamma)
    law = check_probabilities(location_probabilities)
    return gamma**2 * law / (1 - law + law * gamma**2)


def linear_risk(
    location_probabilities: ArrayLike, gamma: float = 2**-0.5, noise: float = 0.0
) -> float:
    """eps^2 + gamma^2 - gamma^4 sum_j p_j^2/(1 + p_j (gamma^2 - 1)), least linear risk. Exact.

    Evaluated as eps^2 + gamma^2 sum_j p_j (1-p_j)/(1-p_j + p_j gamma^2): positive terms, so that a
    known location gives eps^2 with no remainder.
    """
    _check_spreads(gamma, noise)
    law = check_probabilities(location_probabilities)
    return float(noise**2 + gamma**2 * np.sum(law * (1 - law) / (1 - law + law * gamma**2)))


def linear_risk_lower_bound(
    location_probabilities: ArrayLike, gamma: float = 2**-0.5, noise: float = 0.0
) -> float:
    """eps^2 + gamma^2 - gamma^2 (gamma^2 + 1) max_j p_j; may be below 0. Bound, Proposition 3."""
    law = check_probabilities(location_probabilities)
    return null_risk(gamma, noise) - float(gamma**2 * (gamma**2 + 1) * law.max())


def null_risk(gamma: float = 2**-0.5, noise: float = 0.0) -> float:
    """eps^2 + gamma^2, the risk of always predicting 0. Exact."""
    _check_spreads(gamma, noise)
    return float(noise**2 + gamma**2)


def largest_norm_hit_rate(dim: float, length: float, gamma: float = 2**-0.5) -> float:
    """P(the informative token has the largest norm of L tokens). Status: quadrature (1e-9).

    |X_J|^2 / gamma^2 is noncentral chi-square with d degrees of freedom and noncentrality
    (d/2)/gamma^2, the other L-1 squared norms are chi-square with d: the rate is E
    F(|X_J|^2)^(L-1). With gamma^2 = 1/2 the means agree but the variances are 3d/2 and 2d, so the
    rate is not 1/L: 0.079 for d = 80, L = 10 (below it), 0.504 for d = 80, L = 2 (above it).
    """
    for name, value in (("dim", dim), ("length", length)):
        require(value >= 1, name, value, "must be at least 1")
    require(gamma > 0, "gamma", gamma, "must be above 0")
    law = {"df": dim, "nc": dim / 2 / gamma**2, "scale": gamma**2}
    centre, spread = stats.ncx2.mean(**law), stats.ncx2.std(**law)
    ends = max(0.0, centre - 12 * spread), centre + 12 * spread
    value, _ = integrate.quad(
        lambda x: stats.ncx2.pdf(x, **law) * stats.chi2.cdf(x, dim) ** (length - 1), *ends,
        epsabs=1e-11, limit=200)
    return float(np.clip(value, 0.0, 1.0))
