"""How a run of the position-only layer ends; many cells share one program under vmap."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

from saccade.lab.vectorised import vectorised
from saccade.studies.group_sparse.dynamics.position_map import position_run
from saccade.studies.group_sparse.task import check_setting, whole_number

OUTPUTS = ("gap_quarter", "gap", "loss", "one_minus_attention", "diverged_at")


def _check(asked: Any) -> None:
    check_setting(asked.groups, asked.step_size, asked.scale)
    whole_number(asked.steps, "steps", 8)


@vectorised(
    "group-sparse.regime", varying=("groups", "step_size", "scale"),
    outputs={name: () for name in OUTPUTS}, width=64, check=_check)
def regime(
    key: Any, *, groups: int = 8, step_size: float = 0.5, scale: float = 1.0, steps: int = 5000
) -> dict[str, Array]:
    """The exact population map of one (D, eta, sigma): the gap after a quarter and at the end, the
    loss and 1 - S at the end."""
    ended, at = position_run(
        groups, scale, step_size, (groups + 1) / 2, jnp.asarray([steps // 4, steps]))
    numbers = at.gap[0], at.gap[1], at.loss[1], at.one_minus_attention[1], ended.diverged_at
    return dict(zip(OUTPUTS, numbers, strict=True))
