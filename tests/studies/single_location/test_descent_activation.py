"""The activation of the descent: erf is followed exactly here, softmax where the sentence says."""

import pytest

import saccade
from saccade.errors import InvalidInput

SMALL = {"dim": 50, "steps": 40, "repetitions": 2, "record_every": 20}


def test_erf_is_the_default_and_softmax_is_shown_the_way(fresh_store):
    erf = saccade.run("single-location.descent", SMALL | {"activation": "erf"})
    assert erf.identical(saccade.run("single-location.descent", SMALL))
    with pytest.raises(InvalidInput, match=r"softmax-location\.descent") as refusal:
        saccade.run("single-location.descent", SMALL | {"activation": "softmax"})
    assert str(refusal.value).startswith("activation = 'softmax'")
    with pytest.raises(InvalidInput, match="must be 'erf' or 'softmax'"):
        saccade.run("single-location.descent", SMALL | {"activation": "relu"})


def test_both_experiments_that_the_sentence_names_take_softmax(fresh_store):
    sampled = {"dim": 10, "steps": 4, "repetitions": 2, "record_every": 2}
    assert saccade.run("single-location.sampled-descent", sampled | {"activation": "softmax"})
    exact = {"dim": 10, "record": (4,), "repetitions": 2, "kind": "softmax"}
    assert saccade.run("softmax-location.descent", exact)
