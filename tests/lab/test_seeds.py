"""A ledger on many seeds: what is counted, and how seeds are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy import claim

from saccade.errors import InvalidInput
from saccade.lab.claim import Scale
from saccade.lab.ledger import Conditions, evaluate
from saccade.lab.seeds import judge_seeds, over_seeds, parsed, summary


@given(st.integers(0, 10**6), st.integers(0, 99))
def test_a_range_holds_both_ends(first, more):
    assert parsed(f"{first}..{first + more}") == list(range(first, first + more + 1))


def test_several_ranges_and_no_seed_twice():
    assert parsed("3, 0..2,1") == [3, 0, 1, 2]


@pytest.mark.parametrize("text", ["", "a", "5..3", "-1", "0..99999999", "1.5", "9" * 23])
def test_other_words_are_refused(text):
    with pytest.raises(InvalidInput, match="seeds"):
        parsed(text)


def test_rows_are_those_of_each_seed_and_wrong_ones_are_named(tmp_path):
    shaky = claim(resolution=0.3, scales={"quick": Scale(repetitions=1)}, predict=lambda run: 1.3)
    conditions = Conditions(folder=str(tmp_path))
    rows = judge_seeds([shaky], conditions, range(8))
    alone = [evaluate(shaky, conditions._replace(seed=seed))["verdict"] for seed in range(8)]
    assert [rows[seed][0]["verdict"] for seed in range(8)] == alone
    [row] = over_seeds(rows)
    assert row["unexpected"] == [seed for seed in range(8) if alone[seed] == "refuted"]
    assert row["undecided"] == [seed for seed in range(8) if alone[seed] == "undecided"]
    total = summary([row])
    assert total["verdicts"] == 8 and total["undecided"] == len(row["undecided"]) > 0


def test_a_claim_that_waits_is_not_counted(tmp_path):
    later = claim(scales={"standard": Scale()})
    total = summary(over_seeds(judge_seeds([later], Conditions(folder=str(tmp_path)), [0, 1])))
    assert total == {
        "claims": 0, "verdicts": 0, "unexpected": 0, "undecided": 0, "share_undecided": 0.0}
