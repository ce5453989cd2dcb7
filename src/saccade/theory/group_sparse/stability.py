"""Which step sizes are safe, and a warning when one is not. Status: heuristic."""

import math
import warnings
from typing import NamedTuple

from saccade.tasks.group_sparse import check_groups, check_scale

LIMIT = 16.0


class StepSizeWarning(UserWarning):
    """The step size is above the stability rule; the run goes on."""


class StabilityRule(NamedTuple):
    """eta D sigma^2, the limit it is compared with, and the sentence to show (empty when the step is safe)."""

    value: float
    limit: float
    advice: str
    status: str


def stability_rule(groups: int, step_size: float, scale: float = 1.0) -> StabilityRule:
    """eta D sigma^2 <= 16. Heuristic: the curvature in alpha is D sigma^2 / 4 at uniform attention (8 would be the linear limit there)
    and up to D^2 sigma^2 / 4 at full attention; above the limit alpha overshoots below 0 and the gap runs to -infinity."""
    groups, scale = check_groups(groups), check_scale(scale)
    value = check_scale(step_size, name="step_size") * groups * scale**2
    safe = "" if value <= LIMIT else (
        f"step_size * groups * scale^2 = {value:.4g} is above the stability rule of {LIMIT:g}: "
        f"attention may lock out of the relevant group; a step_size of at most {LIMIT / (groups * scale**2):.4g} is safe."
    )  # fmt: skip
    return StabilityRule(value, LIMIT, safe, "heuristic")


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
    """8 / (D sigma^2): the step at which alpha's linear stability at alpha = 0 and uniform attention is lost (2 / curvature). Status: exact."""
    return 8 / (check_groups(groups) * check_scale(scale) ** 2)


def two_step_limit_is_passed(alpha_after_two: float) -> bool:
    """Whether the second step already threw alpha below zero: the mechanism of a lock-out."""
    return math.isfinite(alpha_after_two) and alpha_after_two < 0
