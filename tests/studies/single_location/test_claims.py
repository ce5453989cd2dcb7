"""The claims of single-location regression: every row of the study has one, each can fail, the
cheap ones are judged here."""

import dataclasses
from collections import Counter

import numpy as np
import pytest

from saccade.lab import registry
from saccade.lab.experiment import SCALES
from saccade.lab.kinds import IDENTITY, KINDS
from saccade.lab.ledger import Conditions, evaluate, verdict_is_expected
from saccade.lab.registry import experiments, figures, find_claims
from saccade.lab.verdict import HOLDS, REFUTED

CLAIMS = registry.claims("single-location")

ROWS = [
    "T1a", "T1b", "P15", "L18", "Z", "C2", "P3", "P3b", "F3", "L4", "L7", "D5", "P8", "P9", "P10",
    "P12", "P12b", "T5", "F4a", "F4a2", "F5", "F6", "F7a", "F7b", "N1", "N2", "N3", "N4", "N5",
    "M1", "L14", "L17", "G1", "E1", "A1", "T1tab", "F1b"]
KNOWN = {claim.id for claim in CLAIMS}
CHEAP = [
    claim for claim in CLAIMS
    if claim.kind is IDENTITY and "quick" in claim.scales and claim.scales["quick"].seconds <= 2]


def test_every_row_of_the_study_has_its_claim():
    assert {claim.spec for claim in CLAIMS} == {f"SL-{row}" for row in ROWS}


def test_ids_are_unique_and_bear_the_study():
    assert [
        name for name, count in Counter(claim.id for claim in CLAIMS).items() if count > 1] == []
    assert all(
        claim.id.startswith("single-location.") and claim.study == "single-location"
        for claim in CLAIMS)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
class TestEachClaim:
    def test_says_what_it_claims_and_why_it_could_be_told_apart(self, claim):
        for text in (claim.statement, claim.argued, claim.source, claim.status):
            assert isinstance(text, str) and len(text.strip()) >= 4
        assert claim.resolution is not None
        assert callable(claim.resolution) or _all_at_least_zero(claim.resolution)

    def test_can_fail(self, claim):
        assert claim.sabotages
        assert len({sabotage.name for sabotage in claim.sabotages}) == len(claim.sabotages)
        for sabotage in claim.sabotages:
            assert len(sabotage.says) > 8
            assert sabotage.parameters or sabotage.measure or sabotage.predict, "changes nothing"

    def test_uses_the_words_of_the_ledger(self, claim):
        assert claim.kind in KINDS
        assert claim.expected in (HOLDS, REFUTED)
        assert claim.scales and set(claim.scales) <= set(SCALES)
        assert all(scale.repetitions >= 1 and scale.seconds > 0 for scale in claim.scales.values())

    def test_points_at_things_that_exist(self, claim):
        assert claim.experiment.id in {item.id for item in experiments("single-location")}
        assert claim.figure is None or claim.figure in {
            item.id for item in figures("single-location")}
        assert claim.corrected is None or claim.corrected in KNOWN - {claim.id}
        assert (claim.corrected is not None) is (claim.expected == REFUTED), (
            "a refuted sentence names what holds instead")

    def test_its_parameters_are_accepted_by_its_experiment(self, claim):
        for name, scale in claim.scales.items():
            for changes in ({}, *(sabotage.parameters for sabotage in claim.sabotages)):
                claim.experiment.parameters(name, {**scale.parameters, **changes})

    def test_is_found_by_its_names(self, claim):
        assert claim in find_claims([claim.id])
        assert claim in find_claims([claim.spec])
        assert claim in find_claims([claim.id.removeprefix("single-location.")])


def _all_at_least_zero(resolution) -> bool:
    values = resolution if isinstance(resolution, (list, tuple)) else [resolution]
    return all(float(value) >= 0 for value in values)


@pytest.mark.parametrize("claim", CHEAP, ids=lambda claim: claim.id)
def test_cheap_identities_and_their_sabotages(claim):
    row = evaluate(claim, Conditions(sabotage=True))
    assert row["error"] is None
    assert row["verdict"] == claim.expected
    assert [item["verdict"] for item in row["sabotages"]] == [REFUTED] * len(claim.sabotages)
    assert verdict_is_expected(row)


@pytest.mark.parametrize("claim", CHEAP[:4], ids=lambda claim: claim.id)
def test_a_wrong_prediction_is_noticed(claim):
    shifted = dataclasses.replace(claim, predict=lambda run: 1.5 + np.asarray(claim.predict(run)))
    assert evaluate(shifted, Conditions())["verdict"] == REFUTED
