"""Classification error of a layer that puts attention s on the relevant group. Status: exact."""

import math
from typing import NamedTuple

from saccade.errors import require
from saccade.studies.group_sparse.task import check_groups


class SelectionError(NamedTuple):
    """P(y f <= 0)."""

    error: float
    status: str


def selection_error(attention: float, groups: int) -> SelectionError:
    """arctan((1-s) / (s sqrt(D-1))) / pi, for alpha > 0, scores that depend on position only, and
    the rest of the attention shared equally.

    The chance that two standard Gaussians of correlation rho differ in sign is arccos(rho)/pi, and
    rho = s sigma / sigma_w here. The uniform
    layer s = 1/D errs with probability arctan(sqrt(D-1))/pi; s = 0 gives 1/2. The scale drops out.
    """
    groups = check_groups(groups)
    require(0 <= attention <= 1, "attention", attention, "must be in [0, 1]")
    return SelectionError(
        math.atan2(1 - attention, attention * math.sqrt(groups - 1)) / math.pi, "exact")
