"""Slack: the factors it names are where the verdict changes, found by moving the prediction."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from saccade.lab.intervals import Interval
from saccade.lab.kinds import ABOVE, BELOW, ESTIMATE, ORDERING
from saccade.lab.slack import slack
from saccade.lab.verdict import decide


def part(low, high, prediction, resolution):
    return {
        "verdict": "holds", "interval": [low, high], "prediction": prediction,
        "resolution": resolution, "measurement": (low + high) / 2}


numbers = st.floats(-5, 5).filter(lambda value: abs(value) > 0.01)


@given(
    st.sampled_from([ESTIMATE, BELOW, ABOVE, ORDERING]), numbers, st.floats(0, 0.5), numbers,
    st.floats(0.01, 1))
def test_the_verdict_changes_at_the_ends_and_not_between(kind, middle, half, predicted, resolution):
    interval = Interval(middle, middle - half, middle + half)
    assume(decide(kind, interval, predicted, resolution) == "holds")
    told = slack(kind, part(interval.low, interval.high, predicted, resolution))
    low, high = told.low or 0.0, told.high if told.high is not None else 50.0
    for factor in np.linspace(low, high, 7)[1:-1]:
        assert decide(kind, interval, factor * predicted, resolution) == "holds"
    for end, outwards in ((told.low, -1e-6), (told.high, 1e-6)):
        if end is not None:
            moved = (end + outwards * max(1, abs(end))) * predicted
            assert decide(kind, interval, moved, resolution) != "holds"


@pytest.mark.parametrize(
    "kind, low, high, predicted, loose",
    [
        (BELOW, 0.9, 1.0, 1.2, False), (BELOW, 0.009, 0.01, 1.2, True), (BELOW, -2, -1, 1.2, True),
        (ABOVE, 1.3, 1.4, 1.2, False), (ABOVE, 13, 14, 1.2, True), (ABOVE, 13, 14, 0.0, True)])
def test_a_bound_far_from_what_is_measured_is_loose(kind, low, high, predicted, loose):
    assert slack(kind, part(low, high, predicted, 0.0)).is_loose is loose


def test_what_does_not_hold_has_no_slack():
    assert slack(BELOW, part(1, 2, 3, 0.1) | {"verdict": "refuted"}) is None
    assert slack(BELOW, part(1, 2, None, 0.1)) is None


def test_the_share_is_measured_over_predicted():
    assert slack(BELOW, part(1, 2, 3, 0.1)).share == pytest.approx(0.5)
    assert slack(ABOVE, part(-3, -1, -4, 0.1)).share == pytest.approx(0.5)
    assert slack(BELOW, part(1, 2, 3, 0.1) | {"measurement": None}).share is None


@pytest.mark.parametrize("factor, loose", [(9.9, False), (10.1, True)])
def test_loose_begins_at_a_factor_of_ten(factor, loose):
    assert slack(ABOVE, part(factor, 2 * factor, 1.0, 0.0)).is_loose is loose
    assert slack(BELOW, part(0.5 / factor, 1 / factor, 1.0, 0.0)).is_loose is loose
    two_sided = slack(ESTIMATE, part(0.99, 1.01, 1.0, 0.5))
    assert two_sided.is_loose is False
