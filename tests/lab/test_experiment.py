"""Experiments validate what they are given, and keys depend on label, repetition and seed only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy import toy

from saccade.errors import InvalidInput
from saccade.lab.experiment import number_for


def test_scales_and_changes():
    assert toy.parameters().count == 40
    assert toy.parameters("paper").count == 64
    assert toy.parameters("paper", {"count": 7}).count == 7


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"cuont": 3}, "did you mean 'count'"), ({"count": "many"}, "count = 'many' is refused"),
        ({"mean": [1]}, "mean = ")])
def test_bad_parameters_get_one_sentence(changes, sentence):
    with pytest.raises(InvalidInput, match=sentence) as caught:
        toy.parameters("quick", changes)
    assert "\n" not in str(caught.value)


def test_unknown_scale():
    with pytest.raises(InvalidInput, match="did you mean 'quick'"):
        toy.parameters("qick")


@given(st.text(max_size=8), st.integers(0, 100), st.integers(0, 2**31))
def test_keys_differ_between_repetitions_and_seeds(label, repetition, seed):
    assert number_for(label, repetition, seed) == number_for(label, repetition, seed)
    assert number_for(label, repetition, seed) != number_for(label, repetition + 1, seed)
    assert number_for(label, repetition, seed) != number_for(label, repetition, seed + 1)
    assert 0 <= number_for(label, repetition, seed) < 2**63
