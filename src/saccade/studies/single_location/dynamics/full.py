"""The same descent in all d dimensions, on the unit sphere along the last axis: the check of the
five-number map, not its replacement.

The gradient comes from automatic differentiation of the risk composed with the inner products, so
it shares no derivative written by hand with the reduced map.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import ArrayLike, Float

from saccade.arrays import Array, namespace
from saccade.errors import require
from saccade.studies.single_location.theory import Overlaps, Setting, as_arrays, risk

from .recording import Record, Trajectory, check_run, follow, trajectory

Vectors = Float[Array, "*batch dim"]
UNIT = 1e-6  # how far from unit length or orthogonality given vectors may be


def tangent(x: Vectors, g: Vectors) -> Vectors:
    """(I - x x^T) g, the part of g along the sphere at the unit vector x."""
    return g - (x * g).sum(axis=-1, keepdims=True) * x


def sphere_step(x: Vectors, g: Vectors, step_size: ArrayLike) -> Vectors:
    """(x - alpha (I - x x^T) g) / its norm, which is at least 1: the step is orthogonal to x."""
    return normalised(x - step_size * tangent(x, g))


def normalised(x: Vectors) -> Vectors:
    return x / namespace(x).linalg.norm(x, axis=-1, keepdims=True)


def overlaps_of(k: Vectors, v: Vectors, k_star: Vectors, v_star: Vectors) -> Overlaps:
    """The five inner products of learned (k, v) and true (k*, v*), over the last axis."""
    pairs = ((k, k_star), (v, v_star), (v, k_star), (k, v_star), (k, v))
    return Overlaps(*((a * b).sum(axis=-1) for a, b in pairs))


def full_step(
    k: Vectors, v: Vectors, k_star: Vectors, v_star: Vectors, setting: Setting,
    step_size: ArrayLike, loss: Callable[[Overlaps, Setting], Array] = risk,
) -> tuple[Vectors, Vectors]:
    """One projected-gradient step of k and v together, both gradients at the old pair (eq. 10)."""

    def total_risk(k, v):
        return jnp.sum(loss(overlaps_of(k, v, k_star, v_star), setting))

    k_gradient, v_gradient = jax.grad(total_risk, argnums=(0, 1))(k, v)
    return sphere_step(k, k_gradient, step_size), sphere_step(v, v_gradient, step_size)


def full_trajectory(
    k0: Vectors, v0: Vectors, k_star: Vectors, v_star: Vectors, setting: Setting, step_size: float,
    steps: int, record: Record = None, decay: float = 0.0,
) -> Trajectory:
    """As `overlap_trajectory`, in all dimensions from (k0, v0); leading axes are repetitions."""
    check_run(setting, step_size, decay)
    vectors = check_vectors(k0, v0, k_star, v_star, setting)
    numbers = as_arrays(setting), step_size, decay
    return trajectory(lambda stops: _run(vectors, *numbers, stops), steps, record)


def check_vectors(
    k0: ArrayLike, v0: ArrayLike, k_star: ArrayLike, v_star: ArrayLike, setting: Setting
) -> tuple[Vectors, ...]:
    """The vectors as arrays, or `InvalidInput`: wrong size, not unit, k* and v* not orthogonal."""
    named = {"k0": k0, "v0": v0, "k_star": k_star, "v_star": v_star}
    arrays = {name: np.asarray(value, dtype=float) for name, value in named.items()}
    for name, array in arrays.items():
        size, norms = array.shape[-1] if array.ndim else 0, np.linalg.norm(array, axis=-1)
        rule = f"must be dim = {setting.dim:g}"
        require(size == setting.dim, f"number of entries of {name}", size, rule)
        unit = bool(np.all(np.abs(norms - 1) <= UNIT))
        require(unit, f"norm of {name}", norms, "must be 1: it is a unit vector")
    overlap = np.sum(arrays["k_star"] * arrays["v_star"], axis=-1)
    rule = "must be 0: the two true directions are orthogonal"
    require(bool(np.all(np.abs(overlap) <= UNIT)), "k_star . v_star", overlap, rule)
    return tuple(jnp.asarray(array) for array in arrays.values())


@jax.jit
def _run(vectors, setting, step_size, decay, stops):
    k0, v0, k_star, v_star = vectors

    def step(state, t, setting):
        return full_step(state[0], state[1], k_star, v_star, setting, step_size)

    return follow(
        step, lambda state: overlaps_of(state[0], state[1], k_star, v_star), (k0, v0), setting,
        decay, stops)
