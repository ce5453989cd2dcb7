"""Every claim of every study is whole, can fail, and points at things that exist."""

import dataclasses
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from saccade.lab import registry
from saccade.lab.claim import READINGS
from saccade.lab.experiment import SCALES
from saccade.lab.kinds import KINDS
from saccade.lab.verdict import HOLDS, LEDGER_CAPACITY, REFUTED, spends
from saccade.studies import STUDIES

CLAIMS = registry.claims()
KNOWN = {claim.id for claim in CLAIMS}


def each_claim(check: Callable) -> Callable:
    """A test of every study out of a check of one claim: thousands of tests, one a claim, cost more
    than what they check. A failure names its claim."""

    @pytest.mark.parametrize("study", STUDIES)
    def test(study: str) -> None:
        for claim in registry.claims(study):
            try:
                check(claim)
            except Exception as problem:
                problem.add_note(f"claim: {claim.id}")
                raise

    test.__name__ = check.__name__
    return test


def test_names_are_unique_and_rows_bear_the_prefix_of_their_study():
    assert max(Counter(claim.id for claim in CLAIMS).values()) == 1
    for claim in CLAIMS:
        rows = [row.strip() for row in claim.spec.split(",")]
        assert all(row.startswith(f"{STUDIES[claim.study].prefix}-") for row in rows), claim.id


def test_the_ledgers_error_has_a_place_for_every_claim_that_spends():
    """No more of them than places, or the promise of 1 % over a ledger is not kept; exact ones
    spend nothing."""
    spending = [claim for claim in CLAIMS if spends(claim.kind, claim.statistic)]
    assert 0 < len(spending) <= LEDGER_CAPACITY


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
    assert claim.repairs if claim.expected == REFUTED else claim.sabotages
    controls = (*claim.sabotages, *claim.repairs)
    assert len({control.name for control in controls}) == len(controls)
    assert all(len(control.says) > 8 for control in controls)


@each_claim
def test_it_says_where_its_sentence_stands(claim):
    place, words, reading = dataclasses.astuple(claim.citation)
    assert len(place) >= 4 and reading in READINGS
    assert words or reading == "ours", "a source that says it is quoted"
    assert len(words.split()) <= 40, "a quotation is short"


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
        for changes in ({}, *(item.parameters for item in (*claim.sabotages, *claim.repairs))):
            claim.experiment.parameters(name, {**scale.parameters, **changes})


@each_claim
def test_it_is_found_by_its_names(claim):
    for name in (claim.id, claim.spec, claim.id.removeprefix(f"{claim.study}.")):
        assert claim in registry.find_claims([name])
