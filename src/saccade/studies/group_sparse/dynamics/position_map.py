"""Population descent of the position-only model by its exact two-number map. Status: quadrature (64
nodes a step), exact otherwise.

    alpha <- alpha + eta (-dL/dalpha)
    A     <- A + eta (c^2/(D-1)) (-dL/dA) = A + eta c^2 (D/(D-1)) s (1-s) alpha h
from alpha = A = 0. (With W11 = 0 for ever, C = 0 and B = A, so W22 stays exactly along the paper's
Lemma 5.1 direction.) The cost does not depend on the group dimension, which does not enter, nor on
the number of groups, which enters as a number. sigma enters as eta sigma^2 in the alpha equation
alone (for alpha sigma), so scale and step size are not interchangeable.

How a run ends is one of four words (heuristic, by its thresholds). What decides is the gap A at a
quarter of the time and at the end. The late law 1-S ~ t^{-2/3} lifts A by (2/3) log 4 = 0.92 over
the last factor of four in time; half of that is the threshold between moving and standing still.
  concentrating  A rises: attention moves to the relevant group at the slow rate of the late law (or
                 is still on its way)
  locked         A jumped early, to the right group, and stands: 1-S is frozen below the late law.
                 The jump is that of step two, A(2) = eta^2 sigma^2 c^2 / (2 pi D), about
                 eta^2 sigma^2 D / 25, or a later one: only here is 1-S of order exp(-Theta(D))
  locked out     alpha overshot below zero while A was free, A fell far below zero and stands: the
                 relevant group is never seen again
  unstable       none of these: it left the finite numbers, or ended worse than guessing without
                 having settled
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from saccade.descent import divergence_report
from saccade.studies.group_sparse.dynamics import follow, plan_record
from saccade.studies.group_sparse.task import check_setting, whole_number
from saccade.studies.group_sparse.theory import position
from saccade.studies.group_sparse.theory.laws import late_laws
from saccade.studies.group_sparse.theory.stability import warn_if_unstable

REGIMES = ("concentrating", "locked", "locked out", "unstable")
STANDING = math.log(4) / 3
Numbers = Float[Array, "..."] | Float[np.ndarray, "..."]


class Observed(NamedTuple):
    """alpha, A, the population loss, s and 1-s; one of each, or arrays of them."""

    alpha: Numbers
    gap: Numbers
    loss: Numbers
    attention: Numbers
    one_minus_attention: Numbers


class PositionTrajectory(NamedTuple):
    """Rows follow `steps`; `diverged_at` is -1 for a sound run, else `advice` says what to do."""

    steps: Int[np.ndarray, " records"]
    alpha: Float[np.ndarray, " records"]
    gap: Float[np.ndarray, " records"]
    loss: Float[np.ndarray, " records"]
    attention: Float[np.ndarray, " records"]
    one_minus_attention: Float[np.ndarray, " records"]
    diverged_at: int
    advice: str


def position_run(groups, scale, step_size, gram_scale, stops: Int[Array, " records"]):
    """Traceable, D included: (end with its divergence, `Observed` at the stops)."""

    def observe(state) -> Observed:
        alpha, gap = state
        loss = position.population_loss(alpha, gap, groups, scale)
        return Observed(alpha, gap, loss, *position.attention_from_gap(gap, groups))

    def step(state, _):
        alpha, gap = state
        forces = position.population_forces(alpha, gap, groups, scale)
        turn = step_size * gram_scale**2 / (groups - 1) * forces.gap_force
        return alpha + step_size * forces.alpha_force, gap + turn

    return follow(step, observe, (jnp.asarray(0.0), jnp.asarray(0.0)), stops)


_compiled_run = jax.jit(position_run)


@jax.jit
def _block_of_runs(settings: Float[Array, "setting run"], stops: Int[Array, " records"]):
    """Runs that advance together; `settings` are D, eta, sigma and c."""

    def one(setting):
        groups, step_size, scale, gram_scale = setting
        ended, rows = position_run(groups, scale, step_size, gram_scale, stops)
        return rows, ended.diverged_at

    return jax.vmap(one, in_axes=1)(settings)


def position_runs(
    groups, step_sizes, scales, gram_scales, stops
) -> tuple[Observed, Int[np.ndarray, " runs"]]:
    """(`Observed`, step of divergence) of many runs, one a place.

    They are run in blocks of few sizes, the last run and the last stop repeated where some are
    missing, so that two programs serve nearly all who ask.
    """
    settings = np.array([groups, step_sizes, scales, gram_scales], float)
    count, records = settings.shape[1], len(stops)
    width, places = 8 if count <= 8 else 64, 2 if records <= 2 else 48 * -(-records // 48)
    settings = np.pad(settings, ((0, 0), (0, -count % width)), "edge")
    stops = np.pad(np.asarray(stops), (0, places - records), "edge")
    blocks = [
        _block_of_runs(settings[:, first : first + width], stops)
        for first in range(0, count, width)]
    rows = Observed._make(
        np.concatenate(parts)[:count, :records]
        for parts in zip(*[rows for rows, _ in blocks], strict=True))
    return rows, np.concatenate([diverged for _, diverged in blocks])[:count]


def position_trajectory(
    groups: int, step_size: float, steps: int, record: Sequence[int] | None = None,
    scale: float = 1.0, gram_scale: float | None = None,
) -> PositionTrajectory:
    """`steps` population steps from zero with D = `groups`, eta = `step_size`, sigma_x = `scale`, c
    = `gram_scale` [(D+1)/2].

    `record` lists step numbers (0 = the start, 1 = after the first step). Warns when the step size
    is above the stability rule.
    """
    groups, eta, scale, gram = check_setting(groups, step_size, scale, gram_scale)
    kept = plan_record(steps, record)
    warn_if_unstable(groups, eta, scale)
    ended, rows = _compiled_run(float(groups), scale, eta, gram, kept.stops)
    diverged_at = int(ended.diverged_at)
    return PositionTrajectory._make([
        kept.asked, *[np.asarray(row)[kept.order] for row in rows], diverged_at,
        divergence_report(diverged_at, eta)])


def classify(
    gap_quarter: float, gap: float, loss: float, one_minus_attention: float, law: float,
    diverged_at: float = -1,
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


def name_ending(
    groups: int, step_size: float, steps: int, scale: float, gap_quarter: float, gap: float,
    loss: float, one_minus_attention: float, diverged_at: float,
) -> str:
    """`classify` with what the late law says of this run."""
    law = late_laws(int(groups), float(step_size), steps, scale).one_minus_attention
    return classify(gap_quarter, gap, loss, one_minus_attention, law, diverged_at)


class RegimeMap(NamedTuple):
    """Rows: groups, columns: step sizes. The word, A at steps // 4, the end, the divergence."""

    regime: np.ndarray
    gap_quarter: Float[np.ndarray, "rows columns"]
    end: Observed
    diverged_at: Int[np.ndarray, "rows columns"]


def regime_map(
    groups: Sequence[int], step_sizes: Sequence[float], steps: int, scale: float = 1.0
) -> RegimeMap:
    """Run the exact map for every (D, eta), all together, and name how each run ends."""
    steps = whole_number(steps, "steps", 8)
    cells = [[check_setting(size, eta, scale) for eta in step_sizes] for size in groups]
    sizes, etas, scales, grams = np.moveaxis(np.array(cells, float), -1, 0)
    rows, diverged = position_runs(
        sizes.ravel(), etas.ravel(), scales.ravel(), grams.ravel(),
        plan_record(steps, [steps // 4, steps]).stops)
    quarter, end = (
        Observed(*[row[:, place].reshape(sizes.shape) for row in rows]) for place in (0, 1))
    diverged_at = diverged.reshape(sizes.shape)
    words = np.vectorize(lambda D, eta, *ending: name_ending(D, eta, steps, scale, *ending))(
        sizes, etas, quarter.gap, end.gap, end.loss, end.one_minus_attention, diverged_at)
    return RegimeMap(words, np.asarray(quarter.gap), end, diverged_at)
