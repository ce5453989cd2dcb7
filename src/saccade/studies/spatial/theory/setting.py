"""What fixes a population of the spatial study, and the three weights of its attention."""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from saccade.errors import require
from saccade.studies.spatial.task import check_rate, check_sizes

MOST_PATCHES = 10_000


class Setting(NamedTuple):
    """D, C, q, p, nu, the fixed diagonal beta of A, and the temperature tau."""

    patches: int
    set_size: int
    spurious_rate: float
    degree: int = 3
    slope: float = 1e-4
    diagonal: float = 1.0
    temperature: float = 1.0

    @property
    def sets(self) -> int:
        return self.patches // self.set_size


class Scalars(NamedTuple):
    """The three numbers that descent on the population moves: v = alpha w*, A = gamma within sets
    and rho between them (Lemma 4.1)."""

    alpha: Any
    gamma: Any
    rho: Any


class Weights(NamedTuple):
    """Attention weights Lambda (of the patch itself), Gamma (of the rest of its set), Xi (of any
    other patch), and the gain G."""

    diagonal: Any
    same: Any
    other: Any
    gain: Any


def check_setting(setting: Setting) -> None:
    """Refuse what is not a population: sizes, rate, an even degree, a temperature of 0."""
    check_sizes(setting.patches, setting.set_size)
    require(
        setting.patches <= MOST_PATCHES, "patches", setting.patches,
        f"must be at most {MOST_PATCHES}")
    check_rate(setting.spurious_rate)
    check_activation(setting.degree, setting.slope)
    require(bool(np.isfinite(setting.diagonal)), "diagonal", setting.diagonal, "must be finite")
    require(setting.temperature > 0, "temperature", setting.temperature, "must be above 0")


def check_activation(degree: int, slope: float) -> None:
    """p is odd and at least 3 (p = 1 would be a linear model), nu is not negative."""
    require(
        degree >= 3 and degree % 2 == 1, "degree", degree,
        "must be an odd whole number of at least 3")
    require(bool(slope >= 0), "slope", slope, "must be at least 0")


def attention_weights(setting: Setting, gamma: Any, rho: Any) -> Weights:
    """Lambda, Gamma, Xi = e^beta, e^gamma, e^rho over Z = e^beta + (C-1) e^gamma + (D-C) e^rho, all
    at temperature tau, and G = D (Lambda + (C-1) Gamma). Source: section 4.1. Status: exact, and
    safe for large entries."""
    entries = (
        jnp.stack([jnp.asarray(entry, float) for entry in (setting.diagonal, gamma, rho)])
        / setting.temperature)
    numbers = jnp.asarray([1.0, setting.set_size - 1.0, float(setting.patches - setting.set_size)])
    top = jnp.max(jnp.where(numbers > 0, entries, -jnp.inf))
    raised = jnp.exp(jnp.where(numbers > 0, entries - top, jnp.minimum(entries - top, 0.0)))
    own, same, other = raised / jnp.sum(numbers * raised)
    return Weights(own, same, other, setting.patches * (own + (setting.set_size - 1) * same))


def mixing(scalars: Scalars, setting: Setting) -> Float[Array, " 3"]:
    """(a, b, c) such that a patch of signal x in a set of sum s, in an image of sum K, gets z = a x
    + b s + c K: a = D alpha (Lambda - Gamma), b = D alpha (Gamma - Xi), c = D alpha Xi. Status:
    exact."""
    own, same, other, _ = attention_weights(setting, scalars.gamma, scalars.rho)
    return setting.patches * scalars.alpha * jnp.stack([own - same, same - other, other])
