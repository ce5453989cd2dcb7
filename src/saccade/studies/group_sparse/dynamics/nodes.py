"""Where the six-number map looks: graded nodes in the deciding signal, random draws of everything
else.

Late in training only |u*| < 1/(D alpha) matters, which plain samples almost never visit. So u* =
|N(0, sigma^2)| sits on Gauss-Legendre nodes of panels that halve towards 0 (the label is +1 without
loss of generality: X -> -X is an exact symmetry). Everything else is drawn INDEPENDENTLY at every
node: draws shared between nodes let b drift and attention stall. The other groups' signals come in
antithetic pairs +-u at fixed u*, which removes the sample correlation of y with their sum.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

PANELS = 16
NODES_PER_PANEL = 4


class Design(NamedTuple):
    """signals[group][pair][draw] with the relevant group first, gram[key][query][1][draw] shared by
    a pair, weights that sum to one."""

    signals: Float[Array, "groups 2 draws"]
    gram: Float[Array, "groups groups 1 draws"]
    weights: Float[Array, "2 draws"]


def graded_half_normal(
    panels: int = PANELS, nodes_per_panel: int = NODES_PER_PANEL
) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights for E over |N(0, 1)|: panels [9 2^{-k-1}, 9 2^{-k}] and a last one down to
    0. Status: quadrature."""
    points, weights = np.polynomial.legendre.leggauss(nodes_per_panel)
    edges = np.concatenate([[0.0], 9.0 * 2.0 ** np.arange(-panels + 1, 1)])
    width = np.diff(edges)[:, None]
    x = (edges[:-1, None] + width * (points + 1) / 2).ravel()
    density = np.sqrt(2 / np.pi) * np.exp(-(x**2) / 2)
    mass = (width * weights / 2).ravel() * density
    return x, mass / mass.sum()


def spread_over_copies(x: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Repeat the heavy nodes, each copy with its own draws: the noise of early steps sits where the
    mass is, that of late steps near 0, and copies in proportion to the square root of a node's mass
    serve both."""
    copies = np.maximum(1, np.rint(16 * np.sqrt(mass))).astype(int)
    return np.repeat(x, copies), np.repeat(mass / copies, copies)


def draw_signals(key: PRNGKeyArray, groups: int, scale, repeats: int):
    """(signals, weights) of a design: `repeats` independent antithetic pairs at every copy of a
    node."""
    x, mass = spread_over_copies(*graded_half_normal())
    others = jax.random.normal(key, (groups - 1, x.shape[0] * repeats))
    deciding = jnp.tile(jnp.asarray(x), repeats)
    signals = jnp.stack([jnp.vstack([deciding[None], sign * others]) for sign in (1, -1)], axis=1)
    weights = jnp.tile(jnp.asarray(mass), repeats) / (2 * repeats)
    return scale * signals, jnp.stack([weights, weights])


def draw_grams(key: PRNGKeyArray, groups: int, group_dim: int, scale, repeats: int, pool: int):
    """`pool` sets of Gram matrices for a design each: K[set][key][query][1][draw], Wishart with d -
    1 degrees of freedom."""
    draws = spread_over_copies(*graded_half_normal())[0].shape[0] * repeats
    rest = jax.random.normal(key, (pool, group_dim - 1, groups, draws))
    return scale**2 * jnp.einsum("pdgn,pdhn->pghn", rest, rest)[:, :, :, None]


def draw_design(key: PRNGKeyArray, groups: int, group_dim: int, scale, repeats: int) -> Design:
    """One whole design: signals, weights and Gram matrices, all fresh."""
    signal_key, gram_key = jax.random.split(key)
    signals, weights = draw_signals(signal_key, groups, scale, repeats)
    return Design(signals, draw_grams(gram_key, groups, group_dim, scale, repeats, 1)[0], weights)
