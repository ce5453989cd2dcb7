"""Descent on the population in three scalars, v = alpha w* and A = beta, gamma, rho (idealised).

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

from saccade.descent import descend, watch, watched
from saccade.errors import require
from saccade.studies.spatial.dynamics import refuse_divergence
from saccade.studies.spatial.theory import population as exact
from saccade.studies.spatial.theory.population import Scalars, Setting, loss
from saccade.studies.spatial.theory.states import States, thinned

MOST_STATE_STEPS = 60_000_000


class Path(NamedTuple):
    """The scalars and the loss after each number of steps asked for, and the states used."""

    scalars: Scalars
    loss: Float[Array, " stops"]
    states: States


def states_for(setting: Setting, steps: int) -> States:
    """The population's states, thinned when they times the steps would take too long."""
    return thinned(setting.states(), max(500, MOST_STATE_STEPS // max(steps, 1)))


def few_states(setting: Setting, most: int) -> States:
    """About `most` states at most, thinned while they are listed: quick, and exact if they fit."""
    exact.check_setting(setting)
    return thinned(setting.states(most=max(4 * most, 20_000)), most)


def idealised_descent(
    start: Scalars, setting: Setting, eta_v: float, eta_a: float, stops: Any,
    states: States | None = None,
) -> Path:
    """Gradient descent on the population loss: alpha -= eta_v dl/dalpha, gamma -= eta_a dl/dA_same,
    rho -= eta_a dl/dA_other, seen after each number of steps in the ascending `stops`.

    Status: exact while the states are not thinned. Raises `Diverged`, with the step.
    """
    exact.check_setting(setting)
    require(stops[-1] >= 1, "steps", int(stops[-1]), "must be at least 1")
    used = states_for(setting, int(stops[-1])) if states is None else states
    first = Scalars(*(jnp.asarray(number, float) for number in start))
    scalars, losses, diverged_at = population_descent(
        first, exact.step_sizes(setting, eta_v, eta_a), used.coefficients, used.probability,
        setting._replace(spurious_rate=0.0), np.asarray(stops))
    refuse_divergence(diverged_at, eta_v, eta_a)
    return Path(scalars, losses, used)


@partial(jax.jit, static_argnames="setting")
def population_descent(
    start: Scalars, rates: Scalars, coefficients: Array, probability: Array, setting: Setting,
    stops: Array,
) -> tuple[Scalars, Array, Array]:
    """Scalars and losses at the stops, and the step at which descent diverged (-1: it did not).
    The spurious rate is in the states alone, so one program serves all rates."""

    def step(at: Scalars, _: Array) -> Scalars:
        gradient = jax.grad(loss)(at, setting, coefficients, probability)
        return jax.tree.map(lambda number, rate, pull: number - rate * pull, at, rates, gradient)

    def observe(now: Any, _: Array) -> tuple[Scalars, Array]:
        return now.state, loss(now.state, setting, coefficients, probability)

    end, (scalars, losses) = descend(watched(step), observe, watch(start), stops)
    return scalars, losses, end.diverged_at


def errors_along(path: Path, setting: Setting) -> np.ndarray:
    """The error (ties 1/2) at every stop of a path."""
    coefficients = jnp.asarray(path.states.coefficients)
    rows = [Scalars(*row) for row in zip(*path.scalars, strict=True)]
    return np.asarray([
        exact.error_of(exact.outputs(row, setting, coefficients), path.states.probability)
        for row in rows])


@partial(jax.jit, static_argnames="setting")
def descent_field(
    alpha: Float[Array, " alphas"], gamma: Float[Array, " gammas"], rho: Float[Array, " gammas"],
    rates: Scalars, coefficients: Array, probability: Array, setting: Setting,
) -> tuple[Array, Scalars]:
    """The loss and one step of descent on the grid alpha x gamma, with rho given for each gamma."""

    def one(at: tuple[Array, ...]) -> tuple[Array, Scalars]:
        value, gradient = jax.value_and_grad(loss)(Scalars(*at), setting, coefficients, probability)
        return value, jax.tree.map(lambda rate, pull: -rate * pull, rates, gradient)

    grid = jnp.broadcast_arrays(alpha[:, None], gamma, rho)
    flat = jax.lax.map(one, tuple(part.ravel() for part in grid))
    return jax.tree.map(lambda part: part.reshape(grid[0].shape), flat)
