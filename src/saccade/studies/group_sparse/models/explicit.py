"""The paper's layer with its gradients written out, an independent road to what automatic
differentiation gives; and screening, the cheapest way to find the group. Status: exact.

With g_i = <v, z_i>, fbar_j = sum_i S_ij g_i, f = sum_j fbar_j and r = -y sigmoid(-y f):
    dL/dv = E[r Z^T S 1],      dL/dW = E[r Z^T B Z],      B_ij = S_ij (g_i - fbar_j)
The columns of B sum to zero: adding a constant to all scores of one query changes nothing (the
softmax gauge).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int


class Evaluation(NamedTuple):
    """Everything the layer says about a labelled batch: S[sample][key][query], f, the mean logistic
    loss and its two gradients."""

    attention: Float[Array, "n groups groups"]
    output: Float[Array, " n"]
    loss: Float[Array, ""]
    grad_attention_weights: Float[Array, "token_dim token_dim"]
    grad_value: Float[Array, " token_dim"]


def evaluate(
    token_batch: Float[Array, "n groups token_dim"], y: Float[Array, " n"],
    attention_weights: Float[Array, "token_dim token_dim"], value: Float[Array, " token_dim"],
) -> Evaluation:
    """The merged-QK layer and its gradients at W = `attention_weights`, v = `value`, averaged over
    the batch."""
    scores = token_batch @ attention_weights @ jnp.swapaxes(token_batch, 1, 2)
    attention = jax.nn.softmax(scores, axis=1)
    read = token_batch @ value
    per_query = jnp.einsum("nij,ni->nj", attention, read)
    total = jnp.sum(per_query, axis=1)
    residual = -y * jax.nn.sigmoid(-y * total) / y.shape[0]
    pooled = jnp.einsum("nij,nim->nm", attention, token_batch)
    score_gradient = (
        residual[:, None, None] * attention * (read[:, :, None] - per_query[:, None, :]))
    # Sample by sample (key x query) times (query x token), then one product over all keys.
    grad_attention = jnp.einsum("nim,nik->mk", token_batch, score_gradient @ token_batch)
    loss = jnp.mean(jax.nn.softplus(-y * total))
    return Evaluation(attention, total, loss, grad_attention, residual @ pooled)


class Screening(NamedTuple):
    """Scores of the groups, the best group, and the penalty above which the group lasso is
    empty."""

    scores: Float[Array, " groups"]
    best: Int[Array, ""]
    lambda_max: Float[Array, ""]


def screen(X: Float[Array, "n groups group_dim"], y: Float[Array, " n"]) -> Screening:
    """score_g = |X_g^T y|_2, best = argmax_g score_g, lambda_max = max_g score_g / (2 n).

    lambda_max is the smallest lambda at which (1/n) sum log(1 + exp(-y <w, x>)) + lambda sum_g
    |w_g|_2 is minimised by w = 0, because the gradient of the mean logistic loss at 0 is -X_g^T y /
    (2 n).
    """
    scores = jnp.linalg.norm(jnp.einsum("ngd,n->gd", X, y), axis=1)
    return Screening(scores, jnp.argmax(scores), jnp.max(scores) / (2 * y.shape[0]))
