"""The first two population steps from zero, for the FULL model (W11 free). Status: quadrature (one
1-D integral, to ~1e-13).

Step 1 moves v alone: alpha(1) = eta sigma / sqrt(2 pi), W(1) = 0, because f = 0 gives sigmoid = 1/2
and B = 0 at v = 0. Step 2 is taken at uniform attention with T = u + R, R ~ N(0, (D-1) sigma^2), p
= sigmoid(-alpha1 T), and E over u = |N(0, sigma^2)|, R:
    alpha(2) = alpha1 + eta E[p T]
    A(2) = B(2) = eta c^2 (alpha1/D) E[p (u - R/(D-1))],   C(2) = 0
    a(2) = eta (alpha1/D) E[p T (u^2 + R^2/(D-1) + (D-2) sigma^2 - T^2/D)],   b(2) = 0
Given T, u is a truncated Gaussian, and the brackets reduce. With beta = alpha1 sigma sqrt(D):
    E[p T]           = sigma [sqrt(D) slope(beta) - (sqrt(D) - 1) / sqrt(2 pi)]
    E[p (u - R/(D-1))] = sigma / sqrt(2 pi)     whatever alpha1 is, so     A(2) = eta^2 sigma^2 c^2
    / (2 pi D)   (no integral left) a(2)             = eta alpha1 sigma^2 ((D-1)/D) (E[p T] - sigma
    / (D sqrt(2 pi)))
With the sine encoding A(2) = eta^2 sigma^2 (D+1)^2 / (8 pi D), about eta^2 sigma^2 D / 25.
"""

import math
from typing import NamedTuple

import jax.numpy as jnp

from saccade.studies.group_sparse.task import check_groups, check_scale
from saccade.studies.group_sparse.theory.half_normal import half_normal_slope, quadrature_accuracy


class TwoSteps(NamedTuple):
    """The state after two steps: alpha, A = B = `gap`, C = 0, a and b of W11; and alpha after the
    first step."""

    alpha: float
    gap: float
    a: float
    b: float
    first_alpha: float
    status: str
    accuracy: float


def two_steps(
    groups: int, step_size: float, scale: float = 1.0, gram_scale: float | None = None
) -> TwoSteps:
    """Exactly two population steps of size eta = `step_size`; `gram_scale` is c of P^T P = c I
    [(D+1)/2, sine encoding]."""
    groups, scale = check_groups(groups), check_scale(scale)
    eta = check_scale(step_size, name="step_size")
    gram = (groups + 1) / 2 if gram_scale is None else check_scale(gram_scale, name="gram_scale")
    first = eta * scale / math.sqrt(2 * math.pi)
    beta = first * scale * math.sqrt(groups)
    slope = float(half_normal_slope(jnp.asarray(beta)))
    pull = scale * (math.sqrt(groups) * slope - (math.sqrt(groups) - 1) / math.sqrt(2 * math.pi))
    return TwoSteps(
        alpha=first + eta * pull, gap=(eta * scale * gram) ** 2 / (2 * math.pi * groups), a=eta
        * first * scale**2 * (groups - 1) / groups
        * (pull - scale / (groups * math.sqrt(2 * math.pi))), b=0.0, first_alpha=first,
        status="quadrature", accuracy=quadrature_accuracy(beta))
