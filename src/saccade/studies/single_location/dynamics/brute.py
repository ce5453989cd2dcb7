"""Stochastic descent with every token drawn in full: the check of the engine that works in law.

Fresh batches in d dimensions, the predictor itself, and automatic differentiation of its squared
error.
"""

from collections.abc import Sequence
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from saccade.studies.single_location.dynamics.full import Vectors, check_vectors, overlaps_of
from saccade.studies.single_location.dynamics.recording import (
    Trajectory,
    as_trajectory,
    cooled,
    cooled_at,
    run_recorded,
    steps_to_record,
    with_end,
)
from saccade.studies.single_location.dynamics.sphere import sphere_step
from saccade.studies.single_location.dynamics.stochastic import check_stochastic
from saccade.studies.single_location.models import erf_predictor
from saccade.studies.single_location.task import SingleLocation
from saccade.studies.single_location.theory import Overlaps, Setting, risk


def stochastic_trajectory_brute(
    key: Key[Array, ""], k0: Vectors, v0: Vectors, k_star: Vectors, v_star: Vectors,
    setting: Setting, step_size: float, steps: int, batch: int, record_every: int | None = None,
    record: Sequence[int] | None = None, decay: float = 0.0,
) -> Trajectory:
    """As `stochastic_trajectory_in_law`, from vectors k0 and v0 of shape (repetitions, dim),
    drawing every token."""
    check_stochastic(setting, step_size, decay, batch)
    k0, v0, k_star, v_star = check_vectors(k0, v0, k_star, v_star, setting)
    recorded = steps_to_record(steps, record_every, record)
    uniform = jnp.full(int(setting.length), 1 / setting.length)
    task = SingleLocation(
        int(setting.dim), int(setting.length), setting.gamma, setting.noise, uniform, k_star, v_star
    )
    setting = Setting(*(jnp.asarray(value, float) for value in setting))
    seen = _run(key, k0, v0, task, setting, step_size, decay, with_end(recorded, steps), batch)
    return as_trajectory(recorded, *seen)


def _batch_loss(k, v, sample, inverse_temperature):
    return jnp.mean((erf_predictor(sample.X, k, v, inverse_temperature) - sample.y) ** 2)


@partial(jax.jit, static_argnames="batch")
def _run(key, k0, v0, task, setting, step_size, decay, stops, batch: int) -> tuple[Overlaps, Array]:
    gradients = jax.vmap(jax.grad(_batch_loss, argnums=(0, 1)), in_axes=(0, 0, 0, None))

    def step(state, t):
        keys = jax.random.split(jax.random.fold_in(key, t), len(k0))
        samples = jax.vmap(lambda key: task.sample(key, batch))(keys)
        k, v = state
        k_gradient, v_gradient = gradients(
            k, v, samples, cooled(setting, decay, t).inverse_temperature)
        return sphere_step(k, k_gradient, step_size), sphere_step(v, v_gradient, step_size)

    def observe(state, stop):
        overlaps = overlaps_of(state[0], state[1], task.k_star, task.v_star)
        return overlaps, risk(overlaps, cooled_at(setting, decay, stop))

    return run_recorded(step, observe, (k0, v0), stops)[1]
