"""Descent where the attention sees content too: queries and keys are made of patches plus
positions, A_ij + theta x_i x_j before the softmax.

With queries and keys linear in w* x_i + p_i the product has four parts: positions with positions
(A_ij), content with content (theta x_i x_j), and two mixed ones. One of these is constant along a
row and drops out of the softmax; the other, a preference for keys of one sign, has no gradient
where it is zero, because (X, y) -> (-X, -y) leaves the law and the loss alone. So descent on the
population moves four scalars: alpha, gamma, rho and theta. At theta = 0 they are the layer (T).
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from saccade.arrays import Array
from saccade.descent import descend
from saccade.studies.spatial.models import activation
from saccade.studies.spatial.theory.population import mistakes

VALUES = np.asarray([1.0, -1.0, 0.0])
Counts = Int[Array, "images sets 3"]


class Mixed(NamedTuple):
    """v = alpha w*; A within sets, between sets; weight of content."""

    alpha: Any
    gamma: Any
    rho: Any
    theta: Any


class Fixed(NamedTuple):
    """The diagonal beta of A, nu, and C."""

    diagonal: float
    slope: float
    set_size: int


def counts_of(signals: Float[Array, "images patches"], set_size: int) -> Counts:
    """How many patches of each set bear +1, -1 and nothing; sets are runs of C patches."""
    by_set = signals.reshape(len(signals), -1, set_size, 1)
    return np.sum(by_set == VALUES, axis=2)


def content_outputs(at: Mixed, fixed: Fixed, counts: Counts) -> Float[Array, " images"]:
    """F of images given by counts (p = 3). A patch of signal x weighs itself by e^(beta + theta
    x^2), those of its set by e^(gamma + theta x x'), all others by e^(rho + theta x x')."""
    patches = counts.shape[1] * fixed.set_size
    tilt = jnp.exp(at.theta * jnp.asarray(np.outer(VALUES, VALUES)))
    total = counts.sum(axis=1, keepdims=True)
    same, other, own = jnp.exp(at.gamma), jnp.exp(at.rho), jnp.exp(fixed.diagonal)
    weights = (same - other) * counts + other * total  # of all patches, the own one as if another
    self_weight = (own - same) * jnp.diag(tilt)
    below = weights @ tilt + self_weight
    above = (weights * VALUES) @ tilt + self_weight * VALUES
    z = patches * at.alpha * above / below
    return jnp.sum(counts * activation(z, 3, fixed.slope), axis=(1, 2))


def content_loss(at: Mixed, fixed: Fixed, counts: Counts, probability: Array) -> Float[Array, ""]:
    """Mean logistic loss of images of label +1."""
    return probability @ jnp.logaddexp(0.0, -content_outputs(at, fixed, counts))


@partial(jax.jit, static_argnames="fixed")
def content_descent(
    start: Mixed, rates: Mixed, fixed: Fixed, counts: Counts, probability: Array, stops: Array
) -> tuple[Mixed, Array, Array]:
    """Scalars, loss and error at the stops, for a batch of starts and step sizes at once."""

    def one(start: Mixed, rates: Mixed) -> tuple[Mixed, Array, Array]:
        slope = jax.grad(content_loss)

        def step(at: Mixed, _: Array) -> Mixed:
            moves = slope(at, fixed, counts, probability)
            return jax.tree.map(lambda number, rate, pull: number - rate * pull, at, rates, moves)

        def observe(at: Mixed, _: Array) -> tuple[Mixed, Array, Array]:
            F = content_outputs(at, fixed, counts)
            return at, probability @ jnp.logaddexp(0.0, -F), probability @ mistakes(F)

        return descend(step, observe, start, stops)[1]

    return jax.vmap(one)(start, rates)
