"""The paper's layer with its gradients written out: an independent road to what automatic
differentiation gives. Status: exact.

With g_i = v^T z_i, fbar_j = sum_i S_ij g_i, f = sum_j fbar_j and r = -y sigmoid(-y f):
    dL/dv = E[r Z S 1],      dL/dW = E[r Z B Z^T],      B_ij = S_ij (g_i - fbar_j)
The columns of B sum to zero: adding a constant to all scores of one query changes nothing (the
softmax gauge).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from saccade.errors import require
from saccade.studies.group_sparse.models.encodings import encoding
from saccade.studies.group_sparse.models.transformer import tokens
from saccade.studies.group_sparse.task import check_inputs, group_sparse_task


class Evaluation(NamedTuple):
    """Everything the layer says about a labelled batch: S[sample][key][query], f, the mean logistic
    loss and its two gradients."""

    attention: Float[Array, "samples groups groups"]
    output: Float[Array, " samples"]
    loss: Float[Array, ""]
    grad_attention_weights: Float[Array, "token_dim token_dim"]
    grad_value: Float[Array, " token_dim"]


def evaluate(
    token_batch: Float[Array, "samples token_dim groups"], labels: Float[Array, " samples"],
    attention_weights: Float[Array, "token_dim token_dim"], value: Float[Array, " token_dim"],
) -> Evaluation:
    """The merged-QK layer and its gradients at W = `attention_weights`, v = `value`, averaged over
    the batch."""
    keys_first = jnp.swapaxes(token_batch, 1, 2)
    attention = jax.nn.softmax(keys_first @ (attention_weights @ token_batch), axis=1)
    read = jnp.einsum("m,nmi->ni", value, token_batch)
    per_query = jnp.einsum("nij,ni->nj", attention, read)
    total = jnp.sum(per_query, axis=1)
    residual = -labels * jax.nn.sigmoid(-labels * total) / labels.shape[0]
    pooled = jnp.einsum("nmi,nij->nm", token_batch, attention)
    score_gradient = (
        residual[:, None, None] * attention * (read[:, :, None] - per_query[:, None, :]))
    # Sample by sample (token x group) times (group x token): one batched product, then the sum over
    # samples.
    left = token_batch @ score_gradient
    grad_attention = jnp.einsum("nmj,nkj->mk", left, token_batch)
    loss = jnp.mean(jax.nn.softplus(-labels * total))
    return Evaluation(attention, total, loss, grad_attention, residual @ pooled)


_compiled_evaluate = jax.jit(evaluate)


def evaluate_data(
    inputs, attention_weights, value, relevant: int, direction
) -> tuple[Float[Array, " samples"], Evaluation]:
    """The labels of explicit X[sample][coordinate][group], and `evaluate` on them with the sine
    encoding; everything is checked."""
    data = check_inputs(inputs)
    _, group_dim, groups = data.shape
    task = group_sparse_task(groups, group_dim, relevant=relevant, direction=direction)
    size = group_dim + groups
    weights, vector = jnp.asarray(attention_weights, dtype=float), jnp.asarray(value, dtype=float)
    require(
        weights.shape == (size, size), "W of shape", weights.shape,
        f"must be {size} x {size}, as d + D = {size}")
    require(
        vector.shape == (size,), "v of shape", vector.shape, f"must have d + D = {size} entries")
    labels = task.label(data)
    return labels, _compiled_evaluate(
        tokens(data, encoding("sine", groups).matrix), labels, weights, vector)
