"""Screening: the cheapest way to find the group, and the yardstick for everything else. Status:
exact."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, Int


class Screening(NamedTuple):
    """Scores of the groups, the best group, and the penalty above which the group lasso is
    empty."""

    scores: Float[Array, " groups"]
    best: Int[Array, ""]
    lambda_max: Float[Array, ""]


def screen(
    inputs: Float[Array, "samples group_dim groups"], labels: Float[Array, " samples"]
) -> Screening:
    """score_g = |X_g^T y|_2, best = argmax_g score_g, lambda_max = max_g score_g / (2 n).

    lambda_max is the smallest lambda at which (1/n) sum log(1 + exp(-y <w, x>)) + lambda sum_g
    |w_g|_2 is minimised by w = 0, because the gradient of the mean logistic loss at 0 is -X_g^T y /
    (2 n).
    """
    scores = jnp.linalg.norm(jnp.einsum("ndg,n->dg", inputs, labels), axis=0)
    return Screening(scores, jnp.argmax(scores), jnp.max(scores) / (2 * labels.shape[0]))
