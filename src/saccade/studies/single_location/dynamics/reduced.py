"""Projected gradient descent on two spheres, followed exactly in five numbers whatever the
dimension, and in two on the invariant manifold k.v* = v.k* = k.v = 0.

The risk depends on (k, v) only through the five overlaps, so its gradient lies in span(k*, v*, k,
v) and the descent step (eq. 10 of Marion et al. 2025) maps overlaps to overlaps. The dimension
enters through the risk alone. Status: exact.
"""

from collections import namedtuple
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import ArrayLike

from saccade.studies.single_location import theory
from saccade.studies.single_location.theory import Overlaps, Setting, as_arrays, risk_gradient

from .recording import Numbers, Record, Trajectory, as_batch, follow, trajectory

SLACK = 1e-14  # rounding allowed in a squared length before a state is pulled back into the domain
FEW = 1000  # runs whose five overlaps at 512 looks are few numbers
Gradient = Callable[[Overlaps, Setting], Overlaps]
"""partial derivatives of a risk by overlap, so that a wrong gradient can be tried"""


# The tangent gradient p of a learned vector, times the step size, by its inner products with k*, v*
# and the other learned vector, its square |p|^2, and the radial part that the projection removed:
# the plain gradient's inner product with the vector itself.
_Pull = namedtuple("_Pull", "on_k_star on_v_star on_other square radial")


def _pull(own: tuple, other: tuple, rho: Numbers, gradient: tuple) -> _Pull:
    """p = (I - x x^T)(g_1 k* + g_2 v* + g_3 y), x.y = rho, for x with inner products `own` on k*
    and v*, y with `other`."""
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
    """One exact projected-gradient step (alpha) seen by the overlaps; batches broadcast.

    With p and q the tangent gradients of k and v, times alpha: k' = (k - p)/sqrt(1 + |p|^2), v' =
    (v - q)/sqrt(1 + |q|^2). (Equal to the quadratic forms of the 4x4 Gram matrix, but nothing large
    cancels when |p| is large.)
    """
    kappa, nu, theta, eta, rho = as_arrays(overlaps)
    in_kappa, in_nu, in_theta, in_eta, in_rho = (
        step_size * part for part in as_arrays(gradient(overlaps, setting)))
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
    """sqrt(1 + |p|^2), the length of a moved vector, not below that of its part in span(k*, v*)."""
    return jnp.sqrt(jnp.maximum(1 + pull.square, jnp.square(moved[0]) + jnp.square(moved[1])))


def _possible_rho(
    kappa: Numbers, nu: Numbers, theta: Numbers, eta: Numbers, rho: Numbers
) -> Numbers:
    """The nearest k.v that unit vectors with these other overlaps can have, up to rounding."""
    centre = kappa * theta + eta * nu
    k_room, v_room = 1 - jnp.square(kappa) - jnp.square(eta), 1 - jnp.square(theta) - jnp.square(nu)
    room = jnp.sqrt((jnp.maximum(k_room, 0.0) + SLACK) * (jnp.maximum(v_room, 0.0) + SLACK))
    return jnp.clip(jnp.clip(rho, centre - room, centre + room), -1.0, 1.0)


def into_domain(overlaps: Overlaps) -> Overlaps:
    """Undo roundings that left the domain: (kappa, eta) and (theta, nu) lie in the unit disc, rho
    where unit vectors can have it. A state inside it, up to rounding, is returned untouched."""
    kappa, nu, theta, eta, rho = as_arrays(overlaps)
    k_square, v_square = jnp.square(kappa) + jnp.square(eta), jnp.square(theta) + jnp.square(nu)
    k_shrink = jnp.where(k_square > 1, jax.lax.rsqrt(k_square), 1.0)
    v_shrink = jnp.where(v_square > 1, jax.lax.rsqrt(v_square), 1.0)
    kappa, eta, theta, nu = kappa * k_shrink, eta * k_shrink, theta * v_shrink, nu * v_shrink
    return Overlaps(kappa, nu, theta, eta, _possible_rho(kappa, nu, theta, eta, rho))


def overlap_trajectory(
    overlaps: Overlaps, setting: Setting, step_size: ArrayLike, steps: int, record: Record = None,
    decay: ArrayLike = 0.0, gradient: Gradient = risk_gradient,
) -> Trajectory:
    """`steps` steps of size alpha with lambda_t = lambda/(1 + decay t), t = 0 at the first. Exact.

    Overlaps, setting, step size and decay may be arrays of one common batch shape.
    The cost does not depend on the dimension.
    """
    batch = as_batch(overlaps, setting, step_size, decay)
    # Looking at a few runs five hundred times costs nothing beside compiling for fewer looks.
    least = 512 if batch[0].kappa.size <= FEW else 8
    return trajectory(lambda stops: _run(*batch, stops, gradient), steps, record, least)


@partial(jax.jit, static_argnames="gradient")
def _run(overlaps, setting, step_size, decay, stops, gradient: Gradient):
    def step(state, t, setting):
        return overlap_step(state, setting, step_size, gradient)

    return follow(step, lambda state: state, overlaps, setting, decay, stops)


def manifold_step(
    kappa: ArrayLike, nu: ArrayLike, setting: Setting, step_size: ArrayLike
) -> tuple[Numbers, Numbers]:
    """One exact step of (kappa, nu), each by x' = (x - alpha R_x (1 - x^2)) / sqrt(1 + alpha^2
    R_x^2 (1 - x^2)) (Lemma 7)."""
    kappa, nu = jnp.asarray(kappa, float), jnp.asarray(nu, float)
    in_kappa, in_nu = theory.manifold_gradient(kappa, nu, setting)
    return _step_on_circle(kappa, step_size * in_kappa), _step_on_circle(nu, step_size * in_nu)


def _step_on_circle(x: Numbers, pull: ArrayLike) -> Numbers:
    room = (1 - x) * (1 + x)  # not 1 - x^2: keeps the digits of a small room near |x| = 1
    return jnp.clip((x - pull * room) * jax.lax.rsqrt(1 + jnp.square(pull) * room), -1.0, 1.0)


def manifold_trajectory(
    kappa: ArrayLike, nu: ArrayLike, setting: Setting, step_size: ArrayLike, steps: int,
    record: Record = None, decay: ArrayLike = 0.0,
) -> Trajectory:
    """As `overlap_trajectory`, on the manifold throughout (theta = eta = rho = 0). Exact."""
    batch = as_batch(Overlaps(kappa, nu), setting, step_size, decay)
    return trajectory(lambda stops: _run_on_manifold(*batch, stops), steps, record)


@jax.jit
def _run_on_manifold(start, setting, step_size, decay, stops):
    zero = jnp.zeros_like(start.kappa)

    def step(state, t, setting):
        return manifold_step(state[0], state[1], setting, step_size)

    return follow(
        step, lambda state: Overlaps(state[0], state[1], zero, zero, zero), (start.kappa, start.nu),
        setting, decay, stops,
        lambda here, setting: theory.manifold_risk(here.kappa, here.nu, setting))
