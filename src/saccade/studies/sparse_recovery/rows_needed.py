"""How many rows the certificate of `theory` and l1 minimisation need for Gaussian matrices."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import ndtr, ndtri


def median_of_largest(count: int) -> float:
    """The median of the largest of `count` independent |N(0, 1)|: P(all <= z) = 1/2. Exact."""
    return float(ndtri((1 + 0.5 ** (1 / count)) / 2))


def certified_rows(dim: int, sparsity: int, weight: float | None = None) -> float:
    """N* at which q = delta + mu (2S - 1) passes 1 for half of the Gaussian matrices (g = 1).

    With n rows sqrt(n) (G_ii - 1) is about N(0, 2) and sqrt(n) G_ij about N(0, 1), so
    sqrt(n) q is about sqrt(2) z_d + (2S - 1) z_{d(d-1)/2}, z_m the median of the largest of m
    |N(0, 1)|; N* is its square. `weight` stands in the place of 2S - 1. Status: asymptotic (entries
    taken for normal and independent, the median of a sum for the sum of medians)."""
    weight = 2 * sparsity - 1 if weight is None else weight
    pairs = dim * (dim - 1) // 2
    return (np.sqrt(2) * median_of_largest(dim) + weight * median_of_largest(pairs)) ** 2


def needed_share(sparse_share: float) -> float:
    """N/d at which l1 minimisation begins to succeed, d large: min over t of r(1 + t^2) + (1 - r)
    E(|g| - t)_+^2 with r = S/d, the statistical dimension of the descent cone (Amelunxen, Lotz,
    McCoy, Tropp 2014). Status: asymptotic."""

    def dimension(t: float) -> float:
        tail = 2 * ((1 + t * t) * ndtr(-t) - t * np.exp(-t * t / 2) / np.sqrt(2 * np.pi))
        return sparse_share * (1 + t * t) + (1 - sparse_share) * tail

    return float(minimize_scalar(dimension, bounds=(0.0, 8.0), method="bounded").fun)  # type: ignore[attr-defined]
