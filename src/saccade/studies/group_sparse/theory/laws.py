"""What closes: the first two steps, the late laws, the error of a selection, the transfer bound.

The first two population steps from zero, for the FULL model (W11 free). Status: quadrature (one
1-D integral, to ~1e-13).

Step 1 moves v alone: alpha(1) = eta sigma / sqrt(2 pi), W(1) = 0, because f = 0 gives sigmoid = 1/2
and B = 0 at v = 0. Step 2 is taken at uniform attention with T = u + R, R ~ N(0, (D-1) sigma^2), p
= sigmoid(-alpha1 T), and E over u = |N(0, sigma^2)|, R:
    alpha(2) = alpha1 + eta E[p T]
    A(2) = B(2) = eta c^2 (alpha1/D) E[p (u - R/(D-1))],   C(2) = 0
    a(2) = eta (alpha1/D) E[p T (u^2 + R^2/(D-1) + (D-2) sigma^2 - T^2/D)],   b(2) = 0
Given T, u is a truncated Gaussian, and the brackets reduce. With beta = alpha1 sigma sqrt(D):
    E[p T]             = sigma [sqrt(D) slope(beta) - (sqrt(D) - 1) / sqrt(2 pi)]
    E[p (u - R/(D-1))] = sigma / sqrt(2 pi) whatever alpha1 is, so no integral is left in
    A(2)               = eta^2 sigma^2 c^2 / (2 pi D)
    a(2)               = eta alpha1 sigma^2 ((D-1)/D) (E[p T] - sigma / (D sqrt(2 pi)))
With the sine encoding A(2) = eta^2 sigma^2 (D+1)^2 / (8 pi D), about eta^2 sigma^2 D / 25.

Late-time laws of the position-only model, as attention saturates (s -> 1). Status: asymptotic
(leading order in t).

With kappa = sqrt(2/pi) pi^2/12:
    alpha ~ (3 eta kappa t / (D sigma))^{1/3}
    L     ~ kappa / (alpha D sigma) = kappa^{2/3} / ((D sigma)^{2/3} (3 eta t)^{1/3})
    1-S   ~ k t^{-2/3},  k > 0 the root of
            g k [kappa/(sigma D^2 abar^2) + k sigma/((D-1) sqrt(2 pi))] = 2/3,
            abar = (3 eta kappa/(D sigma))^{1/3},  g = eta c^2 (D/(D-1)) abar
so the loss reaches eps after t = kappa^2 / (3 eta D^2 sigma^2 eps^3) steps.

Why: at s = 1 the forces are -dL/dalpha = kappa/(D sigma alpha^2) and h = kappa/(sigma D^2 alpha^2)
+ (1-s) sigma/((D-1) sqrt(2 pi)); the gap moves by dA/dt = eta c^2 (D/(D-1)) (1-s) alpha h and 1-s =
(D-1) e^{-A}, so 1-s = k t^{-2/3} closes the equation. A gap of order D, as a bound 1-S <=
exp(-Theta(D)) would need, can therefore only come from an early jump: afterwards A grows like (2/3)
log t. The full model (W11 free) has a larger 1-S: the feature scores fluctuate.
"""

import math
import sys
from typing import NamedTuple

import jax.numpy as jnp

from saccade.errors import require
from saccade.studies.group_sparse import task
from saccade.studies.group_sparse.theory import position


class TwoSteps(NamedTuple):
    """After two steps: alpha, A = B = `gap` (C = 0), a and b of W11; alpha after the first."""

    alpha: float
    gap: float
    a: float
    b: float
    first_alpha: float
    accuracy: float


def two_steps(
    groups: int, step_size: float, scale: float = 1.0, gram_scale: float | None = None
) -> TwoSteps:
    """Two population steps of size eta; `gram_scale` is c of P^T P = c I [(D+1)/2, sine]."""
    groups, eta, scale, gram = task.check_setting(groups, step_size, scale, gram_scale)
    first = eta * scale / math.sqrt(2 * math.pi)
    beta = first * scale * math.sqrt(groups)
    slope = float(position.half_normal_slope(jnp.asarray(beta)))
    pull = scale * (math.sqrt(groups) * slope - (math.sqrt(groups) - 1) / math.sqrt(2 * math.pi))
    rest = pull - scale / (groups * math.sqrt(2 * math.pi))
    jump = eta * scale * gram
    return TwoSteps(
        alpha=first + eta * pull, gap=jump * jump / (2 * math.pi * groups),
        a=eta * first * scale * scale * (groups - 1) / groups * rest, b=0.0, first_alpha=first,
        accuracy=position.quadrature_accuracy(beta))


