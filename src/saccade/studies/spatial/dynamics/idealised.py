"""Descent on the population in three scalars (the idealised problem): v = alpha w*, A = beta,
gamma, rho.

The paper moves v and A with one step size. Then alpha settles at once and gamma needs ten million
steps, so v and A have step sizes of their own here; the paper's choice is `eta_a = eta_v`. `eta_a`
is per entry of A: the shared scalar gamma moves by eta_a times the gradient of ONE entry, as it
does when all entries of A are trained.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from saccade.errors import Diverged, require
from saccade.studies.spatial.theory import (
    Scalars,
    Setting,
    States,
    check_setting,
    entries,
    error_of,
    loss,
    outputs,
    population_states,
    thinned,
)

MOST_STATE_STEPS = 60_000_000


class Path(NamedTuple):
    """The scalars before every step and after the last (steps + 1 rows), the loss before every
    step, and the states used."""

    scalars: Scalars
    loss: Float[Array, " steps"]
    states: States


class Field(NamedTuple):
    """Loss and gradients over a grid of (alpha, gamma)."""

    loss: Array
    grad_alpha: Array
    grad_same: Array
    grad_other: Array


def states_for(setting: Setting, steps: int) -> States:
    """The population's states, thinned when they times the steps would take too long."""
    made = population_states(
        setting.patches, setting.set_size, setting.spurious_rate, setting.degree)
    return thinned(made, max(2000, MOST_STATE_STEPS // max(steps, 1)))


def idealised_descent(
    start: Scalars, setting: Setting, eta_v: float, eta_a: float, steps: int,
    states: States | None = None,
) -> Path:
    """Gradient descent on the population loss: alpha -= eta_v dl/dalpha, gamma -= eta_a dl/dA_same,
    rho -= eta_a dl/dA_other.

    Status: exact while the states are not thinned. Raises `Diverged` when a number leaves the
    finite ones.
    """
    check_setting(setting)
    require(steps >= 1, "steps", steps, "must be at least 1")
    used = states_for(setting, steps) if states is None else states
    same, other = entries(setting)
    rates = Scalars(eta_v, eta_a / same if same else 0.0, eta_a / other if other else 0.0)
    first = Scalars(*(jnp.asarray(number, float) for number in start))
    path, losses = _run(
        first, setting, rates, jnp.asarray(used.coefficients), jnp.asarray(used.probability), steps)
    _check_finite(path, losses, eta_v, eta_a)
    return Path(path, losses, used)


@partial(jax.jit, static_argnames=("steps", "setting"))
def _run(
    start: Scalars, setting: Setting, rates: Scalars, coefficients: Array, probability: Array,
    steps: int,
) -> tuple[Scalars, Array]:
    def step(at: Scalars, _: None) -> tuple[Scalars, tuple[Scalars, Array]]:
        value, slope = jax.value_and_grad(loss)(at, setting, coefficients, probability)
        moved = jax.tree.map(lambda number, rate, pull: number - rate * pull, at, rates, slope)
        return moved, (at, value)

    last, (before, losses) = jax.lax.scan(step, start, None, length=steps)
    return jax.tree.map(lambda rows, end: jnp.concatenate([rows, end[None]]), before, last), losses


def _check_finite(path: Scalars, losses: Array, eta_v: float, eta_a: float) -> None:
    finite = np.isfinite(
        np.asarray(path.alpha[1:] + path.gamma[1:] + path.rho[1:]) + np.asarray(losses))
    if not finite.all():
        step = int(np.argmin(finite)) + 1
        raise Diverged(
            f"eta_v = {eta_v!r}, eta_a = {eta_a!r} left the finite numbers at step {step}; try a"
            " smaller eta_v.")


def errors_along(path: Path, setting: Setting, at: np.ndarray) -> np.ndarray:
    """The error (ties 1/2) at the chosen rows of a path."""
    coefficients = jnp.asarray(path.states.coefficients)
    rows = [Scalars(*(numbers[int(row)] for numbers in path.scalars)) for row in at]
    return np.asarray(
        [error_of(outputs(row, setting, coefficients), path.states.probability) for row in rows])


def few_states(setting: Setting, most: int) -> States:
    """At most about `most` states of the population, thinned while they are listed when they are
    many: quick, and exact if they fit."""
    check_setting(setting)
    sizes = setting.patches, setting.set_size, setting.spurious_rate, setting.degree
    return thinned(population_states(*sizes, False, max(4 * most, 20_000)), most)


@partial(jax.jit, static_argnames=("setting",))
def _field(
    alpha: Array, gamma: Array, rho: Array, setting: Setting, coefficients: Array,
    probability: Array,
) -> Field:
    same, other = entries(setting)

    def one(alpha: Array, gamma: Array, rho: Array) -> Field:
        value, slope = jax.value_and_grad(loss)(
            Scalars(alpha, gamma, rho), setting, coefficients, probability)
        return Field(value, slope.alpha, slope.gamma / max(same, 1), slope.rho / max(other, 1))

    pairs = jnp.broadcast_arrays(alpha[:, None], gamma[None, :], rho[None, :])
    flat = jax.lax.map(lambda row: one(*row), tuple(part.ravel() for part in pairs))
    return Field(*(part.reshape(pairs[0].shape) for part in flat))


def descent_field(alpha: Any, gamma: Any, rho: Any, setting: Setting, states: States) -> Field:
    """Loss and gradients (by alpha and by one entry of A) on the grid alpha x gamma, with rho given
    for each gamma."""
    arrays = (jnp.asarray(numbers, float) for numbers in (alpha, gamma, rho))
    return _field(
        *arrays, setting, jnp.asarray(states.coefficients), jnp.asarray(states.probability))
