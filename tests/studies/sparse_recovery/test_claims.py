"""The claims of the sparse-recovery study: every row has one, each can fail, the cheap ones are
judged here."""

from collections import Counter

import jax
import numpy as np
import pytest

from saccade.lab import registry
from saccade.lab.ledger import Conditions, evaluate
from saccade.studies.sparse_recovery.experiments.common import classical, groups
from saccade.studies.sparse_recovery.task import SparseRecovery

CLAIMS = registry.claims("sparse-recovery")
EXPERIMENTS = registry.experiments("sparse-recovery")
FIGURES = registry.figures("sparse-recovery")

ROWS = [
    "T1", "T1b", "T1c", "T2", "T2b", "T2c", "T3", "T3b", "T4", "T4b", "T5", "T6", "A1", "A2", "P1",
    "F1", "F2", "F3", "F4", "F5", "F6", "Q1", "Q2", "Q3", "Q4", "N1"]
CHEAP = (
    "gate", "quadratic-read-out", "linear-convergence", "noise-floor", "certified-where-tested",
    "solver-rates", "label-bound")


def test_every_row_of_the_study_has_its_claim():
    assert {claim.spec for claim in CLAIMS} == {f"SR-{row}" for row in ROWS}


def test_claims_are_well_formed():
    known = {claim.id for claim in CLAIMS}
    assert [
        name for name, count in Counter(claim.id for claim in CLAIMS).items() if count > 1] == []
    for claim in CLAIMS:
        assert claim.study == "sparse-recovery" and claim.sabotages, claim.id
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
    claim = next(claim for claim in CLAIMS if claim.id == f"sparse-recovery.{name}")
    row = evaluate(claim, Conditions(sabotage=True, folder=str(fresh_store)))
    assert row["error"] is None and row["verdict"] == claim.expected
    assert [item["name"] for item in row["sabotages"] if item["verdict"] != "refuted"] == []


def test_groups_are_the_blocks_of_the_task():
    task = SparseRecovery.create(6, 3, 2, block=2)
    support = np.asarray(task.sample(jax.random.key(0), 20).support)
    members = np.asarray(groups(task))
    assert members.shape == (6, 3) and set((support @ members).ravel()) == {0.0, 2.0}


def test_baselines_have_the_best_of_their_penalties():
    sample = SparseRecovery.create(6, 4, 2).sample(jax.random.key(0), 50)
    each = [classical("ista", sample, 4, penalties=(lam,))[-1].mean() for lam in (0.1, 1.0, 3.0)]
    assert classical("ista", sample, 4, penalties=(0.1, 1.0, 3.0))[-1].mean() == min(each)
