"""How a run of the position model ends: one of four words, and the map of them over (step size,
groups). Status: heuristic (the thresholds).

What decides is the gap A at a quarter of the time and at the end. The late law 1-S ~ t^{-2/3} lifts
A by (2/3) log 4 = 0.92 over the last factor of four in time; half of that is the threshold between
moving and standing still.

  concentrating  A rises: attention moves to the relevant group at the slow rate of the late law (or
  is still on its way) locked         A jumped early, to the right group, and stands: 1-S is frozen
  below the late law. The jump is that of step two,
                 A(2) = eta^2 sigma^2 c^2 / (2 pi D), about eta^2 sigma^2 D / 25, or a later one:
                 only here is 1-S of order exp(-Theta(D))
  locked out     alpha overshot below zero while A was free, A fell far below zero and stands: the
  relevant group is never seen again unstable       none of these: it left the finite numbers, or
  ended worse than guessing without having settled
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from saccade.studies.group_sparse.dynamics.position_map import position_run
from saccade.studies.group_sparse.dynamics.recording import plan_record
from saccade.studies.group_sparse.task import check_groups, check_scale, whole_number
from saccade.studies.group_sparse.theory.late_laws import late_laws

REGIMES = ("concentrating", "locked", "locked out", "unstable")
STANDING = math.log(4) / 3


class RegimeMap(NamedTuple):
    """Rows are `groups`, columns `step_sizes`: the word, and the numbers behind it (at the end;
    `gap_quarter` at steps // 4)."""

    groups: Int[np.ndarray, " rows"]
    step_sizes: Float[np.ndarray, " columns"]
    regime: np.ndarray
    gap_quarter: Float[np.ndarray, "rows columns"]
    gap: Float[np.ndarray, "rows columns"]
    alpha: Float[np.ndarray, "rows columns"]
    loss: Float[np.ndarray, "rows columns"]
    one_minus_attention: Float[np.ndarray, "rows columns"]
    diverged_at: Int[np.ndarray, "rows columns"]


def classify(
    gap_quarter: float, gap: float, loss: float, one_minus_attention: float, law: float,
    diverged_at: int = -1,
) -> str:
    """One of `REGIMES` from A at a quarter of the run and at its end, the final loss and 1-S, what
    the late law says of 1-S, and the step of divergence (-1: none)."""
    if diverged_at >= 0 or not all(math.isfinite(x) for x in (gap_quarter, gap, loss)):
        return "unstable"
    rise = gap - gap_quarter
    # Below half of the uniform attention 1/D, and not on the way back.
    if gap < -math.log(2) and rise < STANDING:
        return "locked out"
    # A slow run stands still too, but above the law.
    if rise < STANDING and one_minus_attention < law:
        return "locked" if loss < math.log(2) else "unstable"
    return "concentrating" if rise > 0 and loss < math.log(2) else "unstable"


@jax.jit
def _grid(groups, step_sizes, scale, gaps):
    def cell(size, eta):
        progress, rows = position_run(size, scale, eta, (size + 1) / 2, gaps)
        return rows, progress.diverged_at

    return jax.vmap(cell)(groups, step_sizes)


def regime_map(
    groups: Sequence[int], step_sizes: Sequence[float], steps: int, scale: float = 1.0
) -> RegimeMap:
    """Run the exact position-only map for every (D, eta) and name how each run ends; all cells
    advance together."""
    sizes = np.asarray([check_groups(size) for size in groups])
    etas = np.asarray([check_scale(eta, name="step_sizes") for eta in step_sizes])
    steps = whole_number(steps, "steps", 8)
    plan = plan_record(steps, [steps // 4, steps])
    shape = (len(sizes), len(etas))
    size_grid, eta_grid = np.meshgrid(sizes.astype(float), etas, indexing="ij")
    rows, diverged = _grid(
        jnp.asarray(size_grid.ravel()), jnp.asarray(eta_grid.ravel()), check_scale(scale), plan.gaps
    )
    alpha, gap, loss, _, rest = [np.asarray(row).reshape(*shape, 2) for row in rows]
    diverged_at = np.asarray(diverged).reshape(shape)
    words = np.empty(shape, dtype="<U13")
    for cell in np.ndindex(*shape):
        law = late_laws(int(sizes[cell[0]]), float(etas[cell[1]]), steps, scale).one_minus_attention
        before, after = gap[cell]
        words[cell] = classify(
            before, after, loss[cell][1], rest[cell][1], law, int(diverged_at[cell]))
    return RegimeMap(
        sizes, etas, words, gap[..., 0], gap[..., 1], alpha[..., 1], loss[..., 1], rest[..., 1],
        diverged_at)
