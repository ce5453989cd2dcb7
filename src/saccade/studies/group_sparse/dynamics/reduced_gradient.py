"""Loss and gradient of the full layer in the eight reduced coordinates, from the signals u_i = <v*,
x_i> and the Gram of the rest. Status: exact.

scores[key i][query j] = a u_i u_j + b K_ij + M_ij with K = r^T r the Gram of the parts of x
orthogonal to v*. With S the softmax over keys, ubar_j = sum_i S_ij u_i, f = alpha sum_j ubar_j, r =
-y sigmoid(-y f) and G_ij = r alpha S_ij (u_i - ubar_j) = d loss / d score_ij:
    d/dalpha = r sum_j ubar_j,   d/da = sum G_ij u_i u_j,   d/db = sum G_ij K_ij,   d/dm = sum of G
    over the orbit.
Columns of G sum to zero, so the os and oo sums follow from the others. Groups come first and
samples last in every array, so that each elementary operation runs over a contiguous stretch of
samples; the relevant group is index 0.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from saccade.errors import require
from saccade.studies.group_sparse.task import check_direction, check_inputs, check_relevant
from saccade.studies.group_sparse.theory.reduction import preconditioner


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
def signals_and_gram(inputs: Float[Array, "samples group_dim groups"], direction, relevant: int):
    """(u, K, y) of explicit data, the relevant group moved to index 0 and samples moved last;
    sign(0) = +1."""
    order = np.concatenate([[relevant], np.delete(np.arange(inputs.shape[2]), relevant)])
    ordered = inputs[:, :, order]
    signals = jnp.einsum("ndg,d->gn", ordered, direction)
    gram = jnp.einsum("ndg,ndh->ghn", ordered, ordered) - signals[:, None] * signals[None, :]
    return signals, gram, jnp.where(signals[0] >= 0, 1.0, -1.0)


_compiled_gradient = jax.jit(reduced_loss_and_gradient)


def reduced_gradient(
    inputs, direction, relevant: int, coordinates, gram_scale: float | None = None
) -> tuple[ReducedGradient, Float[Array, " 8"]]:
    """Loss and gradient on explicit X[sample][coordinate][group], and the preconditioner that turns
    it into a step of the full layer."""
    data = check_inputs(inputs)
    samples, group_dim, groups = data.shape
    point = jnp.asarray(coordinates, dtype=float)
    require(
        point.shape == (8,), "coordinates", coordinates,
        "must be eight numbers: alpha, a, b, m_ss, m_so, m_os, m_dd, m_oo")
    signals, gram, labels = signals_and_gram(
        data, check_direction(direction, group_dim), check_relevant(relevant, groups))
    weights = jnp.full(samples, 1 / samples)
    answer = _compiled_gradient(point, signals, gram, labels, weights)
    return answer, preconditioner(
        groups, group_dim, (groups + 1) / 2 if gram_scale is None else gram_scale)
