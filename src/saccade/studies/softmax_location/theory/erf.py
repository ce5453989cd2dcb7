"""The erf predictor beside softmax: the same polynomial of moments with other weights.

The form of the risk in p holds for every predictor sum_l w_l X_l . v whose weights depend on the
scores alone. For w_l = erf(lambda X_l . k) weights on different tokens are independent, and all
moments are one-dimensional integrals of erf, taken here by the trapezoidal rule: no closed form of
Marion et al. is used. Status: quadrature.
"""

import numpy as np
from scipy import special

from .kernels import FINE, Rule
from .moments import Moments, from_weights
from .oracle import Best
from .roots import least_over
from .setting import Array, Number, Setting


def _normal(scale: float, rule: Rule) -> tuple[Array, Array]:
    """Nodes and weights of a normal number that is then multiplied by `scale` inside erf."""
    step = rule.step / 2 * min(1.0, 1 / scale)
    x = step * np.arange(-np.ceil((rule.cut + 1) / step), np.ceil((rule.cut + 1) / step) + 1)
    return x, step * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


def erf_moments(setting: Setting, kappa: Number, rule: Rule = FINE) -> Moments:
    """As `moments`, for the erf predictor; L may be any real number from 2 on."""
    lam, kappa = setting.inverse_temperature, np.asarray(kappa, float)
    x, weights = _normal(lam * setting.gamma, rule)
    scores = setting.shift * kappa[..., None] + setting.gamma * x
    looks = special.erf(lam * scores)
    powers = weights * x ** np.arange(4)[:, None]
    p, pp = (np.moveaxis(y @ powers.T, -1, 0) for y in (looks, looks**2))
    h, h_weights = _normal(lam, rule)
    own = special.erf(lam * h)
    mean = float((own * h) @ h_weights)
    N, squares = setting.others, float((own * h) ** 2 @ h_weights)
    return from_weights(
        p, pp, N * mean, N * squares + N * (N - 1) * mean**2, N * float(own**2 @ h_weights))


def erf_oracle_risk(setting: Setting, rule: Rule = FINE) -> float:
    """eps^2 + gamma^2 E[(1 - erf)^2] + (L-1) E[erf^2] at the truth."""
    lam = setting.inverse_temperature
    x, weights = _normal(lam * setting.gamma, rule)
    missed = special.erfc(lam * (setting.shift + setting.gamma * x)) ** 2 @ weights
    h, h_weights = _normal(lam, rule)
    let_in = special.erf(lam * h) ** 2 @ h_weights
    return float(setting.noise**2 + setting.gamma**2 * missed + setting.others * let_in)


def best_erf(dim: float, length: float, gamma: float = 2**-0.5, noise: float = 0.0) -> Best:
    """The lambda of the lowest erf risk at the truth, and that risk."""

    def at(lam: float) -> float:
        return erf_oracle_risk(Setting(dim, length, lam, gamma, noise))

    return Best(*least_over(at, 1e-6, 10.0, 60))
