"""What two very large population steps leave of the attention of the full layer (ours).

After step two W11 = a(2) v* v*^T and the gap is A(2), both of order eta^2 (`theory.laws`). As eta
grows the softmax becomes a maximum, and query j looks at key i instead of the relevant group where
(u_* - u_i) u_j > x with u = <v*, .>, y = +1 and
    x = A(2) / |a(2)| -> (D+1)^2 / (4 (D-1) (sqrt(D) - 1 + 1/D)),   sigma = 1:
no step size is left in it. x is about sqrt(D)/4, and the chance that a product of two normals
passes x falls as e^-x: D groups later 1 - S is exp(-Theta(sqrt D)), not exp(-Theta(D)), and up to D
= 256 it is 0.14 or more.
"""

import math

import numpy as np
from scipy.special import log_ndtr

from saccade.studies.group_sparse.task import check_groups


def turning_point(groups: int) -> float:
    """x = A(2)/|a(2)| in the limit of large steps. Status: exact."""
    return (groups + 1) ** 2 / (4 * (groups - 1) * (math.sqrt(groups) - 1 + 1 / groups))


def missed_after_two(groups: int, points: int = 1500) -> float:
    """Mean of 1 - S over queries after two steps of unbounded size. Status: quadrature (midpoints
    to nine deviations; 1e-4 with 1500 points).

    Given u_* = g > 0 and u_j = t each of the D - 2 other keys is missed with P(u > g - x/t) for t >
    0 and P(u < g - x/t) for t < 0; j itself is preferred where (g - t) t > x. The query of the
    relevant group has t = g and D - 1 other keys.
    """
    groups = check_groups(groups)
    x, half = turning_point(groups), (np.arange(points) + 0.5) * 9 / points
    density = np.exp(-(half**2) / 2) * math.sqrt(2 / math.pi) * 9 / points
    t, g = np.concatenate([-half[::-1], half])[:, None], half[None]
    kept = (groups - 2) * log_ndtr(np.sign(t) * (x / t - g))
    lost = np.where((g - t) * t > x, 1.0, -np.expm1(kept))
    others = np.concatenate([density[::-1], density]) / 2 @ lost @ density
    own = -np.expm1((groups - 1) * log_ndtr(x / half - half)) @ density
    return float(((groups - 1) * others + own) / groups)
