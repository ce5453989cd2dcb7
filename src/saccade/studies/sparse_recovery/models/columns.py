"""Algorithms of the LISTA family as models of the contract: tokens are columns, attention is the share
of |b|_1 that a column has."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from saccade.contracts import Mask, Tokens
from saccade.studies.sparse_recovery.models.unrolled.algorithms import Layers, iterates
from saccade.studies.sparse_recovery.task import read_columns


class UnrolledRecovery(eqx.Module):
    """K steps of an algorithm by name on the tokens of `task.ColumnsAsTokens`; predicts b^T query."""

    algorithm: str = eqx.field(static=True)
    layers: Layers

    def coefficients(self, X: Tokens, mask: Mask | None = None) -> Float[Array, "n length"]:
        """b after the last layer; zero at masked columns and at the token of measured values."""
        matrix, y, _, is_column = read_columns(X, mask)
        count = (matrix != 0).any(2).sum(1)
        return iterates(self.algorithm, self.layers, matrix, y, is_column, count)[-1]

    def __call__(self, X: Tokens, mask: Mask | None = None) -> Float[Array, " n"]:
        return (self.coefficients(X, mask) * read_columns(X, mask).query).sum(1)

    def attention(self, X: Tokens, mask: Mask | None = None) -> Float[Array, "n length"]:
        """|b_j|/|b|_1; the same for all columns where b is zero."""
        size = jnp.abs(self.coefficients(X, mask))
        size = jnp.where((size > 0).any(1, keepdims=True), size, read_columns(X, mask).is_column)
        return size / jnp.maximum(size.sum(1, keepdims=True), jnp.finfo(size.dtype).tiny)
