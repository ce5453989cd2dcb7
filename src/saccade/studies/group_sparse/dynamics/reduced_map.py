"""Population descent of the full layer in its six free numbers. Status: exact in the parameters,
Monte Carlo in the expectation.

The first two steps are the closed form (large steps amplify sampling error most there). Every later
step draws fresh signals (few numbers) and takes the Gram matrices of the features orthogonal to v*
(many numbers, and they matter little) from a pool drawn once; each round through the pool pairs
them with other nodes. Noise shared with the position-only model is taken out (see `designs`). Once
the pool is drawn, the cost does not depend on the group dimension.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from saccade.descent import divergence_report
from saccade.studies.group_sparse.dynamics import designs, follow, plan_record, reduced_gradient
from saccade.studies.group_sparse.dynamics.designs import Design
from saccade.studies.group_sparse.dynamics.reduced_gradient import ReducedGradient
from saccade.studies.group_sparse.task import check_setting, whole_number
from saccade.studies.group_sparse.theory import reduction
from saccade.studies.group_sparse.theory.laws import two_steps
from saccade.studies.group_sparse.theory.stability import warn_if_unstable


class ReducedTrajectory(NamedTuple):
    """Rows follow `steps`: eight coordinates, the gap A, loss and mean attention S_{j*,j}."""

    steps: Int[np.ndarray, " records"]
    coordinates: Float[np.ndarray, "records 8"]
    gap: Float[np.ndarray, " records"]
    loss: Float[np.ndarray, " records"]
    attention: Float[np.ndarray, " records"]
    diverged_at: int
    advice: str


def estimate(coordinates: Float[Array, " 8"], design: Design, scale) -> ReducedGradient:
    """Loss and gradient on one design, without the noise that the position-only layer shares."""
    raw = reduced_gradient.loss_and_gradient(
        coordinates, design.signals, design.gram, jnp.ones_like(design.weights), design.weights)
    groups, alpha, between = design.signals.shape[0], coordinates[0], reduction.gaps(coordinates)
    gap = (between.A + (groups - 1) * between.B) / groups
    sampled_loss, sampled = designs.sampled_control(alpha, gap, design)
    true_loss, true = designs.expected_control(alpha, gap, groups, scale)
    return ReducedGradient(
        raw.loss - sampled_loss + true_loss, raw.gradient - sampled + true, raw.attention)


@partial(jax.jit, static_argnames=("groups", "group_dim", "repeats", "pool"))
def reduced_run(
    key: PRNGKeyArray, starts: Float[Array, "2 8"], scale, step_size, speed, stops, groups,
    group_dim, repeats, pool,
):
    """Traceable: `starts` are the states after steps 1 and 2, `speed` the preconditioner."""
    pool_key, stream_key, judge_key = jax.random.split(key, 3)
    grams = designs.draw_grams(pool_key, groups, group_dim, scale, repeats, pool)

    def estimate_at(state, key, number) -> ReducedGradient:
        signals, weights = designs.draw_signals(
            jax.random.fold_in(key, number), groups, scale, repeats)
        gram = jnp.roll(grams[number % pool], number // pool, axis=-1)
        return estimate(state, Design(signals, gram, weights), scale)

    def step(state, number):
        moved = state - step_size * speed * estimate_at(state, stream_key, number).gradient
        return jnp.where(number < 2, starts[jnp.minimum(number, 1)], moved)

    def judge(state):
        means = jax.lax.map(lambda number: estimate_at(state, judge_key, number), jnp.arange(pool))
        return jnp.mean(means.loss), jnp.mean(means.attention)

    ended, states = follow(step, lambda state: state, jnp.zeros(8), stops)
    # A judgement costs as much as `pool` steps: stops that only fill a place are left out.
    is_new = jnp.diff(stops, prepend=-1) > 0
    loss, attention = jax.lax.map(
        lambda row: jax.lax.cond(row[0], judge, lambda _: (jnp.nan, jnp.nan), row[1]),
        (is_new, states))
    return ended, (states, loss, attention)


def reduced_trajectory(
    key: PRNGKeyArray, groups: int, group_dim: int, step_size: float, steps: int,
    record: Sequence[int] | None = None, scale: float = 1.0, gram_scale: float | None = None,
    repeats: int = 1, pool: int = 32, places: int = 1, feature_speed: float = 1.0,
) -> ReducedTrajectory:
    """`steps` steps from zero with D = `groups`, d = `group_dim`; each looks at 222 * `repeats`
    fresh samples.

    `pool` is the number of sets of Gram matrices, and of designs on which loss and attention are
    judged. The last record is repeated up to a multiple of `places`: records of different numbers
    then share a program, which takes longer to compile than to run. `feature_speed` multiplies the
    steps of W11 (0: the position-only layer). Warns above the stability rule.
    """
    groups, eta, scale, gram = check_setting(groups, step_size, scale, gram_scale)
    group_dim, repeats = (
        whole_number(group_dim, "group_dim", 1), whole_number(repeats, "repeats", 1))
    pool, kept = whole_number(pool, "pool", 1), plan_record(steps, record)
    warn_if_unstable(groups, eta, scale)
    stops = np.pad(np.asarray(kept.stops), (0, -len(kept.stops) % places), "edge")
    of_features = np.array([1.0, feature_speed, feature_speed, 1.0, 1.0, 1.0, 1.0, 1.0])
    ended, rows = reduced_run(
        key, of_features * exact_starts(groups, eta, scale, gram), scale, eta,
        of_features * reduction.preconditioner(groups, group_dim, gram), stops, groups=groups,
        group_dim=group_dim, repeats=repeats, pool=pool)
    coordinates, loss, attention = [np.asarray(row)[kept.order] for row in rows]
    diverged_at = int(ended.diverged_at)
    gap = coordinates[:, 3] - coordinates[:, 5]
    return ReducedTrajectory(
        kept.asked, coordinates, gap, loss, attention, diverged_at,
        divergence_report(diverged_at, eta))


def exact_starts(
    groups: int, step_size: float, scale: float, gram_scale: float
) -> Float[Array, "2 8"]:
    """The coordinates after the first and after the second step, in closed form."""
    closed = two_steps(groups, step_size, scale, gram_scale)
    states = (closed.first_alpha, 0.0, 0.0), (closed.alpha, closed.a, closed.gap)
    return jnp.asarray(np.stack([
        reduction.coordinates_from_gaps(groups, alpha, a, A=gap, B=gap)
        for alpha, a, gap in states]))
