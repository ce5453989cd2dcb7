"""What an algorithm computes from a matrix before its first step: the largest squared singular
value, and ALISTA's weight."""

import jax.numpy as jnp
from jaxtyping import Array, Float

Matrix = Float[Array, "*batch row dim"]
CUT = 1e-12  # eigenvalues of X X^T below this share of the largest count as zero


def squared_norm(X: Matrix) -> Float[Array, "*batch"]:
    """L = ||X||_2^2, from the smaller Gram matrix; zero for a matrix without rows. Status:
    exact."""
    rows, dim = X.shape[-2:]
    if rows == 0:
        return jnp.zeros(X.shape[:-2], X.dtype)
    gram = X @ X.swapaxes(-1, -2) if rows <= dim else X.swapaxes(-1, -2) @ X
    return jnp.maximum(jnp.linalg.eigvalsh(gram)[..., -1], 0)


def alista_weight(X: Matrix) -> Matrix:
    """ALISTA's weight: argmin ||W^T X||_F^2 with diag(W^T X) = 1, which is w_j = P x_j/(x_j^T P
    x_j), P = pinv(X X^T).

    From the singular vectors: W = U S^{-1} V^T with column j divided by the leverage sum_i V_ji^2.
    A zero column of X has no such weight and gets a zero one. With N >= d and full rank W = X (X^T
    X)^{-1}. Status: exact (closed form by saccade, any N and d).
    """
    if X.shape[-2] == 0:
        return jnp.zeros_like(X)
    u, s, vt = jnp.linalg.svd(X, full_matrices=False)
    kept = s**2 > CUT * s[..., :1] ** 2
    vt = jnp.where(kept[..., None], vt, 0)
    leverage = (vt**2).sum(-2)
    inverse = jnp.where(kept, 1 / jnp.where(kept, s, 1), 0)
    weight = (u * inverse[..., None, :]) @ vt
    present = (X != 0).any(-2) & (leverage > CUT)
    return jnp.where(
        present[..., None, :], weight / jnp.where(present, leverage, 1)[..., None, :], 0)
