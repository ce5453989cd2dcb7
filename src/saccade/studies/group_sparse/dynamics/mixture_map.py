"""Population descent of the position-only layer from any attention, for any label made of the
groups: fine-tuning on a task whose group is another, or two. Status: quadrature, exact otherwise.

    alpha <- alpha + eta (-dL/dalpha)
    m_i   <- m_i + eta (c^2 / D) (-dL/dm_i)
The scores m are those of every query alike, so that each of the D columns of M = P^T W22 P takes a
D-th of the force (W11 is frozen at 0, P^T P = c I). From zero and with one group in the label this
is `position_map`.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from saccade.studies.group_sparse.theory.mixture import mixture_forces


class MixtureState(NamedTuple):
    """alpha and the score m of every group."""

    alpha: Float[Array, ""]
    scores: Float[Array, " groups"]


def mixture_step(
    state: MixtureState, weights: Float[Array, " groups"], step_size, gram_scale, scale,
    value_speed=1.0,
) -> MixtureState:
    """One step; `weights` have length one, and `value_speed` 0 holds alpha."""
    forces = mixture_forces(state.alpha, jax.nn.softmax(state.scores), weights, scale)
    turn = step_size * gram_scale**2 / weights.shape[0]
    alpha = state.alpha + value_speed * step_size * forces.alpha_force
    return MixtureState(alpha, state.scores + turn * forces.score_forces)


@partial(jax.jit, static_argnames=("most",))
def steps_to_return(
    start: MixtureState, relevant: int | Int[Array, ""], step_size, gram_scale, scale, value_speed,
    most: int = 10**6,
) -> Int[Array, ""]:
    """Steps until attention on the `relevant` group, which alone makes the label, is one half."""
    weights = jax.nn.one_hot(relevant, start.scores.shape[0])

    def goes_on(carry):
        state, number = carry
        return (jax.nn.softmax(state.scores)[relevant] < 0.5) & (number < most)

    def step(carry):
        state, number = carry
        moved = mixture_step(state, weights, step_size, gram_scale, scale, value_speed)
        return moved, number + 1

    return jax.lax.while_loop(goes_on, step, (start, jnp.asarray(0)))[1]
