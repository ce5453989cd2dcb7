"""M informative tokens, Y the mean of their X_j . v*: the risk on the manifold in nu at any kappa.

R = eps^2 + gamma^2 (M E p^2 - 2 nu E p + 1/M) + E q, with p the weight on one informative token and
q the sum of squares on the others. With r the weight on all of the others and p' that on a second
informative token M E p^2 - 2 E p + 1/M = E r^2/M + (M - 1)(E p^2 - E p p'), so that one informative
token has a risk made of positive numbers, with all digits at any size. Status: quadrature.
"""

import numpy as np

from saccade.errors import require

from .kernels import FINE, TINY, Rule, informative, nodes, uninformative
from .moments import kernels
from .oracle import Best, check_least, first_window
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
    K, kept = kernels(rest, at), own.none[0] ** (M - 1)
    p, rr, q = (
        rule.step * float(part * kept @ weigh)
        for part, weigh in ((own.once[0], K.p), (own.none[0], K.rr), (own.none[0], K.q)))
    spread = 0.0
    if M > 1:
        none = np.maximum(own.none[0], TINY)
        pairs = own.twice[0] * kept - own.once[0] ** 2 * kept / none
        spread = (M - 1) * rule.step * float(pairs @ K.p)
    return setting.noise**2 + setting.gamma**2 * (rr / M + spread + 2 * (1 - nu) * p) + q


def best_several(
    dim: float, length: float, informative_tokens: float, gamma: float = 2**-0.5
) -> Best:
    """The lambda of the lowest risk at the truth, sought from lambda m about one: for one
    informative token it is about 2 m/(1 + gamma^2), for more of them lambda m grows slowly with d.
    """
    if informative_tokens == 1:
        check_least(dim, length, gamma)

    def at(lam: float) -> float:
        return several_risk(Setting(dim, length, lam, gamma), informative_tokens)

    return Best(*least_over(at, *first_window(dim, gamma)))
