"""The fitted square-loss classifier in closed form: one scalar equation, one 3 x 3 system, one
linear equation.

With the law of `law.py`, weights c = 1/(1 + tau^2 V) and residual e = m_q A + m_o S + b - y:

    1/alpha = lambda V + E[tau^2 V c]                                       (V, monotone)
    normal equations of (m_q, m_o, b) with weights c, plus lambda on m_q
        and lambda + E[tau^2 c] on m_o
    r^2 = alpha V^2 (E[tau^2 c^2 e^2] + (m_o^2 + r^2) E[tau^4 c^2])         (linear in r^2)

Status: asymptotic (n, d to infinity with n/d = alpha), exact up to the quadrature of the law. At
lambda = 0 it needs alpha > 1.

Many samples without ridge: as alpha grows the part of w without signal dies out (r -> 0) and (m_q,
m_o, b) tend to population least squares on (A, S), so

    E(alpha) = E_inf + c/alpha + O(1/alpha^2)

(status: asymptotic; c by Richardson extrapolation of the closed form). The vectorised model has the
same limit as pooling and L times its c. A badly aligned query has a worse limit than pooling: no
number of samples repairs it.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import root_scalar

from saccade.studies.sparse_token.task import SparseTokenSetting, require_finite
from saccade.studies.sparse_token.theory.law import FeatureLaw, Overlaps, error_rate, feature_law


def solve_square(law: FeatureLaw, samples_per_dim: float, ridge: float) -> Overlaps:
    """The overlaps of the ridge least-squares classifier fitted to n = alpha d samples."""
    alpha = samples_per_dim * law.sample_factor
    V = solve_variance(law, alpha, ridge)
    shrink = 1 / (1 + law.spread**2 * V)
    query, across, intercept = weighted_least_squares(law, shrink, ridge)
    error2 = squared_error(law, query, across, intercept)
    base = law.weight @ (law.spread**2 * shrink**2 * error2)
    gain = law.weight @ (law.spread**4 * shrink**2)
    # 1 - alpha V^2 E[tau^4 c^2], written with the equation of V so that nothing cancels
    kept = alpha * (ridge * V + law.weight @ (law.spread**2 * V * shrink**2))
    rest2 = alpha * V**2 * (base + across**2 * gain) / kept
    return Overlaps(float(query), float(across), float(intercept), float(np.sqrt(rest2)), float(V))


def solve_variance(law: FeatureLaw, alpha: float, ridge: float) -> float:
    """V > 0 of 1/alpha = lambda V + E[tau^2 V/(1 + tau^2 V)], in log V (the right side rises)."""

    def excess(log_v: float) -> float:
        V = np.exp(log_v)
        return float(
            alpha * (ridge * V + law.weight @ (law.spread**2 * V / (1 + law.spread**2 * V))) - 1)

    low, high = -1.0, 1.0
    while excess(low) > 0:
        low -= 5.0
    while excess(high) < 0 and high < 700:
        high += 5.0
    return float(
        np.exp(float(root_scalar(excess, bracket=(low, high), xtol=1e-15, rtol=1e-15).root)))


def squared_error(law: FeatureLaw, query: float, across: float, intercept: float):
    """e^2 at every node, averaged over the common shift of the tokens."""
    return (
        query * law.along + across * law.across + intercept - law.label
    ) ** 2 + query**2 * law.shift_variance


def weighted_least_squares(law: FeatureLaw, node_weight, ridge: float):
    """argmin of E[c (m_q A + m_o S + b - y)^2 + c tau^2 m_o^2] + lambda (m_q^2 + m_o^2)."""
    design = np.array([law.along, law.across, np.ones_like(law.along)])
    weight = law.weight * node_weight
    gram = (design * weight) @ design.T
    gram[0, 0] += ridge + law.shift_variance * weight.sum()
    gram[1, 1] += ridge + weight @ law.spread**2
    require_finite(gram)
    # The minimum-norm answer covers coordinates that do not exist: A = 0 in the linear models at
    # zero ridge.
    return np.linalg.lstsq(gram, design @ (weight * law.label), rcond=1e-14)[0]


def square_quality(
    law: FeatureLaw, samples_per_dim: float, ridge: float, point: Overlaps
) -> tuple[float, float]:
    """The largest relative residual of the five equations (a gradient divided by the sum of what
    cancels in it), and E[(eta - y)^2]/2 with eta - y = (omega - y)/(1 + tau^2 V)."""
    alpha, V, spread2 = samples_per_dim * law.sample_factor, point.variance, law.spread**2
    shrink = law.weight / (1 + spread2 * V)
    error = point.query * law.along + point.across * law.across + point.intercept - law.label
    error2 = squared_error(law, point.query, point.across, point.intercept)
    derivative2 = (error2 + spread2 * point.orthogonal_norm**2) * shrink**2 / law.weight
    shifted = ridge + law.shift_variance * shrink.sum()
    equations = [
        [shifted * point.query, shrink @ (error * law.along)],
        [point.across / (alpha * V), shrink @ (error * law.across)],
        [shrink @ np.maximum(error, 0), -(shrink @ np.maximum(-error, 0))],
        [point.rest**2, -alpha * V**2 * (spread2 @ derivative2)],
        [1 / alpha, -ridge * V, -V * (shrink @ spread2)]]
    floor = shrink @ (np.abs(error) * law.spread)
    sizes = [
        sum(map(abs, terms)) + (floor if index < 2 else 0.0)
        for index, terms in enumerate(equations)]
    residual = max(
        abs(sum(terms)) / max(size, 1e-300) for terms, size in zip(equations, sizes, strict=True))
    return float(residual), float(0.5 * derivative2.sum())


# samples per dimension from which c is extrapolated: c/alpha is 1e9 times the rounding error of E
FAR = 2e4


class LargeSampleRate(NamedTuple):
    """`limit` (E_inf) and `coefficient` (c), and what refining the quadrature changed in E_inf."""

    limit: float
    coefficient: float
    limit_accuracy: float
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
    return LargeSampleRate(limit, coefficient, abs(limit - coarse_limit), status)


def _rate(law: FeatureLaw) -> tuple[float, float]:
    limit = error_rate(law, population_least_squares(law))
    far = FAR / law.sample_factor
    near_slope, far_slope = (
        alpha * (error_rate(law, solve_square(law, alpha, 0.0)) - limit) for alpha in (far, 2 * far)
    )
    return limit, 2 * far_slope - near_slope


def population_least_squares(law: FeatureLaw) -> Overlaps:
    """The overlaps at infinitely many samples without ridge: r = V = 0."""
    query, across, intercept = weighted_least_squares(law, 1.0, 0.0)
    return Overlaps(float(query), float(across), float(intercept), 0.0, 0.0)
