"""Population descent of the position-only model by its exact two-number map. Status: quadrature (64
nodes a step), exact otherwise.

    alpha <- alpha + eta (-dL/dalpha),     A <- A + eta (c^2/(D-1)) (-dL/dA) = A + eta c^2 (D/(D-1))
    s (1-s) alpha h
from alpha = A = 0. (With W11 = 0 for ever, C = 0 and B = A, so W22 stays exactly along the paper's
Lemma 5.1 direction.) The cost does not depend on the group dimension, which does not enter, nor on
the number of groups, which enters as a number. sigma enters as eta sigma^2 in the alpha equation
alone (for alpha sigma), so scale and step size are not interchangeable.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from saccade.studies.group_sparse.dynamics.recording import advance, divergence_report, plan_record
from saccade.studies.group_sparse.task import check_groups, check_scale
from saccade.studies.group_sparse.theory.position import (
    attention_from_gap,
    population_forces,
    population_loss,
)
from saccade.studies.group_sparse.theory.stability import warn_if_unstable


class PositionState(NamedTuple):
    """alpha = <v1, v*> and the score gap A."""

    alpha: Float[Array, ""]
    gap: Float[Array, ""]


class PositionTrajectory(NamedTuple):
    """Rows follow `steps`; `diverged_at` is -1 for a sound run, and `advice` says what to change
    otherwise."""

    steps: Int[np.ndarray, " records"]
    alpha: Float[np.ndarray, " records"]
    gap: Float[np.ndarray, " records"]
    loss: Float[np.ndarray, " records"]
    attention: Float[np.ndarray, " records"]
    one_minus_attention: Float[np.ndarray, " records"]
    diverged_at: int
    advice: str
    status: str = "quadrature"


def position_step(state: PositionState, groups, scale, step_size, gram_scale) -> PositionState:
    """One population step; every argument may be traced, D = `groups` included."""
    forces = population_forces(state.alpha, state.gap, groups, scale)
    gap = state.gap + step_size * gram_scale**2 / (groups - 1) * forces.gap_force
    return PositionState(state.alpha + step_size * forces.alpha_force, gap)


def position_run(groups, scale, step_size, gram_scale, gaps: Int[Array, " records"]):
    """The traceable run: (last progress, (alpha, gap, loss, s, 1-s) at the recorded steps). Use it
    under `jax.vmap` for scans."""

    def observe(state: PositionState):
        loss = population_loss(state.alpha, state.gap, groups, scale)
        return state.alpha, state.gap, loss, *attention_from_gap(state.gap, groups)

    def step(state: PositionState, _) -> PositionState:
        return position_step(state, groups, scale, step_size, gram_scale)

    return advance(step, observe, PositionState(jnp.asarray(0.0), jnp.asarray(0.0)), gaps)


_compiled_run = jax.jit(position_run)


def position_trajectory(
    groups: int, step_size: float, steps: int, record: Sequence[int] | None = None,
    scale: float = 1.0, gram_scale: float | None = None,
) -> PositionTrajectory:
    """`steps` population steps from zero with D = `groups`, eta = `step_size`, sigma_x = `scale`, c
    = `gram_scale` [(D+1)/2].

    `record` lists step numbers (0 = the start, 1 = after the first step). Warns when the step size
    is above the stability rule.
    """
    groups, scale = check_groups(groups), check_scale(scale)
    eta = check_scale(step_size, name="step_size")
    gram = (groups + 1) / 2 if gram_scale is None else check_scale(gram_scale, name="gram_scale")
    plan = plan_record(steps, record)
    warn_if_unstable(groups, eta, scale)
    progress, rows = _compiled_run(float(groups), scale, eta, gram, plan.gaps)
    diverged_at = int(progress.diverged_at)
    alpha, gap, loss, attention, rest = [np.asarray(row)[plan.order] for row in rows]
    advice = divergence_report(diverged_at, eta)
    return PositionTrajectory(plan.asked, alpha, gap, loss, attention, rest, diverged_at, advice)