class LateLaws(NamedTuple):
    """Leading-order values at `time`, and the constant k of the attention law."""

    kappa: float
    loss: float
    alpha: float
    one_minus_attention: float
    attention_constant: float


def _exp(logarithm: float) -> float:
    return math.exp(logarithm) if logarithm < math.log(sys.float_info.max) else math.inf


def late_laws(
    groups: int, step_size: float, time: float, scale: float = 1.0, gram_scale: float | None = None
) -> LateLaws:
    """The three laws after t = `time` steps of size eta = `step_size`, all through logarithms, so
    that no intermediate product leaves the floating-point range."""
    setting = task.check_setting(groups, step_size, scale, gram_scale)
    D, eta, sigma, c = map(math.log, setting)
    t, others = math.log(task.check_positive(time, "time")), math.log(setting[0] - 1)
    kappa = math.log(position.KAPPA)
    abar = (math.log(3) + eta + kappa - D - sigma) / 3
    speed = eta + 2 * c + D - others + abar
    # g k (p + q k) = 2/3 for k = (4/3) / (g p + hypot(g p, sqrt(8/3 g q))): no digits cancel.
    linear = speed + kappa - sigma - 2 * (D + abar)
    square = (speed + sigma - others + math.log(8 / 3 / math.sqrt(2 * math.pi))) / 2
    top = max(linear, square)
    size = math.exp(linear - top) + math.hypot(math.exp(linear - top), math.exp(square - top))
    k, alpha = math.log(4 / 3 / size) - top, abar + t / 3
    return LateLaws(
        position.KAPPA, _exp(kappa - alpha - D - sigma), _exp(alpha), _exp(k - 2 * t / 3), _exp(k))


def unmerged_drift(groups: int, step_size: float, scale: float, length, k):
    """e^2 of the unmerged layer's late law, 1 - S ~ k t^{-2/3} (1 + e^2/A) with k that of c =
    `length`, c^2 = 2 A c_P sqrt(D-1). Arrays allowed. Status: asymptotic, the next term is of order
    1/A^2. Source: ours.

    k solves g k (p + q k) = 2/3 with g in proportion to A, which is taken to stand. A drifts by
    dA/dlog t = 2/3, so k by -(2/3) e/A of itself in a unit of log t with e = -dlog k/dlog g =
    (p + q k)/(p + 2 q k) = 1/(1 + (3/2) g q k^2). That adds (2/3) e/A to the 2/3, and a right-hand
    side larger by e/A makes k larger by e^2/A.
    """
    rate = (3 * step_size * position.KAPPA / (groups * scale)) ** (1 / 3)
    speed = step_size * length**2 * groups / (groups - 1) * rate
    square = scale / ((groups - 1) * math.sqrt(2 * math.pi))
    return (1 + 1.5 * speed * square * k**2) ** -2


def selection_error(attention: float, groups: int) -> float:
    """P(y f <= 0) = arctan((1-s) / (s sqrt(D-1))) / pi, for alpha > 0, scores that depend on
    position only, and the rest of the attention shared equally. Status: exact.

    The chance that two standard Gaussians of correlation rho differ in sign is arccos(rho)/pi, and
    rho = s sigma / sigma_w here. The uniform layer s = 1/D errs with probability
    arctan(sqrt(D-1))/pi; s = 0 gives 1/2. The scale drops out.
    """
    groups = task.check_groups(groups)
    require(0 <= attention <= 1, "attention", attention, "must be in [0, 1]")
    return math.atan2(1 - attention, attention * math.sqrt(groups - 1)) / math.pi


def transfer_bound(
    groups: int, group_dim: int, samples: int, margin: float, confidence: float = 0.05
) -> float:
    """The transfer theorem's bound on the average online error, (d + D) log^2(n) / (gamma^2 n) +
    log(1/delta) / n for gamma = `margin` > 0, delta = `confidence`. Status: bound, up to constants
    the paper does not give (taken as 1).

    E|z_j|^2 = d sigma^2 + (D+1)/2 with the sine encoding: the D of d + D is the length of the
    encoding, so a fine-tuning that keeps the position part of v at zero should pay d alone.
    """
    groups, group_dim = task.check_groups(groups), task.whole_number(group_dim, "group_dim", 1)
    n, gamma = task.whole_number(samples, "samples", 2), task.check_positive(margin, "margin")
    require(0 < confidence < 1, "confidence", confidence, "must be between 0 and 1")
    return (group_dim + groups) * math.log(n) ** 2 / (gamma**2 * n) + math.log(1 / confidence) / n
