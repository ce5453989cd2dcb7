"""The exact reduction: from zero, population descent of the full layer lives in eight coordinates,
six of them free. Status: exact.

The flow keeps v1 = alpha v*, v2 = 0, W12 = W21 = 0, W11 = a v*v*^T + b (I - v*v*^T), and M := P^T
W22 P (the position part of the scores, M[key][query]) constant on five orbits: ss = (j*, j*), so =
(j*, j), os = (i, j*), dd = (j, j), oo = (i, j), with i != j both other than j*. Why: X -> -X flips
y and f, which kills v2, W12, W21; rotations that fix v* force W11; permuting the other groups gives
the orbits (here P^T P = c I is used). Columns of M keep the sum 0 (softmax gauge), so A = m_ss -
m_os, B = m_so - m_oo, C = m_dd - m_oo say everything.

Descent in these coordinates is th <- th - eta * preconditioner * dL/dth: 1/(size of the orbit)
undoes counting an entry many times, c^2 comes from moving W22 instead of M. d = 1 has no b, D = 2
has no oo: their preconditioner is 0.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from saccade.arrays import namespace


class Gaps(NamedTuple):
    """A = m_ss - m_os, B = m_so - m_oo, C = m_dd - m_oo."""

    A: Float[Array, "..."]
    B: Float[Array, "..."]
    C: Float[Array, "..."]


def gaps(coordinates: Float[Array, "... 8"]) -> Gaps:
    """The three gauge-free position numbers of the eight coordinates."""
    ss, so, os_, dd, oo = jnp.moveaxis(coordinates[..., 3:], -1, 0)
    return Gaps(ss - os_, so - oo, dd - oo)


def coordinates_from_gaps(
    groups: int, alpha=0.0, a=0.0, b=0.0, A=0.0, B=0.0, C=0.0
) -> Float[Array, " 8"]:
    """With zero column sums: m_os = -A/D, m_oo = -(B + C)/D, and the others by the gaps."""
    os_, oo = -A / groups, -(B + C) / groups
    return jnp.asarray(np.array([alpha, a, b, os_ + A, oo + B, os_, oo + C, oo], float))


def position_scores(
    orbits: Float[Array, " 5"], groups: int, relevant: int | Int[Array, ""]
) -> Float[Array, "groups groups"]:
    """M[key][query] from (m_ss, m_so, m_os, m_dd, m_oo)."""
    where = namespace(orbits, relevant).where
    ss, so, os_, dd, oo = orbits
    chosen = np.arange(groups) == relevant
    key, query = chosen[:, None], chosen[None, :]
    others = where(np.eye(groups, dtype=bool), dd, oo)
    return where(key & query, ss, where(key, so, where(query, os_, others)))


def position_matrix(
    orbits: Float[Array, " 5"], encoding_matrix: Float[Array, "encoding_dim groups"],
    relevant: int | Int[Array, ""],
) -> Float[Array, "encoding_dim encoding_dim"]:
    """W22 = P M P^T / c^2, for encodings with P^T P = c I; then P^T W22 P = M."""
    groups = encoding_matrix.shape[1]
    gram_scale = jnp.sum(encoding_matrix**2) / groups
    scores = position_scores(orbits, groups, relevant)
    return encoding_matrix @ scores @ encoding_matrix.T / gram_scale**2


def feature_matrix(
    a, b, direction: Float[Array, " group_dim"]
) -> Float[Array, "group_dim group_dim"]:
    """W11 = a v*v*^T + b (I - v*v*^T), for a unit vector v*."""
    along = jnp.outer(direction, direction)
    return a * along + b * (jnp.eye(direction.shape[0]) - along)


def preconditioner(groups: int, group_dim: int, gram_scale: float) -> Float[Array, " 8"]:
    """[1, 1, 1/(d-1), c^2, c^2/(D-1), c^2/(D-1), c^2/(D-1), c^2/((D-1)(D-2))], zero where the
    coordinate does not exist."""
    square, others = gram_scale**2, groups - 1
    orthogonal = 1 / (group_dim - 1) if group_dim > 1 else 0.0
    pairs = square / (others * (groups - 2)) if groups > 2 else 0.0
    return jnp.asarray(np.array([1, 1, orthogonal, square, *[square / others] * 3, pairs], float))


def lemma_direction(groups: int, relevant: int) -> Float[np.ndarray, "groups groups"]:
    """The paper's leading direction of W22, seen in M: (e_{j*} - 1/D) 1^T, the image of (sum_j
    (p_{j*} - p_j)) (sum_j p_j)^T."""
    return np.outer((np.arange(groups) == relevant) - 1 / groups, np.ones(groups))
