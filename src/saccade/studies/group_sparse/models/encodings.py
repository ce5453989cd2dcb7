"""Positional encodings p_j of the groups, appended to the features: token z_j = [x_j ; p_j].

Only the Gram matrix P^T P reaches the training dynamics. When P^T P = c I (`gram_scale` c) the
population descent is the paper's and depends on P through c alone; anything else is a sabotage of
the orthogonality assumption.
"""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from saccade.errors import InvalidInput, unknown
from saccade.studies.group_sparse.task import check_groups, check_positive, whole_number

KINDS = ("sine", "one-hot", "random", "equal", "none")


class Encoding(eqx.Module):
    """`matrix` has the column p_j for group j; `gram_scale` is c when P^T P = c I, and the mean of
    |p_j|^2 otherwise."""

    matrix: Float[Array, "encoding_dim groups"]
    gram_scale: Float[Array, ""]

    def defect(self) -> Float[Array, ""]:
        """How far P^T P is from c I: the largest entry of |P^T P - c I| / c, 0 for orthogonal
        encodings."""
        gram = self.matrix.T @ self.matrix
        off = jnp.abs(gram - self.gram_scale * jnp.eye(gram.shape[0]))
        return jnp.max(off) / jnp.where(self.gram_scale > 0, self.gram_scale, 1.0)


def encoding(
    kind: str, groups: int, dim: int | None = None, norm_squared: float | None = None,
    key: PRNGKeyArray | None = None,
) -> Encoding:
    """The named encoding of D = `groups` positions; `norm_squared` is |p_j|^2 [(D+1)/2, that of the
    sine encoding].

    sine     p_j = (sin(pi i j / (D+1)))_{i=1..D}: the discrete sine transform, symmetric, P^T P =
    (D+1)/2 I one-hot  p_j = sqrt(norm_squared) e_j: the same dynamics as sine when the norms agree
    random   p_j with `dim` [D] Gaussian entries of variance norm_squared / dim (needs `key`):
    orthogonal on average only equal    the same p for every group: positions cannot be told apart
    none     no encoding at all, so the model sees a set
    """
    groups = check_groups(groups)
    size = check_positive(
        (groups + 1) / 2 if norm_squared is None else norm_squared, name="norm_squared")
    if kind == "sine":
        index = jnp.arange(1, groups + 1)
        matrix = math.sqrt(2 * size / (groups + 1)) * jnp.sin(
            jnp.pi * jnp.outer(index, index) / (groups + 1))
    elif kind == "one-hot":
        matrix = math.sqrt(size) * jnp.eye(groups)
    elif kind == "random":
        if key is None:
            raise InvalidInput("key is missing, and a random encoding must be given one.")
        rows = groups if dim is None else whole_number(dim, "dim", 1)
        matrix = math.sqrt(size / rows) * jax.random.normal(key, (rows, groups))
    elif kind == "equal":
        matrix = math.sqrt(size / groups) * jnp.ones((groups, groups))
    elif kind == "none":
        matrix = jnp.zeros((0, groups))
    else:
        raise unknown("encoding", kind, KINDS)
    return Encoding(matrix, jnp.sum(matrix**2) / groups)
