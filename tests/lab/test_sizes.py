"""Sizes that no machine holds are refused in a sentence: XLA would end the process."""

import pytest

import saccade
from saccade.errors import InvalidInput


@pytest.mark.parametrize("name", ["dim", "samples"])
def test_a_size_beyond_all_machines_is_refused_before_anything_runs(name, fresh_store):
    with pytest.raises(InvalidInput, match=f"{name} = 1000000000 must be at most 100000000"):
        saccade.verify("SL-P15", changes={name: 10**9})  # a case's own, and the experiment's
    with pytest.raises(InvalidInput, match=r"-10+ must be at most"):
        saccade.run("single-location.descent", dim=-(10**12))
    assert not fresh_store.exists()


def test_a_count_below_zero_is_refused_whatever_the_experiment_does_with_it(fresh_store):
    with pytest.raises(InvalidInput, match=r"dims = -1\.0 must not be below 0"):
        saccade.figure("single-location/3", dims=[100, -1])
    with pytest.raises(InvalidInput, match="samples = -3 must not be below 0"):
        saccade.verify("SL-P15", samples=-3)


@pytest.mark.filterwarnings("error")
def test_where_nothing_can_be_measured_there_is_no_verdict(fresh_store):
    with pytest.raises(InvalidInput, match=r"samples = 0 \(nothing finite is measured"):
        saccade.verify("SL-P15", samples=0)
