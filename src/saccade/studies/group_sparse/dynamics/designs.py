"""Where the six-number map looks: graded nodes in the deciding signal, random draws of everything
else.

Late in training only |u*| < 1/(D alpha) matters, which plain samples almost never visit. So u* =
|N(0, sigma^2)| sits on Gauss-Legendre nodes of panels that halve towards 0 (the label is +1 without
loss of generality: X -> -X is an exact symmetry). Everything else is drawn INDEPENDENTLY at every
node: draws shared between nodes let b drift and attention stall. The other groups' signals come in
antithetic pairs +-u at fixed u*, which removes the sample correlation of y with their sum.

The position-only model as a control variate for the six-number map: same samples, expectation
known. Status: quadrature.

The gradient of the full layer differs little from that of the position-only layer with the same
alpha and gap, and the expectation of the latter is known (`theory.position`). So
mean(full - position-only) + E[position-only] estimates the same population gradient with less noise
where the two layers are close. Measured at D = 8, d = 4, eta = 0.2 (300 designs): below a
thousandth of the variance up to step 10; from step 100 to 2000 about 0.55 of it for alpha, 0.35 for
ss, 0.77 for so, 0.38 for b, but 2.4 times MORE for a, whose control would want a smaller
coefficient. With weights S = (s, (1-s)/(D-1), ..) for every query, w = sum_i S_i u_i, c_i = S_i
(u_i - w), p = sigmoid(-alpha D w) and k_i = sum_j K_ij, the gradient is
    alpha: -p D w        ss: -p alpha c_0        so: (D-1) times that        dd: +p alpha c_0
    a: -p alpha (sum_j u_j)(sum_i c_i u_i)       b: -p alpha sum_i c_i k_i
k is independent of the signals and its mean does not depend on i, so b has expectation 0. For a,
sum_i c_i u_i has the conditional mean s (1-s) (u-m)^2 + (1-s) sigma^2 (D-2)/(D-1) given (u, m),
which leaves a two-dimensional quadrature.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from saccade.studies.group_sparse.theory import position

PANELS = 16
NODES_PER_PANEL = 4
HERMITE_NODES = 24


class Design(NamedTuple):
    """signals[group][pair][draw] with the relevant group first, gram[key][query][1][draw] shared by
    a pair, weights that sum to one."""

    signals: Float[Array, "groups 2 draws"]
    gram: Float[Array, "groups groups 1 draws"]
    weights: Float[Array, "2 draws"]


def graded_half_normal() -> tuple[np.ndarray, np.ndarray]:
    """Quadrature for E over |N(0, 1)|: panels [9 2^{-k-1}, 9 2^{-k}], the last down to 0."""
    points, weights = np.polynomial.legendre.leggauss(NODES_PER_PANEL)
    edges = np.concatenate([[0.0], 9.0 * 2.0 ** np.arange(-PANELS + 1, 1)])
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
    """(signals, weights) of a design: `repeats` antithetic pairs at every copy of a node."""
    x, mass = spread_over_copies(*graded_half_normal())
    others = jax.random.normal(key, (groups - 1, x.shape[0] * repeats))
    deciding = jnp.tile(jnp.asarray(x), repeats)
    signals = jnp.stack([jnp.vstack([deciding[None], sign * others]) for sign in (1, -1)], axis=1)
    weights = jnp.tile(jnp.asarray(mass), repeats) / (2 * repeats)
    return scale * signals, jnp.stack([weights, weights])


def draw_grams(key: PRNGKeyArray, groups: int, group_dim: int, scale, repeats: int, pool: int):
    """`pool` sets of Gram matrices K[set][key][query][1][draw], Wishart with d - 1 degrees."""
    draws = spread_over_copies(*graded_half_normal())[0].shape[0] * repeats
    rest = jax.random.normal(key, (pool, group_dim - 1, groups, draws))
    return scale**2 * jnp.einsum("pdgn,pdhn->pghn", rest, rest)[:, :, :, None]


def _assemble(alpha, on_alpha, on_a, on_b, own, groups) -> Float[Array, " 8"]:
    """The eight components from four: `own`, the ss force per unit alpha, gives all orbits."""
    others = groups - 1
    orbits = own, others * own, -own, -own, -(others - 1) * own
    return jnp.stack([on_alpha, alpha * on_a, alpha * on_b, *[alpha * orbit for orbit in orbits]])


def sampled_control(alpha, gap, design: Design) -> tuple[Float[Array, ""], Float[Array, " 8"]]:
    """Loss and gradient of the position-only layer on the design."""
    signals = design.signals
    groups = signals.shape[0]
    s, rest = position.attention_from_gap(gap, groups)
    shares = jnp.full(groups, rest / (groups - 1)).at[0].set(s)[:, None, None]
    w = jnp.sum(shares * signals, axis=0)
    centred = shares * (signals - w)
    residual = -design.weights * jax.nn.sigmoid(-alpha * groups * w)
    on_a = jnp.sum(residual * jnp.sum(signals, axis=0) * jnp.sum(centred * signals, axis=0))
    on_b = jnp.sum(residual * jnp.sum(centred * jnp.sum(design.gram, axis=1), axis=0))
    loss = jnp.sum(design.weights * jax.nn.softplus(-alpha * groups * w))
    own = jnp.sum(residual * centred[0])
    return loss, _assemble(alpha, jnp.sum(residual * groups * w), on_a, on_b, own, groups)


def expected_control(alpha, gap, groups: int, scale) -> tuple[Float[Array, ""], Float[Array, " 8"]]:
    """The population values of `sampled_control`."""
    forces = position.population_forces(alpha, gap, groups, scale)
    s, rest = position.attention_from_gap(gap, groups)
    on_a = _expected_feature_force(alpha, s, rest, groups, scale)
    gradient = _assemble(
        alpha, -forces.alpha_force, on_a, 0.0, -s * rest * forces.attention_force, groups)
    return position.population_loss(alpha, gap, groups, scale), gradient


def _expected_feature_force(alpha, s, rest, groups: int, scale) -> Float[Array, ""]:
    """E[-p (u + (D-1) m) (s (1-s) (u-m)^2 + (1-s) sigma^2 (D-2)/(D-1))] over u = |N|, m: graded
    nodes times Gauss-Hermite."""
    x, mass = graded_half_normal()
    points, weights = np.polynomial.hermite_e.hermegauss(HERMITE_NODES)
    u = scale * jnp.asarray(x)[:, None]
    m = scale * jnp.asarray(points / np.sqrt(groups - 1))[None, :]
    probability = jax.nn.sigmoid(-alpha * groups * (s * u + rest * m))
    spread = s * rest * (u - m) ** 2 + rest * scale**2 * (groups - 2) / (groups - 1)
    both = jnp.asarray(np.outer(mass, weights / weights.sum()))
    return -jnp.sum(both * probability * (u + (groups - 1) * m) * spread)
