"""Between the eight coordinates and the full weights, both ways. Status: exact (for encodings with
P^T P = c I)."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from saccade.studies.group_sparse.models.initial import from_blocks
from saccade.studies.group_sparse.models.transformer import Parameters
from saccade.studies.group_sparse.task import GroupSparseTask
from saccade.studies.group_sparse.theory.reduction import (
    coordinates_from_gaps,
    feature_matrix,
    position_matrix,
)


@jax.jit
def parameters_of(
    coordinates: Float[Array, " 8"], task: GroupSparseTask,
    encoding_matrix: Float[Array, "encoding_dim groups"],
) -> Parameters:
    """The layer whose reduced coordinates these are: W(T*) for transfer, from a reduced run."""
    features = feature_matrix(coordinates[1], coordinates[2], task.direction)
    positions = position_matrix(coordinates[3:], encoding_matrix, task.relevant)
    return from_blocks(features, positions, coordinates[0] * task.direction)


@jax.jit
def coordinates_of(
    parameters: Parameters, task: GroupSparseTask,
    encoding_matrix: Float[Array, "encoding_dim groups"],
) -> Float[Array, " 8"]:
    """The orthogonal projection of a layer on the invariant subspace: each coordinate is the mean
    of the entries it stands for."""
    d, groups = task.group_dim, task.groups
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
    gap = math.log((task.groups - 1) * attention / (1 - attention))
    return parameters_of(coordinates_from_gaps(task.groups, A=gap, B=gap), task, encoding_matrix)
