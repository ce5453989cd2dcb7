"""What two very large steps leave of the full layer's attention, by drawing what it stands for."""

import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.studies.group_sparse.theory.large_steps import missed_after_two, turning_point
from saccade.studies.group_sparse.theory.laws import two_steps


@pytest.mark.parametrize("groups", [2, 5, 30])
def test_the_turning_point_is_the_limit_of_gap_over_feature_score(groups):
    after = two_steps(groups, 1e4)
    assert abs(-after.gap / after.a / turning_point(groups) - 1) < 1e-3


@pytest.mark.parametrize("groups", [2, 5, 30])
def test_the_share_missed_is_that_of_drawn_maxima(groups):
    random, after = np.random.default_rng(groups), two_steps(groups, 1e3)
    u = random.standard_normal((40_000, groups))
    u[:, 0] = np.abs(u[:, 0])
    query = u[np.arange(len(u)), random.integers(groups, size=len(u))]
    scores = after.a * u * query[:, None] + after.gap * (np.arange(groups) == 0)
    missed = (scores.argmax(axis=1) != 0).mean()
    assert abs(missed - missed_after_two(groups)) < 5 * np.sqrt(0.25 / len(u))


def test_one_group_is_refused():
    with pytest.raises(InvalidInput, match="groups"):
        missed_after_two(1)
