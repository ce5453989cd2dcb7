"""Transfer, sample by sample: what the layer says of the second sample of a stream.

v = 0 gives f = 0, so the first sample leaves v proportional to y_1 zbar_1, whatever the step, where
zbar = [xbar; q] is what frozen attention collects: w_j is s on the relevant group and (1-s)/(D-1)
elsewhere, xbar = sum_j w_j x_j, q = P w with |q|^2 = c |w|^2. The second sample is a mistake where
    y_1 y_2 (<xbar_1, xbar_2> + |q|^2) <= 0.
y_1 y_2 is +1 or -1 by a fair coin, independent of the y_i xbar_i. Along v* those are
s (sigma u + gamma) + m with u = |N(0, 1)| and m ~ N(0, sigma^2 (1-s)^2/(D-1)); across it they are
N(0, sigma^2 |w|^2) in d - 1 directions. Given the first sample and u_2 what is left is one
Gaussian. Source: ours; the D of the d + D of Theorem 4.2 is |q|^2, which grows as D/2.
Status: quadrature.
"""

import numpy as np
from scipy.special import ndtr, roots_genlaguerre, roots_hermitenorm

from saccade.studies.group_sparse import task


def _half_normal(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights for E over u = |N(0, 1)|."""
    x, weight = np.polynomial.legendre.leggauss(points)
    u = 4.5 * (x + 1)
    return u, 4.5 * weight * np.sqrt(2 / np.pi) * np.exp(-(u**2) / 2)


def second_error(
    groups: int, group_dim: int, attention: float, margin: float = 0.0, scale: float = 1.0,
    position: bool = True, points: int = 24,
) -> float:
    """The chance of a mistake on the second sample, with v2 free (`position`) or frozen at zero,
    for the sine encoding and d = `group_dim` >= 2."""
    D, d = task.check_groups(groups), task.whole_number(group_dim, "group_dim", 2)
    rest = (1 - attention) ** 2 / (D - 1)
    length = attention**2 + rest
    offset = (D + 1) / 2 * length if position else 0.0
    (u, by_u), (m, by_m) = _half_normal(points), roots_hermitenorm(points // 3)
    half, by_half = roots_genlaguerre(points, (d - 3) / 2)
    along = attention * (scale * u + margin)
    first = along[:, None, None] + scale * np.sqrt(rest) * m[:, None]
    spread = scale * np.sqrt(first**2 * rest + scale**2 * length**2 * 2 * half)
    by_first = by_u[:, None, None] * by_m[:, None] * by_half
    product = first[..., None] * along
    wrong = sum(ndtr(-(product + side) / spread[..., None]) for side in (offset, -offset)) / 2
    return float(np.sum(by_first[..., None] * by_u * wrong) / np.sum(by_first[..., None] * by_u))
