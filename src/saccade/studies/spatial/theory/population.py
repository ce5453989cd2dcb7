"""Loss, error and gradient of the three-scalar model over the whole population, as weighted sums
over the states of `states`."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from saccade.studies.spatial.theory.setting import Scalars, Setting, mixing
from saccade.studies.spatial.theory.states import States, exponents

TIE = 1e-9
"""Outputs closer to zero than this share of the largest count as zero: exact ties come out as
+-1e-17 in floats."""


class Population(NamedTuple):
    """Loss, error (a tie counts 1/2) and the gradient: by alpha, and by one entry of A within a set
    and between sets."""

    loss: Any
    error: Any
    grad_alpha: Any
    grad_same: Any
    grad_other: Any


def terms(abc: Float[Array, " 3"], setting: Setting) -> Float[Array, " terms"]:
    """The monomials a^i b^j c^k in the order of the coefficients, and nu (a + C b + D c)."""
    a, b, c = abc
    linear = setting.slope * (a + setting.set_size * b + setting.patches * c)
    powers = [[jnp.ones(())] for _ in range(3)]
    for number, row in zip((a, b, c), powers, strict=True):
        for _ in range(setting.degree):
            row.append(row[-1] * number)
    return jnp.stack([
        *(powers[0][i] * powers[1][j] * powers[2][k] for i, j, k in exponents(setting.degree)),
        linear])


def outputs(
    scalars: Scalars, setting: Setting, coefficients: Float[Array, "terms states"]
) -> Float[Array, " states"]:
    """F of every state at label +1. Status: exact."""
    return terms(mixing(scalars, setting), setting) @ coefficients


def loss(
    scalars: Scalars, setting: Setting, coefficients: Array, probability: Array
) -> Float[Array, ""]:
    """E log(1 + e^(-y F)). Status: exact while `States.thinned` is 0."""
    return probability @ jnp.logaddexp(0.0, -outputs(scalars, setting, coefficients))


def error_of(F: Any, probability: Any) -> float:
    """P[y F < 0] + P[F = 0] / 2, with zero up to `TIE` of the largest |F|."""
    values, weights = np.asarray(F), np.asarray(probability)
    zero = np.abs(values) <= TIE * np.max(np.abs(values))
    return float(weights[(values < 0) & ~zero].sum() + weights[zero].sum() / 2)


def population(scalars: Scalars, setting: Setting, states: States) -> Population:
    """Everything at once, from states of the same D, C, q, p. Status: exact (derivatives by
    automatic differentiation)."""
    coefficients, probability = jnp.asarray(states.coefficients), jnp.asarray(states.probability)
    point = Scalars(*(jnp.asarray(number, float) for number in scalars))
    value, slope = jax.value_and_grad(loss)(point, setting, coefficients, probability)
    same, other = entries(setting)
    error = error_of(outputs(point, setting, coefficients), states.probability)
    grad_same, grad_other = (
        (slope.gamma / same if same else 0.0), (slope.rho / other if other else 0.0))
    return Population(value, error, slope.alpha, grad_same, grad_other)


def entries(setting: Setting) -> tuple[int, int]:
    """How many entries of A share gamma and rho: D (C - 1) and D (D - C). With none the gradient is
    0."""
    return setting.patches * (setting.set_size - 1), setting.patches * (
        setting.patches - setting.set_size)
