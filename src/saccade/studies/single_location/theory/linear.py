"""The best linear predictor of a single-location task: why a model that cannot look fails
(Proposition 3)."""

import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Float

from saccade.errors import require

SUM_TOLERANCE = 1e-9


def check_probabilities(location_probabilities: ArrayLike) -> Float[np.ndarray, " length"]:
    """The law of the location (p) as an array, or `InvalidInput` when it is not a probability
    vector."""
    law = np.asarray(location_probabilities, float)
    require(
        law.ndim == 1 and law.size > 0, "location_probabilities", law.tolist(),
        "must be a non-empty list")
    proper = bool(np.all(np.isfinite(law)) and np.all(law >= 0))
    require(proper, "location_probabilities", law.tolist(), "must be finite and at least 0")
    total = float(law.sum())
    sums_to_one = abs(total - 1) <= SUM_TOLERANCE
    require(
        sums_to_one, "location_probabilities", law.tolist(),
        f"must sum to 1, the sum is {total:.12g}")
    return law


def _check_scales(gamma: float, noise: float) -> None:
    require(
        bool(np.isfinite(gamma)) and gamma > 0, "gamma", gamma, "must be a finite number above 0")
    require(
        bool(np.isfinite(noise)) and noise >= 0, "noise", noise,
        "must be a finite number of at least 0")


def linear_coefficients(
    location_probabilities: ArrayLike, gamma: float = 2**-0.5
) -> Float[np.ndarray, " length"]:
    """c_j = gamma^2 p_j/(1 + p_j (gamma^2 - 1)): the optimal weight on token j is c_j v*. Exact,
    Proposition 3."""
    _check_scales(gamma, 0.0)
    law = check_probabilities(location_probabilities)
    return gamma**2 * law / (1 - law + law * gamma**2)


def linear_risk(
    location_probabilities: ArrayLike, gamma: float = 2**-0.5, noise: float = 0.0
) -> float:
    """eps^2 + gamma^2 - gamma^4 sum_j p_j^2/(1 + p_j (gamma^2 - 1)), the least risk of a linear
    predictor. Exact.

    Evaluated as eps^2 + gamma^2 sum_j p_j (1-p_j)/(1-p_j + p_j gamma^2): positive terms, so that a
    known location gives eps^2 with no remainder.
    """
    _check_scales(gamma, noise)
    law = check_probabilities(location_probabilities)
    return float(noise**2 + gamma**2 * np.sum(law * (1 - law) / (1 - law + law * gamma**2)))


def linear_risk_lower_bound(
    location_probabilities: ArrayLike, gamma: float = 2**-0.5, noise: float = 0.0
) -> float:
    """eps^2 + gamma^2 - gamma^2 (gamma^2 + 1) max_j p_j. Bound, Proposition 3; it may be below 0
    when p is peaked."""
    _check_scales(gamma, noise)
    law = check_probabilities(location_probabilities)
    return float(noise**2 + gamma**2 - gamma**2 * (gamma**2 + 1) * law.max())


def null_risk(gamma: float = 2**-0.5, noise: float = 0.0) -> float:
    """eps^2 + gamma^2, the risk of always predicting 0. Exact."""
    _check_scales(gamma, noise)
    return float(noise**2 + gamma**2)
