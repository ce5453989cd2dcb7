"""The claims of the spatial study: every row has one, each is well formed, the cheap ones are
judged here with their sabotages."""

from collections import Counter

import pytest

from saccade.lab import registry
from saccade.lab.experiment import SCALES
from saccade.lab.kinds import KINDS
from saccade.lab.ledger import Conditions, evaluate

BENCHMARKS = registry.benchmarks("spatial")
CLAIMS = registry.claims("spatial")
EXPERIMENTS = registry.experiments("spatial")
FIGURES = registry.figures("spatial")

ROWS = {
    "D22", "T31", "T31x", "T32", "L41", "L41s", "L42", "P0", "POP", "L43", "T41", "PERM", "EV",
    "T42", "T51", "T52", "T52x", "F2", "LD6", "K1", "K3", "K4", "K5", "K6", "K7", "E12", "E16",
    "E17", "I1", "I2", "I3"}
CHEAP = (
    "association-metric", "gradient-two-values", "population-exact", "gradients",
    "permutation-invariant", "first-step-gradient", "noise-term", "plateau-is-linear",
    "ternary-decoder", "association-always-learned", "power-slope-as-written",
    "powered-average-as-written", "softmax-lipschitz", "tensor-power-time", "busy-in-set",
    "busy-in-image", "activation-slope", "sigmoid-lipschitz", "planted-set-hides")


def test_every_row_of_the_study_has_its_claim():
    assert {f"VS-{row}" for row in ROWS} <= {
        row.strip() for claim in CLAIMS for row in claim.spec.split(",")}


def test_claims_are_well_formed():
    known = {claim.id for claim in CLAIMS}
    assert [
        name for name, count in Counter(claim.id for claim in CLAIMS).items() if count > 1] == []
    for claim in CLAIMS:
        assert claim.study == "spatial" and claim.kind in KINDS and claim.sabotages, claim.id
        assert set(claim.scales) <= set(SCALES) and claim.scales, claim.id
        assert claim.experiment in EXPERIMENTS, claim.id
        assert claim.figure is None or claim.figure in {figure.id for figure in FIGURES}, claim.id
        assert claim.expected == "holds" or claim.corrected in known, claim.id


def test_parameters_of_claims_and_sabotages_are_accepted():
    for claim in CLAIMS:
        for scale, how in claim.scales.items():
            for changes in ({}, *(dict(sabotage.parameters) for sabotage in claim.sabotages)):
                claim.experiment.parameters(scale, {**how.parameters, **changes})


@pytest.mark.parametrize("name", CHEAP)
def test_cheap_claims_have_their_verdict_and_their_sabotages_break_them(name, fresh_store):
    claim = next(claim for claim in CLAIMS if claim.id == f"spatial.{name}")
    row = evaluate(claim, Conditions(sabotage=True, folder=str(fresh_store)))
    assert row["error"] is None and row["verdict"] == claim.expected
    assert [item["name"] for item in row["sabotages"] if item["verdict"] != "refuted"] == []


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda item: item.id)
def test_both_sides_of_the_benchmarks_agree(benchmark):
    assert benchmark.prepare(**benchmark.tiny).check().reached
