"""The 29 means that make the risk: of p = p_1, the weight on the informative token, r = 1 - p, b =
sum of p_l h_l and q = sum of p_l^2 over the others, with powers of the informative noise x.

    p[j] = E[x^j p]   pp[j] = E[x^j p^2]   pb[j] = E[x^j p b]
    r[j] = E[x^j r]   rr[j] = E[x^j r^2]   rb[j] = E[x^j r b]
    b[j] = E[x^j b]   bb[j] = E[x^j b^2]   q[j] = E[x^j q]

Both p and r are integrated, each from positive numbers: one of the two is small somewhere, and must
keep its digits there. Status: quadrature.
"""

from typing import Any, NamedTuple

import numpy as np

from .kernels import FINE, Others, Rule, informative, nodes, uninformative
from .setting import Array, Number, Setting


class Moments(NamedTuple):
    """Each with the power j of x leading; then the shape of kappa."""

    p: Any
    pp: Any
    pb: Any
    r: Any
    rr: Any
    rb: Any
    b: Any
    bb: Any
    q: Any


ORDERS = Moments(p=4, pp=4, pb=3, r=4, rr=4, rb=3, b=3, bb=2, q=2)
COUNT = sum(ORDERS)


def stacked(moments: Moments) -> Array:
    """All 29 in one array, for tables."""
    return np.concatenate(moments)


def unstacked(array: Any) -> Moments:
    """The moments of one array, NumPy or JAX, with the 29 leading."""
    ends = np.cumsum(ORDERS)
    return Moments(*(array[end - size : end] for size, end in zip(ORDERS, ends, strict=True)))


class Kernels(NamedTuple):
    """What multiplies the means over x in the integrals over w: r, b, r^2, r b, b^2, q; then for p,
    and p b."""

    r: Array
    b: Array
    rr: Array
    rb: Array
    bb: Array
    q: Array
    p: Array
    pb: Array


def kernels(others: float, at: Others) -> Kernels:
    """Products over N uninformative tokens: one token alone N f phi^(N-1), two N (N-1) f f'
    phi^(N-2)."""
    N, (log_phi, g1, h1, g2, h2, hh2) = others, at
    one, two = N * np.exp((N - 1) * log_phi), N * (N - 1) * np.exp((N - 2) * log_phi)
    return Kernels(
        r=one * g1, b=one * h1, rr=one * g2 + two * g1**2, rb=one * h2 + two * g1 * h1,
        bb=one * hh2 + two * h1**2, q=one * g2, p=np.exp(N * log_phi), pb=one * h1)


def moments(setting: Setting, kappa: Number, rule: Rule = FINE, weigh: Any = kernels) -> Moments:
    """All means at one setting, for any shape of kappa; the cost does not depend on d or L."""
    kappa = np.asarray(kappa, float)
    w = nodes(setting, kappa, rule)
    K = weigh(setting.others, uninformative(setting, w, rule))
    columns = [_integrals(setting, one, w, rule, K) for one in kappa.ravel()]
    return unstacked(np.stack(columns, axis=-1).reshape(COUNT, *kappa.shape))


def _integrals(setting: Setting, kappa: float, w: Array, rule: Rule, K: Kernels) -> Array:
    none, once, twice = informative(setting, kappa, w, rule)
    parts = (
        once @ K.p, twice @ K.p, once[:3] @ K.pb, none @ K.r, none @ K.rr, none[:3] @ K.rb,
        none[:3] @ K.b, none[:2] @ K.bb, none[:2] @ K.q)
    return rule.step * np.concatenate(parts)


def from_weights(p: Array, pp: Array, b: float, bb: float, q: float) -> Moments:
    """The moments of a predictor whose weights on different tokens are independent, as those of
    erf: means over x of the informative weight, and of b, b^2 and q of the others."""
    plain = np.array([1.0, 0.0, 1.0, 0.0]).reshape(4, *[1] * (p.ndim - 1)) + 0 * p
    pb, b_moments = p[:3] * b, plain[:3] * b
    return Moments(
        p, pp, pb, plain - p, plain - 2 * p + pp, b_moments - pb, b_moments, plain[:2] * bb,
        plain[:2] * q)
