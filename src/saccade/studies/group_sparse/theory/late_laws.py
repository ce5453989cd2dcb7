"""Late-time laws of the position-only model, as attention saturates (s -> 1). Status: asymptotic
(leading order in t).

With kappa = sqrt(2/pi) pi^2/12:
    alpha ~ (3 eta kappa t / (D sigma))^{1/3}
    L     ~ kappa / (alpha D sigma) = kappa^{2/3} / ((D sigma)^{2/3} (3 eta t)^{1/3})
    1-S   ~ k t^{-2/3},  k > 0 the root of  g k [kappa/(sigma D^2 abar^2) + k sigma/((D-1) sqrt(2
    pi))] = 2/3,
            abar = (3 eta kappa/(D sigma))^{1/3},  g = eta c^2 (D/(D-1)) abar
so the loss reaches eps after t = kappa^2 / (3 eta D^2 sigma^2 eps^3) steps.

Why: at s = 1 the forces are -dL/dalpha = kappa/(D sigma alpha^2) and h = kappa/(sigma D^2 alpha^2)
+ (1-s) sigma/((D-1) sqrt(2 pi)); the gap moves by dA/dt = eta c^2 (D/(D-1)) (1-s) alpha h and 1-s =
(D-1) e^{-A}, so 1-s = k t^{-2/3} closes the equation. A gap of order D, as a bound 1-S <=
exp(-Theta(D)) would need, can therefore only come from an early jump: afterwards A grows like (2/3)
log t. The full model (W11 free) has a larger 1-S: the feature scores fluctuate.
"""

import math
from typing import NamedTuple

from saccade.errors import require
from saccade.studies.group_sparse.task import check_groups, check_scale
from saccade.studies.group_sparse.theory.half_normal import KAPPA


class LateLaws(NamedTuple):
    """Leading-order values at `time`, and the constant k of the attention law."""

    kappa: float
    loss: float
    alpha: float
    one_minus_attention: float
    attention_constant: float
    status: str


def attention_constant(groups: int, step_size: float, scale: float, gram_scale: float) -> float:
    """k, the positive root of g k (p + q k) = 2/3; written so that no digits cancel when q is
    small."""
    abar = (3 * step_size * KAPPA / (groups * scale)) ** (1 / 3)
    speed = step_size * gram_scale**2 * groups / (groups - 1) * abar
    linear = speed * KAPPA / (scale * groups**2 * abar**2)
    square = speed * scale / ((groups - 1) * math.sqrt(2 * math.pi))
    return (4 / 3) / (linear + math.sqrt(linear**2 + (8 / 3) * square))


def late_laws(
    groups: int, step_size: float, time: float, scale: float = 1.0, gram_scale: float | None = None
) -> LateLaws:
    """The three laws after t = `time` steps of size eta = `step_size`."""
    groups, scale = check_groups(groups), check_scale(scale)
    eta, t = check_scale(step_size, name="step_size"), check_scale(time, name="time")
    gram = (groups + 1) / 2 if gram_scale is None else check_scale(gram_scale, name="gram_scale")
    alpha = (3 * eta * KAPPA * t / (groups * scale)) ** (1 / 3)
    constant = attention_constant(groups, eta, scale, gram)
    return LateLaws(
        KAPPA, KAPPA / (alpha * groups * scale), alpha, constant * t ** (-2 / 3), constant,
        "asymptotic")


def time_to_loss(groups: int, step_size: float, loss: float, scale: float = 1.0) -> float:
    """t at which the late loss law passes `loss`: kappa^2 / (3 eta D^2 sigma^2 eps^3). Status:
    asymptotic."""
    groups, scale = check_groups(groups), check_scale(scale)
    eta = check_scale(step_size, name="step_size")
    require(0 < loss < math.log(2), "loss", loss, "must be between 0 and log 2")
    return KAPPA**2 / (3 * eta * groups**2 * scale**2 * loss**3)
