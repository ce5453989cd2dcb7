"""The descent on the invariant manifold k.v* = v.k* = k.v = 0, where two numbers suffice (Lemma 7
of Marion et al. 2025)."""

from collections.abc import Sequence

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
    run_recorded,
    steps_to_record,
    with_end,
)
from saccade.studies.single_location.theory import (
    Overlaps,
    Setting,
    check_overlaps,
    check_setting,
    manifold_gradient,
    manifold_risk,
)

Numbers = Float[Array, "..."]


def manifold_step(
    kappa: ArrayLike, nu: ArrayLike, setting: Setting, step_size: ArrayLike
) -> tuple[Numbers, Numbers]:
    """One exact step of (kappa, nu): x' = (x - alpha R_x (1 - x^2)) / sqrt(1 + alpha^2 R_x^2 (1 -
    x^2)) for each (Lemma 7)."""
    kappa, nu = jnp.asarray(kappa, float), jnp.asarray(nu, float)
    slopes = manifold_gradient(kappa, nu, setting)
    new_kappa, new_nu = (
        _step_on_circle(x, slope, step_size) for x, slope in zip((kappa, nu), slopes))
    return new_kappa, new_nu


def _step_on_circle(x: Numbers, slope: Numbers, step_size: ArrayLike) -> Numbers:
    room = (1 - x) * (1 + x)  # not 1 - x^2: keeps the digits of a small room near |x| = 1
    moved = (x - step_size * slope * room) * jax.lax.rsqrt(1 + jnp.square(step_size * slope) * room)
    return jnp.clip(moved, -1.0, 1.0)


def manifold_trajectory(
    kappa: ArrayLike, nu: ArrayLike, setting: Setting, step_size: ArrayLike, steps: int,
    record_every: int | None = None, record: Sequence[int] | None = None, decay: ArrayLike = 0.0,
) -> Trajectory:
    """As `overlap_trajectory`, started and staying on the manifold (theta = eta = rho = 0
    throughout). Status: exact."""
    check_overlaps(Overlaps(kappa, nu))
    check_setting(setting)
    check_run(step_size, decay)
    recorded = steps_to_record(steps, record_every, record)
    seen = _run(
        *as_batch(Overlaps(kappa, nu), setting, step_size, decay), with_end(recorded, steps))
    return as_trajectory(recorded, *seen)


@jax.jit
def _run(
    overlaps: Overlaps, setting: Setting, step_size: Array, decay: Array, stops: Array
) -> tuple[Overlaps, Array]:
    zero = jnp.zeros_like(overlaps.kappa)

    def step(state, t):
        kappa, nu = state
        return manifold_step(kappa, nu, cooled(setting, decay, t), step_size)

    def observe(state, stop):
        kappa, nu = state
        return Overlaps(kappa, nu, zero, zero, zero), manifold_risk(
            kappa, nu, cooled_at(setting, decay, stop))

    return run_recorded(step, observe, (overlaps.kappa, overlaps.nu), stops)[1]
