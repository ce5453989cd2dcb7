"""The same descent in all d dimensions: the check of the five-number map, not its replacement.

The gradient comes from automatic differentiation of the risk composed with the inner products, so
it shares no derivative written by hand with the reduced map.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from saccade.errors import require
from saccade.studies.single_location.dynamics.recording import (
    Trajectory,
    as_trajectory,
    check_run,
    cooled,
    cooled_at,
    run_recorded,
    steps_to_record,
    with_end,
)
from saccade.studies.single_location.dynamics.sphere import sphere_step
from saccade.studies.single_location.theory import Overlaps, Setting, check_setting, risk

Vectors = Float[Array, "*batch dim"]
UNIT = 1e-6  # how far from unit length or orthogonality given vectors may be


def overlaps_of(k: Vectors, v: Vectors, k_star: Vectors, v_star: Vectors) -> Overlaps:
    """The five inner products of learned (k, v) and true (k*, v*), over the last axis."""
    pairs = ((k, k_star), (v, v_star), (v, k_star), (k, v_star), (k, v))
    return Overlaps(*(jnp.sum(a * b, axis=-1) for a, b in pairs))


def full_step(
    k: Vectors, v: Vectors, k_star: Vectors, v_star: Vectors, setting: Setting, step_size: ArrayLike
) -> tuple[Vectors, Vectors]:
    """One projected-gradient step of k and v together, both gradients at the old pair (eq. 10)."""

    def total_risk(k, v):
        return jnp.sum(risk(overlaps_of(k, v, k_star, v_star), setting))

    k_gradient, v_gradient = jax.grad(total_risk, argnums=(0, 1))(k, v)
    return sphere_step(k, k_gradient, step_size), sphere_step(v, v_gradient, step_size)


def full_trajectory(
    k0: Vectors, v0: Vectors, k_star: Vectors, v_star: Vectors, setting: Setting, step_size: float,
    steps: int, record_every: int | None = None, record: Sequence[int] | None = None,
    decay: float = 0.0,
) -> Trajectory:
    """As `overlap_trajectory`, by d-dimensional descent from (k0, v0); leading axes of k0 and v0
    are repetitions."""
    check_setting(setting)
    check_run(step_size, decay)
    vectors = check_vectors(k0, v0, k_star, v_star, setting)
    recorded = steps_to_record(steps, record_every, record)
    setting = Setting(*(jnp.asarray(value, float) for value in setting))
    return as_trajectory(
        recorded, *_run(vectors, setting, step_size, decay, with_end(recorded, steps)))


def check_vectors(
    k0: ArrayLike, v0: ArrayLike, k_star: ArrayLike, v_star: ArrayLike, setting: Setting
) -> tuple[Vectors, Vectors, Vectors, Vectors]:
    """The four (batches of) vectors as arrays, or a refusal: wrong size, not of unit length, k* and
    v* not orthogonal."""
    named = {"k0": k0, "v0": v0, "k_star": k_star, "v_star": v_star}
    arrays = {name: np.asarray(value, dtype=float) for name, value in named.items()}
    for name, array in arrays.items():
        fits = array.ndim >= 1 and array.shape[-1] == np.asarray(setting.dim)
        require(
            bool(np.all(fits)), f"shape of {name}", array.shape,
            f"must end with {setting.dim} (dim)")
        norms = np.linalg.norm(array, axis=-1)
        require(
            bool(np.all(np.abs(norms - 1) <= UNIT)), f"norm of {name}", norms.tolist(), "must be 1")
    overlap = np.sum(arrays["k_star"] * arrays["v_star"], axis=-1)
    require(bool(np.all(np.abs(overlap) <= UNIT)), "k_star . v_star", overlap.tolist(), "must be 0")
    k0, v0, k_star, v_star = (jnp.asarray(array) for array in arrays.values())
    return k0, v0, k_star, v_star


@jax.jit
def _run(
    vectors: tuple[Vectors, ...], setting: Setting, step_size: Array, decay: Array, stops: Array
) -> tuple[Overlaps, Array]:
    k0, v0, k_star, v_star = vectors

    def step(state, t):
        return full_step(state[0], state[1], k_star, v_star, cooled(setting, decay, t), step_size)

    def observe(state, stop):
        overlaps = overlaps_of(state[0], state[1], k_star, v_star)
        return overlaps, risk(overlaps, cooled_at(setting, decay, stop))

    return run_recorded(step, observe, (k0, v0), stops)[1]
