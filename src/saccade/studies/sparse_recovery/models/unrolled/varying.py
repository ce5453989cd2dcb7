"""LISTA-VM for all prefixes of a prompt at once: the sequence of algorithms that the constructed
transformer runs."""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from saccade.studies.sparse_recovery.models.unrolled.algorithms import ALGORITHMS, traced_iterates
from saccade.studies.sparse_recovery.models.unrolled.steps import problem


def lista_vm_prefixes(X, y, M, thresholds, mask=None) -> Float[Array, "layer prefix dim"]:
    """Iterates 1..K for each prefix n = 0..N of one prompt. X is (N, d), M (K, d, d), thresholds
    (K, d) or (K,). Exact.

    b_n <- S_theta(b_n - M X_[n]^T (X_[n] b_n - y_[n])/(2n + 1)), X_[n] the first n rows; prefix 0
    knows nothing and stays 0.
    """
    return _prefixes(jnp.asarray(X), jnp.asarray(y), jnp.asarray(M), jnp.asarray(thresholds), mask)


@partial(jax.jit)
def _prefixes(X, y, M, thresholds, mask) -> Float[Array, "layer prefix dim"]:
    rows, dim = X.shape
    count = jnp.arange(rows + 1)
    seen = jnp.arange(rows)[None, :] < count[:, None]
    given = problem(jnp.where(seen[:, :, None], X, 0), jnp.where(seen, y, 0), None, count)
    if mask is not None:  # rows of M outside the pool are zero, the columns of X are not
        given = given._replace(mask=jnp.broadcast_to(mask, (rows + 1, dim)))
    return traced_iterates(ALGORITHMS["lista-vm"], {"M": M, "theta": thresholds}, given)
