"""How fast ISTA and FISTA must approach the minimum of the LASSO, whatever the problem."""

import numpy as np
from jaxtyping import ArrayLike, Float


def ista_bound(
    step: ArrayLike, lipschitz: ArrayLike, distance: ArrayLike
) -> Float[np.ndarray, "..."]:
    """F(b_k) - F* <= L |b_0 - b*|^2/(2 k); infinite at k = 0. Bound (Beck and Teboulle 2009,
    Theorem 3.1)."""
    k = np.asarray(step, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = np.asarray(lipschitz) * np.asarray(distance) ** 2 / (2 * k)
    return np.where(k > 0, bound, np.inf)


def fista_bound(
    step: ArrayLike, lipschitz: ArrayLike, distance: ArrayLike
) -> Float[np.ndarray, "..."]:
    """F(b_k) - F* <= 2 L |b_0 - b*|^2/(k + 1)^2. Bound (Beck and Teboulle 2009, Theorem 4.4; at k =
    0 it holds from b_0 = 0)."""
    k = np.asarray(step, float)
    return 2 * np.asarray(lipschitz) * np.asarray(distance) ** 2 / (k + 1) ** 2
