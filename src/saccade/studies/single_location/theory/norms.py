"""How much the length of a token gives away: the rate at which the longest token is the informative
one."""

import numpy as np
from scipy import integrate, stats

from saccade.errors import require


def largest_norm_hit_rate(dim: float, length: float, gamma: float = 2**-0.5) -> float:
    """P(the informative token has the largest norm of L tokens). Status: quadrature (1e-9).

    |X_J|^2 / gamma^2 is noncentral chi-square with d degrees of freedom and noncentrality
    (d/2)/gamma^2, the other L-1 squared norms are chi-square with d: the rate is E
    F(|X_J|^2)^(L-1). With gamma^2 = 1/2 the means agree but the variances are 3d/2 and 2d, so the
    rate is not 1/L: 0.079 for d = 80, L = 10 (below it), 0.504 for d = 80, L = 2 (above it).
    """
    require(dim >= 1, "dim", dim, "must be at least 1")
    require(length >= 1, "length", length, "must be at least 1")
    require(gamma > 0, "gamma", gamma, "must be above 0")
    law = {"df": dim, "nc": dim / 2 / gamma**2, "scale": gamma**2}
    centre, spread = stats.ncx2.mean(**law), stats.ncx2.std(**law)
    ends = max(0.0, centre - 12 * spread), centre + 12 * spread
    value, _ = integrate.quad(
        lambda x: stats.ncx2.pdf(x, **law) * stats.chi2.cdf(x, dim) ** (length - 1), *ends,
        epsabs=1e-11, limit=200)
    return float(np.clip(value, 0.0, 1.0))
