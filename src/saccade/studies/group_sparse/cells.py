"""How a run of the position-only layer ends at one number of groups and one step size; many share
one program under vmap."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

from saccade.errors import require
from saccade.lab.vectorised import vectorised
from saccade.studies.group_sparse.dynamics.position_map import position_run

OUTPUTS = ("gap_quarter", "gap", "loss", "one_minus_attention", "diverged_at")


def _check(asked: Any) -> None:
    require(asked.groups >= 2, "groups", asked.groups, "must be at least 2")
    require(asked.step_size > 0, "step_size", asked.step_size, "must be above 0")
    require(asked.steps >= 8, "steps", asked.steps, "must be at least 8")


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
