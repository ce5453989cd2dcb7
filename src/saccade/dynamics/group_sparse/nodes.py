"""Where the six-number map looks: graded nodes in the deciding signal, random draws of everything else.

Late in training only |u*| < 1/(D alpha) matters, which plain samples almost never visit: at alpha = 9, D = 4 four thousand of
them leave 7 % noise in
the loss. So u* = |N(0, sigma^2)| sits on Gauss-Legendre nodes of panels that halve towards 0 (the label is +1 without loss of
generality: X -> -X is
an exact symmetry). Everything else is drawn INDEPENDENTLY at every node: draws shared between nodes let b drift and attention stall.
The other groups' signals come in antithetic pairs +-u at fixed u*, which removes the sample correlation of y with their sum.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

PANELS = 16
NODES_PER_PANEL = 4


class Design(NamedTuple):
    """signals[group][pair][draw] with the relevant group first, gram[key][query][1][draw] shared by a pair, weights that sum to one."""

    signals: Float[Array, "groups 2 draws"]
    gram: Float[Array, "groups groups 1 draws"]
    weights: Float[Array, "2 draws"]


def graded_half_normal(panels: int = PANELS, nodes_per_panel: int = NODES_PER_PANEL) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights for E over |N(0, 1)|: panels [9 2^{-k-1}, 9 2^{-k}] and a last one down to 0. Status: quadrature."""
    points, weights = np.polynomial.legendre.leggauss(nodes_per_panel)
    edges = np.concatenate([[0.0], 9.0 * 2.0 ** np.arange(-panels + 1, 1)])
    width = np.diff(edges)[:, None]
    x = (edges[:-1, None] + width * (points + 1) / 2).ravel()
    density = np.sqrt(2 / np.pi) * np.exp(-(x**2) / 2)
    mass = (width * weights / 2).ravel() * density
    return x, mass / mass.sum()


def spread_over_copies(x: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Repeat the heavy nodes, each copy with its own draws: the noise of early steps sits where the mass is, that of late steps near 0, and
    copies in proportion to the square root of a node's mass serve both."""
    copies = np.maximum(1, np.rint(16 * np.sqrt(mass))).astype(int)
    return np.repeat(x, copies), np.repeat(mass / copies, copies)


def draw_design(key: PRNGKeyArray, groups: int, group_dim: int, scale, repeats: int) -> Design:
    """`repeats` independent pairs at each of the graded nodes: 2 * repeats * nodes evaluations of the layer."""
    x, mass = spread_over_copies(*graded_half_normal())
    draws = x.shape[0] * repeats
    # One draw for everything: compiling the generator is the dearest part of a short run.
    numbers = jax.random.normal(key, (groups - 1 + (group_dim - 1) * groups, draws))
    others, rest = numbers[: groups - 1], numbers[groups - 1 :].reshape(group_dim - 1, groups, draws)
    deciding = jnp.tile(jnp.asarray(x), repeats)
    signals = jnp.stack([jnp.vstack([deciding[None], sign * others]) for sign in (1, -1)], axis=1)
    gram = jnp.einsum("dgn,dhn->ghn", rest, rest)[:, :, None]
    weights = jnp.tile(jnp.asarray(mass), repeats) / (2 * repeats)
    return Design(scale * signals, scale**2 * gram, jnp.stack([weights, weights]))
