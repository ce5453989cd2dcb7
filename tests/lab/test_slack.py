"""Slack: the factors it names are where the verdict changes, found by moving the prediction."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from saccade.lab.intervals import Interval
from saccade.lab.kinds import ABOVE, BELOW, ESTIMATE, ORDERING
from saccade.lab.slack import loose_parts, loose_words, slack, words
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
        (ABOVE, 1.3, 1.4, 1.2, False), (ABOVE, 13, 14, 1.2, True), (ABOVE, 13, 14, 0.0, True),
        (ABOVE, 3, 14, 0.0, False), (BELOW, 0.0, 0.0, 0.0, False), (BELOW, -1.0, -1.0, 0.0, True),
        (ORDERING, 1.3, 1.4, 1.2, False), (ORDERING, 13, 14, 1.2, True),
        (ABOVE, -0.01, 1.0, -1.2, True), (ABOVE, -0.5, 1.0, -1.2, False)])
def test_a_bound_far_from_what_is_measured_is_loose(kind, low, high, predicted, loose):
    assert slack(kind, part(low, high, predicted, 0.0)).loose is loose


def test_what_does_not_hold_has_no_slack():
    assert slack(BELOW, part(1, 2, 3, 0.1) | {"verdict": "refuted"}) is None
    assert slack(BELOW, part(1, 2, None, 0.1)) is None


def test_the_share_is_measured_over_predicted():
    assert slack(BELOW, part(1, 2, 3, 0.1)).share == pytest.approx(0.5)
    assert slack(ABOVE, part(-3, -1, -4, 0.1)).share == pytest.approx(0.5)
    assert slack(BELOW, part(1, 2, 3, 0.1) | {"measurement": None}).share is None


@pytest.mark.parametrize("factor, loose", [(9.9, False), (10.1, True)])
def test_loose_begins_at_a_factor_of_ten(factor, loose):
    assert slack(ABOVE, part(factor, 2 * factor, 1.0, 0.0)).loose is loose
    assert slack(BELOW, part(0.5 / factor, 1 / factor, 1.0, 0.0)).loose is loose
    two_sided = slack(ESTIMATE, part(0.99, 1.01, 1.0, 0.5))
    assert two_sided.loose is False


@given(
    st.sampled_from([ESTIMATE, BELOW, ABOVE, ORDERING]), numbers, st.floats(0, 0.5),
    numbers | st.just(0.0), st.floats(0.01, 1))
def test_the_room_is_the_way_to_the_nearest_prediction_that_fails(
    kind, middle, half, predicted, resolution
):
    interval = Interval(middle, middle - half, middle + half)
    assume(decide(kind, interval, predicted, resolution) == "holds")
    told = slack(kind, part(interval.low, interval.high, predicted, resolution))
    assert told.room == pytest.approx(told.resolutions * resolution)
    moved = {
        share: [
            decide(kind, interval, predicted + side * share * told.room, resolution)
            for side in (-1, 1)]
        for share in (0.999, 1.001)}
    assume(told.room > 1e-6)
    assert moved[0.999] == ["holds", "holds"] and moved[1.001] != ["holds", "holds"]


@pytest.mark.parametrize(("resolutions", "loose"), [(9.9, False), (10.1, True)])
def test_near_zero_the_room_is_counted_in_resolutions(resolutions, loose):
    """A near-equality has at most one resolution of room, however exact it is."""
    for predicted in (0.0, 1e-9):
        told = slack(ORDERING, part(0.01 * resolutions, 0.3, predicted, 0.01))
        assert told.factor is None and told.loose is loose
        assert told.resolutions == pytest.approx(resolutions, abs=1e-6)
    exact = slack(BELOW, part(1e-16, 1e-16, 0.0, 1e-6))
    assert exact.resolutions == pytest.approx(1) and not exact.loose
    assert slack(ESTIMATE, part(-0.1, 0.1, 0.0, 1.0)).resolutions == pytest.approx(0.9)


def test_the_factor_is_that_of_a_bound_that_could_be_sharper():
    assert slack(BELOW, part(1, 2, 3, 0.0)).factor == pytest.approx(1.5)
    assert slack(ABOVE, part(6, 7, 3, 0.0)).factor == pytest.approx(2)
    assert slack(BELOW, part(-7, -6, -3, 0.0)).factor == pytest.approx(2)
    assert slack(ESTIMATE, part(2.9, 3.1, 3, 0.5)).factor is None


@pytest.mark.parametrize(
    ("slack", "said"),
    [
        ({"factor": 12.34, "resolutions": 3.0, "room": 1.0, "loose": True}, "×12.3 loose"),
        ({"factor": None, "resolutions": 0.98765, "room": 0.1, "loose": False}, "0.988 res"),
        ({"factor": None, "resolutions": None, "room": 0.62, "loose": True}, "0.62 loose"),
        (None, "-"), ({"low": 0.9, "high": 1.1, "share": 1.0, "loose": False}, "-"),
        ({"low": None, "high": None, "share": None, "loose": True}, "loose")])
def test_the_slack_in_a_word_or_two(slack, said):
    """The last three: what does not hold, and rows of old ledgers."""
    assert words(slack) == said


def test_a_row_whose_bound_is_tight_says_how_many_of_its_parts_are_loose():
    tight, far = ({"part": name, "slack": {"loose": name == "far"}} for name in ("tight", "far"))
    lost = {"part": "lost", "slack": None}
    row = {"slack": tight["slack"], "parts": [tight, far, lost]}
    assert loose_parts(row) == ["far"] and loose_words(row) == "1 of 3 parts loose"
    assert loose_words(row | {"slack": far["slack"]}) == "loose"
    assert loose_words({"slack": None, "parts": []}) == loose_words({}) == ""
