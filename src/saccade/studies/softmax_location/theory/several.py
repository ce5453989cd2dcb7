"""M informative tokens, Y the mean of their X_j . v*: the risk on the manifold in nu at any kappa.

R = eps^2 + gamma^2 (M E p^2 - 2 nu E p + 1/M) + E q, with p the weight on one informative token and
q the sum of squares on the others. Status: quadrature.
"""

import numpy as np

from saccade.errors import require

from .kernels import FINE, Rule, informative, nodes, uninformative
from .oracle import Best
from .roots import least_over
from .setting import Setting


def several_risk(
    setting: Setting, informative_tokens: float, kappa: float = 1.0, nu: float = 1.0,
    rule: Rule = FINE,
) -> float:
    """With theta = eta = rho = 0; one informative token gives the risk of the other modules."""
    M, rest = informative_tokens, setting.length - informative_tokens
    rule_of_m = f"must lie between 1 and length - 1 = {setting.length - 1:g}"
    require(M >= 1 and rest >= 1, "informative_tokens", M, rule_of_m)
    w = nodes(setting, np.asarray(kappa), rule)
    at, own = uninformative(setting, w, rule), informative(setting, kappa, w, rule)
    others, kept = np.exp(rest * at.log_phi), own.none[0] ** (M - 1)
    p, pp = (rule.step * float(part[0] * kept @ others) for part in (own.once, own.twice))
    q = rest * rule.step * float(at.g2 * np.exp((rest - 1) * at.log_phi) @ (kept * own.none[0]))
    return setting.noise**2 + setting.gamma**2 * (M * pp - 2 * nu * p + 1 / M) + q


def best_several(
    dim: float, length: float, informative_tokens: float, gamma: float = 2**-0.5
) -> Best:
    """The lambda of the lowest risk at the truth."""

    def at(lam: float) -> float:
        return several_risk(Setting(dim, length, lam, gamma), informative_tokens)

    return Best(*least_over(at, 0.01, 10.0))
