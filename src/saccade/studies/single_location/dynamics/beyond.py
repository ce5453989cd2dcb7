"""Descent of the erf layer beyond the paper's task, by automatic differentiation of its exact risk:
several informative tokens, or true directions with k*.v* = c. Four coordinates hold k*, v* and what
k and v have outside their plane, whatever the dimension."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import ArrayLike, Float

from saccade.errors import require
from saccade.studies.single_location.theory import (
    Overlaps,
    Setting,
    as_arrays,
    beyond_risk,
    check_overlaps,
)

from .full import full_step, overlaps_of
from .recording import Record, Trajectory, check_run, follow, trajectory

Four = Float[np.ndarray, "repetitions 4"]
IN_PLANE = 1e-15  # square of what k has outside a plane that is rounding


def four_coordinates(overlaps: Overlaps) -> tuple[Four, Four]:
    """Unit vectors k and v with these inner products with e_1 and e_2, and with each other; outside
    their plane k has the third coordinate only. Where k lies in that plane, up to rounding, v has
    no third coordinate: there any will do. `InvalidInput` where no unit vectors have them."""
    overlaps = check_overlaps(overlaps)
    kappa, nu, theta, eta, rho = np.broadcast_arrays(*(np.asarray(x, float) for x in overlaps))
    room = 1 - kappa**2 - eta**2
    outside = room > IN_PLANE
    k_rest = np.sqrt(np.where(outside, room, 0.0))
    along = (rho - kappa * theta - eta * nu) / np.where(outside, k_rest, np.inf)
    v_out = np.sqrt(np.maximum(1 - theta**2 - nu**2, 0.0))
    v_third = np.clip(along, -v_out, v_out)
    v_rest = np.sqrt((v_out - v_third) * (v_out + v_third))
    zero = np.zeros_like(kappa)
    return np.stack([kappa, eta, k_rest, zero], -1), np.stack([theta, nu, v_third, v_rest], -1)


def beyond_trajectory(
    overlaps: Overlaps, setting: Setting, step_size: float, steps: int, record: Record = None,
    decay: float = 0.0, informative: int = 1, lean: float = 0.0,
) -> Trajectory:
    """As `overlap_trajectory`, with m informative tokens and k*.v* = `lean`; `overlaps` are those
    of the start with k* and the direction orthogonal to it in the plane of k* and v*. Exact."""
    check_run(setting, step_size, decay)
    possible = 1 <= informative <= setting.length
    require(possible, "informative", informative, f"must lie in 1..{setting.length} (length)")
    require(-1 < lean < 1, "lean", lean, "must lie between -1 and 1")
    truth = np.eye(4)[0], np.array([lean, np.sqrt(1 - lean**2), 0.0, 0.0])
    numbers = as_arrays(setting), step_size, decay, float(informative), lean
    vectors = four_coordinates(overlaps)
    return trajectory(lambda stops: _run(vectors, truth, *numbers, stops), steps, record)


@jax.jit
def _run(
    vectors: tuple[Four, Four], truth: tuple[ArrayLike, ArrayLike], setting: Setting, step_size,
    decay, informative, lean, stops,
):
    loss = partial(beyond_risk, informative=informative, lean=jnp.asarray(lean))

    k_star, v_star = truth

    def step(state, t, setting):
        k, v = state
        return full_step(k, v, k_star, v_star, setting, step_size, loss)

    def observe(state):
        k, v = state
        return overlaps_of(k, v, k_star, v_star)

    return follow(step, observe, vectors, setting, decay, stops, loss)
