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
from saccade.studies.group_sparse import models
from saccade.studies.group_sparse.models import Inputs, Matrix, Parameters, Transformer
from saccade.studies.group_sparse.task import GroupSparseTask, check_direction, whole_number
from saccade.studies.group_sparse.theory import reduction


class ReducedGradient(NamedTuple):
    """The weighted mean loss, its eight partial derivatives, the mean attention S_{j*,j}."""

    loss: Float[Array, ""]
    gradient: Float[Array, " 8"]
    attention: Float[Array, ""]


def loss_and_gradient(
    coordinates: Float[Array, " 8"], signals: Float[Array, "groups ..."],
    gram: Float[Array, "groups groups ..."], labels: Float[Array, "..."],
    weights: Float[Array, "..."],
) -> ReducedGradient:
    """Traceable; `weights` sum to one, `gram` may broadcast, the relevant group is index 0."""
    alpha, a, b = coordinates[:3]
    groups = signals.shape[0]
    positions = reduction.position_scores(coordinates[3:], groups, 0).reshape(
        groups, groups, *[1] * (signals.ndim - 1))
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
def signals_and_gram(X: Inputs, direction, relevant: int):
    """(u, K, y) of explicit data, relevant group first and samples last; sign(0) = +1."""
    order = np.concatenate([[relevant], np.delete(np.arange(X.shape[1]), relevant)])
    ordered = X[:, order]
    signals = jnp.einsum("ngd,d->gn", ordered, direction)
    gram = jnp.einsum("ngd,nhd->ghn", ordered, ordered) - signals[:, None] * signals[None, :]
    return signals, gram, jnp.where(signals[0] >= 0, 1.0, -1.0)


_compiled_gradient = jax.jit(loss_and_gradient)


def reduced_gradient(
    X: Inputs, direction, relevant: int, coordinates, gram_scale: float | None = None
) -> tuple[ReducedGradient, Float[Array, " 8"]]:
    """Loss and gradient on explicit data, and the preconditioner of a full layer's step."""
    samples, groups, group_dim = X.shape
    point = np.asarray(coordinates, dtype=float)
    require(
        point.shape == (8,), "coordinates", coordinates,
        "must be eight numbers: alpha, a, b, m_ss, m_so, m_os, m_dd, m_oo")
    signals, gram, labels = signals_and_gram(
        X, check_direction(direction, group_dim), whole_number(relevant, "relevant", 0, groups - 1))
    weights = np.full(samples, 1 / samples)
    answer = _compiled_gradient(point, signals, gram, labels, weights)
    return answer, reduction.preconditioner(groups, group_dim, gram_scale or (groups + 1) / 2)


@jax.jit
def parameters_of(
    coordinates: Float[Array, " 8"], task: GroupSparseTask, matrix: Matrix
) -> Parameters:
    """The layer whose reduced coordinates these are: W(T*) for transfer, from a reduced run."""
    features = reduction.feature_matrix(coordinates[1], coordinates[2], task.direction)
    positions = reduction.position_matrix(coordinates[3:], matrix, task.relevant)
    return models.from_blocks(features, positions, coordinates[0] * task.direction)


@jax.jit
def coordinates_of(
    parameters: Parameters, task: GroupSparseTask, matrix: Matrix
) -> Float[Array, " 8"]:
    """A layer projected on the invariant subspace: a coordinate is the mean of its entries."""
    d, groups = task.dim, task.length
    weights, direction = parameters.attention[0], task.direction
    features, scores = weights[:d, :d], matrix.T @ weights[d:, d:] @ matrix
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


def selector(attention: float, task: GroupSparseTask, matrix: Matrix) -> Transformer:
    """The state of the position-only map at which attention on the relevant group is s =
    `attention`: W of a learned selector, v = 0.

    A = log((D-1) s / (1-s)) and B = A, C = 0, a = b = 0; s = 1/D is the zero start.
    """
    gap = math.log((task.length - 1) * attention / (1 - attention))
    point = reduction.coordinates_from_gaps(task.length, A=gap, B=gap)
    return Transformer(parameters_of(point, task, matrix), matrix)
