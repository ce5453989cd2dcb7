"""Loss and gradient of the full layer in the eight reduced coordinates, from the signals u_i = <v*,
x_i> and the Gram of the rest. Status: exact.

scores[key i][query j] = a u_i u_j + b K_ij + M_ij with K = r^T r the Gram of the parts of x
orthogonal to v*. With S the softmax over keys, ubar_j = sum_i S_ij u_i, f = alpha sum_j ubar_j, r =
-y sigmoid(-y f) and G_ij = r alpha S_ij (u_i - ubar_j) = d loss / d score_ij:
    d/dalpha = r sum_j ubar_j,        d/da = sum G_ij u_i u_j,
    d/db     = sum G_ij K_ij,         d/dm = sum of G over the orbit.
Columns of G sum to zero, so the os and oo sums follow from the others. Groups come first and
samples last in every array, so that each elementary operation runs over a contiguous stretch of
samples; the relevant group is index 0.

Beside it the way between the eight coordinates and the full weights, in both directions. Status:
exact (for encodings with P^T P = c I).
"""

import math
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from saccade.errors import require
from saccade.studies.group_sparse.models.layer import Parameters, from_blocks
from saccade.studies.group_sparse.task import (
    GroupSparseTask,
    check_direction,
    check_relevant,
    gram_scale_of,
)
from saccade.studies.group_sparse.theory import reduction


class ReducedGradient(NamedTuple):
    """The weighted mean loss, its eight plain partial derivatives in the order of `COORDINATES`,
    and the mean attention S_{j*,j}."""

    loss: Float[Array, ""]
    gradient: Float[Array, " 8"]
    attention: Float[Array, ""]


def reduced_loss_and_gradient(
    coordinates: Float[Array, " 8"], signals: Float[Array, "groups ..."],
    gram: Float[Array, "groups groups ..."], labels: Float[Array, "..."],
    weights: Float[Array, "..."],
) -> ReducedGradient:
    """Traceable; `weights` sum to one over the batch, `gram` may broadcast over batch axes, the
    relevant group is index 0."""
    alpha, a, b, ss, so, os_, dd, oo = coordinates
    groups = signals.shape[0]
    positions = (
        jnp.where(jnp.eye(groups, dtype=bool), dd, oo)
        .at[0]
        .set(so)
        .at[:, 0]
        .set(os_)
        .at[0, 0]
        .set(ss))
    positions = positions.reshape(groups, groups, *[1] * (signals.ndim - 1))
    keys, queries = signals[:, None], signals[None, :]
    attention = jax.nn.softmax(a * keys * queries + b * gram + positions, axis=0)
    mean = jnp.sum(attention * keys, axis=0)
    total = jnp.sum(mean, axis=0)
    residual = -weights * labels * jax.nn.sigmoid(-labels * alpha * total)
    force = attention * (keys - mean)
    on_a = jnp.sum(force * keys * queries, axis=(0, 1))
    on_b = jnp.sum(force * gram, axis=(0, 1))
    ss_force, row, trace = force[0, 0], jnp.sum(force[0], axis=0), jnp.einsum("ii...->...", force)
    so_force, dd_force = row - ss_force, trace - ss_force
    parts = [on_a, on_b, ss_force, so_force, -ss_force, dd_force, -(so_force + dd_force)]
    gradient = [jnp.sum(residual * total), *[alpha * jnp.sum(residual * part) for part in parts]]
    loss = jnp.sum(weights * jax.nn.softplus(-labels * alpha * total))
    looked = jnp.sum(weights * jnp.mean(attention[0], axis=0))
    return ReducedGradient(loss, jnp.stack(gradient), looked)


@partial(jax.jit, static_argnames=("relevant",))
def signals_and_gram(X: Float[Array, "n groups group_dim"], direction, relevant: int):
    """(u, K, y) of explicit data, the relevant group moved to index 0 and samples moved last;
    sign(0) = +1."""
    order = np.concatenate([[relevant], np.delete(np.arange(X.shape[1]), relevant)])
    ordered = X[:, order]
    signals = jnp.einsum("ngd,d->gn", ordered, direction)
    gram = jnp.einsum("ngd,nhd->ghn", ordered, ordered) - signals[:, None] * signals[None, :]
    return signals, gram, jnp.where(signals[0] >= 0, 1.0, -1.0)


_compiled_gradient = jax.jit(reduced_loss_and_gradient)


def reduced_gradient(
    X: Float[Array, "n groups group_dim"], direction, relevant: int, coordinates,
    gram_scale: float | None = None,
) -> tuple[ReducedGradient, Float[Array, " 8"]]:
    """Loss and gradient on explicit data, and the preconditioner that turns
    it into a step of the full layer."""
    samples, groups, group_dim = X.shape
    point = jnp.asarray(coordinates, dtype=float)
    require(
        point.shape == (8,), "coordinates", coordinates,
        "must be eight numbers: alpha, a, b, m_ss, m_so, m_os, m_dd, m_oo")
    signals, gram, labels = signals_and_gram(
        X, check_direction(direction, group_dim), check_relevant(relevant, groups))
    weights = jnp.full(samples, 1 / samples)
    answer = _compiled_gradient(point, signals, gram, labels, weights)
    return answer, reduction.preconditioner(groups, group_dim, gram_scale_of(groups, gram_scale))


@jax.jit
def parameters_of(
    coordinates: Float[Array, " 8"], task: GroupSparseTask,
    encoding_matrix: Float[Array, "encoding_dim groups"],
) -> Parameters:
    """The layer whose reduced coordinates these are: W(T*) for transfer, from a reduced run."""
    features = reduction.feature_matrix(coordinates[1], coordinates[2], task.direction)
    positions = reduction.position_matrix(coordinates[3:], encoding_matrix, task.relevant)
    return from_blocks(features, positions, coordinates[0] * task.direction)


@jax.jit
def coordinates_of(
    parameters: Parameters, task: GroupSparseTask,
    encoding_matrix: Float[Array, "encoding_dim groups"],
) -> Float[Array, " 8"]:
    """The orthogonal projection of a layer on the invariant subspace: each coordinate is the mean
    of the entries it stands for."""
    d, groups = task.dim, task.length
    weights, direction = parameters.attention[0], task.direction
    features, scores = weights[:d, :d], encoding_matrix.T @ weights[d:, d:] @ encoding_matrix
    along = direction @ features @ direction
    across = (jnp.trace(features) - along) / max(d - 1, 1)
    row, column, trace = (
        scores[task.relevant].sum(), scores[:, task.relevant].sum(), jnp.trace(scores))
    ss, others = scores[task.relevant, task.relevant], groups - 1
    off_diagonal = scores.sum() - row - column + ss - (trace - ss)
    orbits = (
        ss, (row - ss) / others, (column - ss) / others, (trace - ss) / others,
        off_diagonal / max(others * (groups - 2), 1))
    return jnp.stack([parameters.value[:d] @ direction, along, across, *orbits])


def selecting_parameters(
    attention: float, task: GroupSparseTask, encoding_matrix: Float[Array, "encoding_dim groups"]
) -> Parameters:
    """The state of the position-only map at which attention on the relevant group is s =
    `attention`: W of a learned selector, v = 0.

    A = log((D-1) s / (1-s)) and B = A, C = 0, a = b = 0; s = 1/D is the zero start.
    """
    gap = math.log((task.length - 1) * attention / (1 - attention))
    point = reduction.coordinates_from_gaps(task.length, A=gap, B=gap)
    return parameters_of(point, task, encoding_matrix)
