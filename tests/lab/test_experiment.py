"""Experiments validate what they are given, and keys depend on label, block and seed only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy import toy

from saccade.errors import InvalidInput
from saccade.lab.experiment import number_for
from saccade.lab.fingerprint import code_version


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
def test_keys_differ_between_blocks_and_seeds(label, block, seed):
    assert number_for(label, block, seed) == number_for(label, block, seed)
    assert number_for(label, block, seed) != number_for(label, block + 1, seed)
    assert number_for(label, block, seed) != number_for(label, block, seed + 1)
    assert 0 <= number_for(label, block, seed) < 2**63


def test_the_code_version_follows_the_source(tmp_path, monkeypatch):
    import shutil

    from saccade.lab import fingerprint

    copy = tmp_path / "saccade"
    shutil.copytree(fingerprint.PACKAGE, copy)
    monkeypatch.setattr(fingerprint, "PACKAGE", copy)
    before = code_version.__wrapped__("single-location")
    (copy / "claims" / "__init__.py").write_text("# judging is not computing\n")
    assert code_version.__wrapped__("single-location") == before
    (copy / "theory" / "gaussian.py").write_text("# changed\n")
    assert code_version.__wrapped__("single-location") != before
