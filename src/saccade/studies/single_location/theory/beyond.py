"""The erf layer beyond the paper's task (ours): m informative tokens that share the answer, Y =
m^-1/2 sum_J X_J.v* + noise, and true directions that lean on each other, k*.v* = c (Assumption 1
dropped)."""

import numpy as np
from scipy.special import erfinv

from saccade.arrays import floats, namespace
from saccade.errors import require

from .overlaps import Number, Overlaps, Scalars, Setting, as_arrays
from .risk import constants, token_parts


def beyond_risk(
    overlaps: Overlaps, setting: Setting, informative: Number = 1, lean: Number = 0.0
) -> Scalars:
    """Risk in any state with m informative tokens and k*.v* = c. Exact.

    With a = sqrt(d/2) c, the mean of X_J.v*, T_1 and T_2 what an informative and another token
    contribute, and N = L - m: E[Y^2] = eps^2 + gamma^2 + m a^2, E[Y T] = sqrt(m) (E[(X.v* - a) T_1]
    + a E[T]), and E[T^2] = m Var T_1 + N Var T_2 + E[T]^2 with E[T] = m E[T_1] + N E[T_2].
    """
    one, setting, (count, lean) = (
        token_parts(overlaps, setting), as_arrays(setting), floats(informative, lean))
    centre, others = namespace(setting.dim).sqrt(setting.dim / 2) * lean, setting.length - count
    mean = count * one.informative + others * one.other
    square = count * (one.informative_square - one.informative**2) + mean**2
    square += others * (one.other_square - one.other**2)
    root = namespace(count).sqrt(count)
    target = setting.noise**2 + setting.gamma**2 + count * centre**2
    return target - 2 * root * (one.with_target + centre * mean) + square


def leaning_oracle_risk(setting: Setting, lean: Number) -> Scalars:
    """Risk at (k*, v*) when k*.v* = c. Exact. Where erf saturates on the informative token, eps^2 +
    (L-1) (zeta(0, lambda^2) + c^2 (D + (L-2) C^2)): every uninformative token adds the mean c C,
    with C ~ 2 lambda/sqrt(pi), and these do not average out."""
    return beyond_risk(Overlaps(1.0, 1.0, lean, lean, lean), setting, lean=lean)


def shared_kappa(setting: Setting, informative: int) -> float:
    """|kappa| where the manifold risk of m informative tokens is least, at nu = 1. Exact.

    Its slope vanishes where sqrt(m) erf(b kappa/sqrt(q)) = 1, b and q as in `manifold_gradient`: a
    saturated layer would add m tokens at weight 1 where m^-1/2 is right, so k stops short of k*. 1
    where the slope does not vanish before.
    """
    require(informative >= 1, "informative", informative, "must be at least 1")
    if informative == 1:
        return 1.0
    shared = constants(setting)
    width = float(np.sqrt((1 + 2 * shared.spread) * (1 + 4 * shared.spread)) / shared.per_kappa)
    return min(1.0, width * float(erfinv(informative**-0.5)))
