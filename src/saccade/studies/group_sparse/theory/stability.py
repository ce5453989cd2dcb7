"""Which step sizes are safe, and a warning when one is not. Status: heuristic."""

import math
import warnings

import jax.numpy as jnp

from saccade.studies.group_sparse.task import check_setting
from saccade.studies.group_sparse.theory.position import half_normal_curvature

LIMIT = 16.0
TESTED_SCALE = 4.0


class StepSizeWarning(UserWarning):
    """The step size is above the stability rule; the run goes on."""


def stability_advice(groups: int, step_size: float, scale: float = 1.0) -> str:
    """What to say of a step size that breaks eta D sigma <= 16; empty when it is kept. Heuristic,
    read off the regime map of the position-only model.

    Above the limit alpha may overshoot below zero while the gap is still free; the gap then runs to
    minus infinity. On a grid of D = 4 .. 192, sigma = 0.1 .. 4 and 120 step sizes no run with eta D
    sigma <= 16 was lost, and the first losses sat between 19 and 100. At sigma = 10 the rule fails:
    the first losses sit at 14.2 (D = 64) and 7.7 (D = 192), so the advice says so beyond the tested
    scales. Far above the limit a large first jump can lock attention to the right group before
    alpha can harm it; that holds for the position-only model alone. Batches of the full layer have
    a lower limit of their own (`transverse_limit`).
    """
    groups, eta, scale, _ = check_setting(groups, step_size, scale)
    value = eta * groups * scale
    if value <= LIMIT:
        return ""
    tested = (
        "" if scale <= TESTED_SCALE
        else f" (tested up to scale {TESTED_SCALE:g}; at scale 10 runs were lost from 7.7 on)")
    return (
        f"step_size * groups * scale = {value:.4g} is above the stability rule of"
        f" {LIMIT:g}{tested}: attention may lock out of the relevant group; a step_size of at most"
        f" {LIMIT / (groups * scale):.4g} keeps the rule.")


def warn_if_unstable(groups: int, step_size: float, scale: float = 1.0) -> None:
    """The advice, said aloud as a `StepSizeWarning` when there is any."""
    advice = stability_advice(groups, step_size, scale)
    if advice:
        warnings.warn(advice, StepSizeWarning, stacklevel=3)


def transverse_curvature(
    groups: int, alpha: float, gap: float, scale: float = 1.0, gram_scale: float | None = None
) -> float:
    """c D^2 |q|^2 E[sigmoid'(beta x)]: curvature along v2 = P q at alpha and A of the position-only
    layer. Status: quadrature.

    q = (s, (1-s)/(D-1), ..) is the attention, x standard normal and beta = alpha D sigma |q|. f
    depends on v2 only through D <v2, P q>, so this is the only direction of v2 with any curvature.
    At the zero start it is c D / 4.
    """
    groups, _, scale, gram = check_setting(groups, 1.0, scale, gram_scale)
    # s and 1 - s by their own formulas, either of which may be tiny.
    s, rest = (
        1 / (1 + math.exp(min(sign * (gap - math.log(groups - 1)), 700.0))) for sign in (-1, 1))
    length = math.hypot(s, rest / math.sqrt(groups - 1))
    beta = alpha * groups * scale * length
    return gram * (groups * length) ** 2 * float(half_normal_curvature(jnp.asarray(beta)))


def transverse_limit(
    groups: int, gram_scale: float | None = None, alpha: float = 0.0, gap: float = 0.0,
    scale: float = 1.0,
) -> float:
    """2 / `transverse_curvature`: the step size above which v2 loses linear stability. At the zero
    start it is 8 / (c D), that is 16 / (D (D+1)) with the sine encoding. Status: quadrature (exact
    at the start).

    The population gradient never leaves v2 = 0, so the exact maps do not feel this; batches (and
    rounding) do, and above the limit they amplify whatever noise falls along P q, whatever the size
    of the batch. Along a run the limit first FALLS, while attention concentrates and alpha is still
    small (D = 16: from 0.059 to 0.039 where s = 0.65), and rises again as alpha grows. Coupling to
    W12 and W21 lowers it by a few per cent more (3 % at D = 8, d = 2, s = 0.65).
    """
    return 2 / transverse_curvature(groups, alpha, gap, scale, gram_scale)
