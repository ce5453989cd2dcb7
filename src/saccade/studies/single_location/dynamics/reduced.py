"""Projected gradient descent on two spheres, followed exactly in five numbers whatever the
dimension.

The risk depends on (k, v) only through the five overlaps, so its gradient lies in span(k*, v*, k,
v) and the descent step (eq. 10 of Marion et al. 2025) maps overlaps to overlaps. The dimension
enters through the risk alone. Status: exact.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike, Float

from saccade.studies.single_location.dynamics.recording import (
    Trajectory,
    as_batch,
    as_trajectory,
    check_run,
    cooled,
    cooled_at,
    numbers,
    run_recorded,
    steps_to_record,
    with_end,
)
from saccade.studies.single_location.theory import (
    Overlaps,
    Setting,
    check_overlaps,
    check_setting,
    risk,
    risk_gradient,
)

SLACK = 1e-14  # rounding allowed in a squared length before a state is pulled back into the domain
Numbers = Float[Array, "..."]
Gradient = Callable[[Overlaps, Setting], Overlaps]
"""partial derivatives of a risk by overlap; another than the exact one lets a wrong gradient be
tried"""


class _Pull(NamedTuple):
    """The tangent gradient p of one of the two learned vectors, times the step size, by its inner
    products."""

    on_k_star: Numbers
    on_v_star: Numbers
    on_other: Numbers
    """with the other learned vector"""
    square: Numbers
    """|p|^2"""
    radial: Numbers
    """what the projection removed: the inner product of the plain gradient with the vector
    itself"""


def _pull(own: tuple, other: tuple, rho: Numbers, gradient: tuple) -> _Pull:
    """p = (I - x x^T)(g_1 k* + g_2 v* + g_3 y), for x with inner products `own` and y with `other`
    (on k*, on v*), x.y = rho."""
    g_1, g_2, g_3 = gradient
    radial = g_1 * own[0] + g_2 * own[1] + g_3 * rho
    on_k_star = g_1 + g_3 * other[0] - radial * own[0]
    on_v_star = g_2 + g_3 * other[1] - radial * own[1]
    on_other = g_1 * other[0] + g_2 * other[1] + g_3 - radial * rho
    square = g_1 * on_k_star + g_2 * on_v_star + g_3 * on_other
    return _Pull(on_k_star, on_v_star, on_other, jnp.maximum(square, 0.0), radial)


def overlap_step(
    overlaps: Overlaps, setting: Setting, step_size: ArrayLike, gradient: Gradient = risk_gradient
) -> Overlaps:
    """One exact projected-gradient step (alpha) seen by the overlaps. Elementwise: batches of
    states and settings broadcast.

    With p and q the tangent gradients of k and v, times alpha: k' = (k - p)/sqrt(1 + |p|^2), v' =
    (v - q)/sqrt(1 + |q|^2). (Equal to the quadratic forms of the 4x4 Gram matrix, but nothing large
    cancels when |p| is large.)
    """
    kappa, nu, theta, eta, rho = numbers(overlaps)
    in_kappa, in_nu, in_theta, in_eta, in_rho = (
        step_size * slope for slope in numbers(gradient(overlaps, setting)))
    p = _pull((kappa, eta), (theta, nu), rho, (in_kappa, in_eta, in_rho))
    q = _pull((theta, nu), (kappa, eta), rho, (in_theta, in_nu, in_rho))
    p_with_q = in_theta * p.on_k_star + in_nu * p.on_v_star - q.radial * p.on_other
    k_moved, v_moved = (
        (kappa - p.on_k_star, eta - p.on_v_star), (theta - q.on_k_star, nu - q.on_v_star))
    k_length, v_length = _length(p, k_moved), _length(q, v_moved)
    moved_rho = rho - (p.on_other + q.on_other) + p_with_q
    (kappa, eta), (theta, nu) = (x / k_length for x in k_moved), (x / v_length for x in v_moved)
    return Overlaps(
        kappa, nu, theta, eta,
        _possible_rho(kappa, nu, theta, eta, moved_rho / (k_length * v_length)))


def _length(pull: _Pull, moved: tuple[Numbers, Numbers]) -> Numbers:
    """sqrt(1 + |p|^2), the length of a moved vector; rounding may not make it shorter than its part
    in span(k*, v*)."""
    return jnp.sqrt(jnp.maximum(1 + pull.square, jnp.square(moved[0]) + jnp.square(moved[1])))


def _possible_rho(
    kappa: Numbers, nu: Numbers, theta: Numbers, eta: Numbers, rho: Numbers
) -> Numbers:
    """The nearest inner product k.v that unit vectors with these other overlaps can have, up to the
    rounding of a square."""
    centre = kappa * theta + eta * nu
    k_room, v_room = 1 - jnp.square(kappa) - jnp.square(eta), 1 - jnp.square(theta) - jnp.square(nu)
    room = jnp.sqrt((jnp.maximum(k_room, 0.0) + SLACK) * (jnp.maximum(v_room, 0.0) + SLACK))
    return jnp.clip(jnp.clip(rho, centre - room, centre + room), -1.0, 1.0)


def into_domain(overlaps: Overlaps) -> Overlaps:
    """Undo roundings that left the domain: (kappa, eta) and (theta, nu) lie in the unit disc, rho
    where unit vectors can have it.

    A state inside the domain, or out of it by less than the rounding of a squared length, is
    returned untouched.
    """
    kappa, nu, theta, eta, rho = numbers(overlaps)
    k_square, v_square = jnp.square(kappa) + jnp.square(eta), jnp.square(theta) + jnp.square(nu)
    k_scale = jnp.where(k_square > 1, jax.lax.rsqrt(k_square), 1.0)
    v_scale = jnp.where(v_square > 1, jax.lax.rsqrt(v_square), 1.0)
    kappa, eta, theta, nu = kappa * k_scale, eta * k_scale, theta * v_scale, nu * v_scale
    return Overlaps(kappa, nu, theta, eta, _possible_rho(kappa, nu, theta, eta, rho))


def overlap_trajectory(
    overlaps: Overlaps, setting: Setting, step_size: ArrayLike, steps: int,
    record_every: int | None = None, record: Sequence[int] | None = None, decay: ArrayLike = 0.0,
    gradient: Gradient = risk_gradient,
) -> Trajectory:
    """`steps` exact steps of size alpha with lambda_t = lambda/(1 + decay t), t = 0 at the first.
    Status: exact.

    Overlaps, setting, step size and decay may be arrays of one common batch shape. Told neither
    what to record nor how often, it keeps the last step. The cost does not depend on the dimension.
    """
    check_overlaps(overlaps)
    check_setting(setting)
    check_run(step_size, decay)
    recorded = steps_to_record(steps, record_every, record)
    seen = _run(*as_batch(overlaps, setting, step_size, decay), with_end(recorded, steps), gradient)
    return as_trajectory(recorded, *seen)


@partial(jax.jit, static_argnames="gradient")
def _run(
    overlaps: Overlaps, setting: Setting, step_size: Array, decay: Array, stops: Array,
    gradient: Gradient,
) -> tuple[Overlaps, Array]:
    def step(state, t):
        return overlap_step(state, cooled(setting, decay, t), step_size, gradient)

    def observe(state, stop):
        return state, risk(state, cooled_at(setting, decay, stop))

    return run_recorded(step, observe, overlaps, stops)[1]
