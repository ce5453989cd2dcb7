"""What is watched while the full-dimensional layer trains."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from saccade.studies.group_sparse.models.transformer import (
    Architecture,
    Parameters,
    attention_maps,
    output,
    value_direction,
)
from saccade.studies.group_sparse.task import GroupSparseBatch, GroupSparseTask


class Observables(NamedTuple):
    """Scalars of one state, on a held-out batch.

    loss, error: mean logistic loss and P(y f <= 0); attention: mean over samples and queries of
    S_{g,j} for every group g, layer by layer;
    alignment: cos(v1, v*); value_norm, value_position_norm: |v1|, |v2|; block_norms: Frobenius
    norms of W11, W12, W21, W22, layer by layer.
    """

    loss: Float[Array, "..."]
    error: Float[Array, "..."]
    attention: Float[Array, "... layers groups"]
    alignment: Float[Array, "..."]
    value_norm: Float[Array, "..."]
    value_position_norm: Float[Array, "..."]
    block_norms: Float[Array, "... layers 4"]


def observe(
    parameters: Parameters, architecture: Architecture, task: GroupSparseTask,
    held_out: GroupSparseBatch, token_batch: Float[Array, "samples token_dim groups"],
) -> Observables:
    """Everything of `Observables` at these parameters; `token_batch` holds the tokens of
    `held_out`."""
    total = output(parameters, architecture, token_batch)
    margins = held_out.labels * total
    maps = attention_maps(parameters, architecture, token_batch)
    reading = value_direction(parameters, architecture)
    features, positions = reading[: task.group_dim], reading[task.group_dim :]
    size = jnp.linalg.norm(features)
    return Observables(
        loss=jnp.mean(jax.nn.softplus(-margins)), error=jnp.mean(margins <= 0, dtype=float),
        attention=jnp.mean(maps, axis=(1, 3)),
        # No direction yet at v = 0: its alignment is called 0.
        alignment=features @ task.direction / jnp.where(size > 0, size, 1.0), value_norm=size,
        value_position_norm=jnp.linalg.norm(positions),
        block_norms=jax.vmap(lambda weights: _block_norms(weights, task.group_dim))(
            parameters.attention))


def _block_norms(weights: Float[Array, "token_dim token_dim"], split: int) -> Float[Array, " 4"]:
    """|W11|, |W12|, |W21|, |W22|."""
    blocks = (
        weights[:split, :split], weights[:split, split:], weights[split:, :split],
        weights[split:, split:])
    return jnp.stack([jnp.sqrt(jnp.sum(block**2)) for block in blocks])
