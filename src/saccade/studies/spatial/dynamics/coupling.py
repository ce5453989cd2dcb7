"""The semi-idealised process of appendix E.2: the value vector follows a given course along w*,
and the attention descends on the population."""

from functools import partial

import jax
from jaxtyping import Float

from saccade.arrays import Array
from saccade.studies.spatial.dynamics.descent import Scalars, Setting, loss, step_sizes
from saccade.studies.spatial.theory.states import States


def semi_idealised(
    alphas: Float[Array, " steps"], setting: Setting, eta_a: float, states: States
) -> tuple[Array, Array]:
    """gamma and rho after each step, from 0, while alpha takes the given values. Status: exact
    while the states are not thinned."""
    rates = step_sizes(setting, 0.0, eta_a)
    return _attention_alone(alphas, rates, states.coefficients, states.probability, setting)


@partial(jax.jit, static_argnames="setting")
def _attention_alone(
    alphas: Array, rates: Scalars, coefficients: Array, probability: Array, setting: Setting
) -> tuple[Array, Array]:
    def step(at: tuple[Array, Array], alpha: Array) -> tuple[tuple[Array, Array], tuple]:
        pulls = jax.grad(loss)(Scalars(alpha, *at), setting, coefficients, probability)
        moved = at[0] - rates.gamma * pulls.gamma, at[1] - rates.rho * pulls.rho
        return moved, moved

    return jax.lax.scan(step, (0.0, 0.0), alphas)[1]
