"""Every claim of every study is whole, can fail, and points at things that exist; the cheap ones
are judged here with their sabotages."""

import dataclasses
from collections import Counter

import numpy as np
import pytest

from saccade.lab import registry
from saccade.lab.experiment import SCALES
from saccade.lab.kinds import IDENTITY, KINDS
from saccade.lab.ledger import Conditions, evaluate, verdict_is_expected
from saccade.lab.verdict import HOLDS, REFUTED
from saccade.studies import STUDIES

CLAIMS = registry.claims()
KNOWN = {claim.id for claim in CLAIMS}
CHEAP = [
    claim for claim in CLAIMS if claim.kind is IDENTITY and "quick" in claim.scales
    and claim.scales["quick"].seconds <= 2 and claim.requires is None]
each_claim = pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)


def test_names_are_unique_and_rows_bear_the_prefix_of_their_study():
    assert max(Counter(claim.id for claim in CLAIMS).values()) == 1
    for claim in CLAIMS:
        rows = [row.strip() for row in claim.spec.split(",")]
        assert all(row.startswith(f"{STUDIES[claim.study].prefix}-") for row in rows), claim.id


@each_claim
def test_it_says_what_it_claims_and_why_it_could_be_told_apart(claim):
    for text in (claim.statement, claim.argued, claim.source, claim.status):
        assert isinstance(text, str) and len(text.strip()) >= 4
    assert callable(claim.resolution) or np.all(np.asarray(claim.resolution, float) >= 0)
    assert claim.kind in KINDS and claim.expected in (HOLDS, REFUTED)
    assert claim.scales and set(claim.scales) <= set(SCALES)
    assert all(scale.repetitions >= 1 and scale.seconds > 0 for scale in claim.scales.values())


@each_claim
def test_it_can_fail(claim):
    assert claim.sabotages
    assert len({sabotage.name for sabotage in claim.sabotages}) == len(claim.sabotages)
    for sabotage in claim.sabotages:
        assert len(sabotage.says) > 8
        assert sabotage.parameters or sabotage.measure or sabotage.predict, "changes nothing"


@each_claim
def test_it_points_at_things_that_exist(claim):
    assert claim.experiment.id in {item.id for item in registry.experiments(claim.study)}
    assert claim.figure in {None, *(item.id for item in registry.figures(claim.study))}
    assert claim.corrected in {None, *KNOWN} - {claim.id}
    assert (claim.corrected is not None) is (claim.expected == REFUTED), (
        "a refuted sentence names what holds instead")


@each_claim
def test_its_parameters_are_accepted_by_its_experiment(claim):
    for name, scale in claim.scales.items():
        for changes in ({}, *(sabotage.parameters for sabotage in claim.sabotages)):
            claim.experiment.parameters(name, {**scale.parameters, **changes})


@each_claim
def test_it_is_found_by_its_names(claim):
    for name in (claim.id, claim.spec, claim.id.removeprefix(f"{claim.study}.")):
        assert claim in registry.find_claims([name])


@pytest.mark.slow
@pytest.mark.parametrize("claim", CHEAP, ids=lambda claim: claim.id)
def test_cheap_identities_and_their_sabotages(claim):
    row = evaluate(claim, Conditions(sabotage=True))
    assert row["error"] is None and row["verdict"] == claim.expected
    assert verdict_is_expected(row)


@pytest.mark.parametrize("claim", CHEAP[::6], ids=lambda claim: claim.id)
def test_a_wrong_prediction_is_noticed(claim):
    shifted = dataclasses.replace(claim, predict=lambda run: 1.5 + np.asarray(claim.predict(run)))
    assert evaluate(shifted, Conditions())["verdict"] == REFUTED


def test_there_are_cheap_claims():
    assert len(CHEAP) >= 30 and len({claim.study for claim in CHEAP}) >= 5
