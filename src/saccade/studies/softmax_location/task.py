"""Single-location regression, with a choice of how many tokens share the answer.

Tokens are independent given the places: the informative ones N(sqrt(d/2) k*, gamma^2 I), the others
N(0, I); Y is the mean of X_j . v* over the informative tokens, plus noise (Marion, Berthier, Biau,
Boyer 2025, section 2, for one informative token; the mean is what weights that sum to one can
reach).
"""

import math
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.contracts import Kind
from saccade.errors import require


class Sample(NamedTuple):
    """Tokens, targets, and which tokens are informative."""

    X: Float[Array, "samples length dim"]
    y: Float[Array, " samples"]
    where: Bool[Array, "samples length"]


class Search(eqx.Module):
    """The task; k* and v* are the first two axes, which costs no generality."""

    kind: ClassVar[Kind] = "regression"

    dim: int = eqx.field(static=True)
    length: int = eqx.field(static=True)
    gamma: float = math.sqrt(0.5)
    noise: float = 0.0
    informative: int = eqx.field(static=True, default=1)

    def __check_init__(self) -> None:
        require(self.dim >= 2, "dim", self.dim, "must be at least 2")
        require(self.length >= 2, "length", self.length, "must be at least 2")
        fits = 1 <= self.informative < self.length
        rule = f"must lie in 1..{self.length - 1} (length - 1)"
        require(fits, "informative", self.informative, rule)
        require(self.gamma > 0, "gamma", self.gamma, "must be above 0")
        require(self.noise >= 0, "noise", self.noise, "must be at least 0")

    @property
    def truth(self) -> tuple[Float[Array, " dim"], Float[Array, " dim"]]:
        """k* and v*."""
        axes = jnp.eye(self.dim)
        return axes[0], axes[1]

    def sample(self, key: Key[Array, ""], n: int) -> Sample:
        """Draw n independent sequences, the informative places uniform without repetition."""
        place_key, token_key, noise_key = jax.random.split(key, 3)
        order = jax.random.uniform(place_key, (n, self.length))
        where = order >= jnp.sort(order, axis=1)[:, -self.informative, None]
        spread = jnp.where(where, self.gamma, 1.0)[:, :, None]
        X = spread * jax.random.normal(token_key, (n, self.length, self.dim))
        k_star, v_star = self.truth
        X = X + math.sqrt(self.dim / 2) * where[:, :, None] * k_star
        y = jnp.sum(where * (X @ v_star), axis=1) / self.informative
        return Sample(X, y + self.noise * jax.random.normal(noise_key, (n,)), where)

    def log_odds(self, X: Float[Array, "n length dim"]) -> Float[Array, "n length"]:
        """log N(X_l; sqrt(d/2) k*, gamma^2 I)/N(X_l; 0, I), up to a constant. Exact."""
        score = math.sqrt(self.dim / 2) * (X @ self.truth[0]) / self.gamma**2
        return score - (1 / self.gamma**2 - 1) / 2 * jnp.sum(X**2, axis=-1)

    def best(self, X: Float[Array, "n length dim"]) -> Float[Array, " n"]:
        """The Bayes predictor for one informative token, sum_l P(l informative | X) X_l . v*. For
        several the same weights, which are then a guess and not Bayes."""
        return jnp.sum(jax.nn.softmax(self.log_odds(X)) * (X @ self.truth[1]), axis=1)
