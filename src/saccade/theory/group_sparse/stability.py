"""Which step sizes are safe, and a warning when one is not. Status: heuristic."""

import warnings
from typing import NamedTuple

from saccade.tasks.group_sparse import check_groups, check_scale

LIMIT = 16.0
TESTED_SCALE = 4.0


class StepSizeWarning(UserWarning):
    """The step size is above the stability rule; the run goes on."""


class StabilityRule(NamedTuple):
    """eta D sigma, the limit it is compared with, and the sentence to show (empty when the step is safe)."""

    value: float
    limit: float
    advice: str
    status: str


def stability_rule(groups: int, step_size: float, scale: float = 1.0) -> StabilityRule:
    """eta D sigma <= 16. Heuristic, read off the regime map of the position-only model.

    Above the limit alpha may overshoot below zero while the gap is still free; the gap then runs to minus infinity. On a grid of
    D = 4 .. 192, sigma = 0.1 .. 4 and 120 step sizes no run with eta D sigma <= 16 was lost, and the first losses sat between 19
    and 100. At sigma = 10 the rule fails: the first losses sit at 14.2 (D = 64) and 7.7 (D = 192), so the advice says so beyond
    the tested scales. Far above the limit a large first jump can lock attention to the right group before alpha can harm it; that
    holds for the position-only model alone. Batches of the full layer have a lower limit of their own (`transverse_limit`).
    """
    groups, scale = check_groups(groups), check_scale(scale)
    value = check_scale(step_size, name="step_size") * groups * scale
    if value <= LIMIT:
        return StabilityRule(value, LIMIT, "", "heuristic")
    tested = (
        ""
        if scale <= TESTED_SCALE
        else f" (tested up to scale {TESTED_SCALE:g}; at scale 10 runs were lost from 7.7 on)"
    )
    advice = (
        f"step_size * groups * scale = {value:.4g} is above the stability rule of {LIMIT:g}{tested}: attention may lock out of "
        f"the relevant group; a step_size of at most {LIMIT / (groups * scale):.4g} keeps the rule."
    )
    return StabilityRule(value, LIMIT, advice, "heuristic")


def default_step_size(groups: int) -> float:
    """0.5 up to 16 groups and 0.1 beyond: steps with which the position-only model was seen to concentrate."""
    return 0.5 if check_groups(groups) <= 16 else 0.1


def warn_if_unstable(groups: int, step_size: float, scale: float = 1.0) -> StabilityRule:
    """The rule, said aloud as a `StepSizeWarning` when it is broken."""
    rule = stability_rule(groups, step_size, scale)
    if rule.advice:
        warnings.warn(rule.advice, StepSizeWarning, stacklevel=3)
    return rule


def uniform_attention_limit(groups: int, scale: float = 1.0) -> float:
    """8 / (D sigma^2): where alpha loses linear stability at the zero start (2 / curvature, curvature D sigma^2 / 4). Status: exact."""
    return 8 / (check_groups(groups) * check_scale(scale) ** 2)


def transverse_limit(groups: int, gram_scale: float | None = None) -> float:
    """8 / (c D), that is 16 / (D (D+1)) with the sine encoding: where v2 loses linear stability at the zero start. Status: exact.

    At W = 0, v = 0 the Hessian in v2 is (P 1)(P 1)^T / 4 with eigenvalue |P 1|^2 / 4 = c D / 4. The population gradient never
    leaves v2 = 0, so
    the exact maps do not feel this; batches (and rounding) do, and above the limit they amplify whatever noise falls along P 1.
    """
    groups = check_groups(groups)
    gram = (groups + 1) / 2 if gram_scale is None else check_scale(gram_scale, name="gram_scale")
    return 8 / (gram * groups)
