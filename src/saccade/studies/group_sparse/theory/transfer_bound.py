"""The transfer theorem's bound on the average online error. Status: bound, up to constants the
paper does not give (taken as 1)."""

import math
from typing import NamedTuple

from saccade.errors import require
from saccade.studies.group_sparse.task import (
    check_group_dim,
    check_groups,
    check_scale,
    whole_number,
)


class TransferBound(NamedTuple):
    """The two terms with constant one, and the mean squared length of a token, from which d + D
    comes."""

    bound: float
    main_term: float
    confidence_term: float
    token_norm_squared: float
    status: str


def transfer_bound(
    groups: int, group_dim: int, samples: int, margin: float, confidence: float = 0.05,
    scale: float = 1.0,
) -> TransferBound:
    """(d + D) log^2(n) / (gamma^2 n) + log(1/delta) / n for gamma = `margin` > 0, delta =
    `confidence`.

    E|z_j|^2 = d sigma^2 + (D+1)/2 with the sine encoding: the D of d + D is the length of the
    encoding, so a fine-tuning that keeps the position part of v at zero should pay d alone.
    """
    groups, group_dim = check_groups(groups), check_group_dim(group_dim)
    n, gamma = whole_number(samples, "samples", 2), check_scale(margin, name="margin")
    require(0 < confidence < 1, "confidence", confidence, "must be between 0 and 1")
    main = (group_dim + groups) * math.log(n) ** 2 / (gamma**2 * n)
    tail = math.log(1 / confidence) / n
    length = group_dim * check_scale(scale) ** 2 + (groups + 1) / 2
    return TransferBound(main + tail, main, tail, length, "bound")
