"""The claims of the sparse-recovery study: every row has one; what they measure, by hand."""

import jax
import numpy as np

from saccade.lab import registry
from saccade.studies.sparse_recovery.experiments.common import classical, groups
from saccade.studies.sparse_recovery.task import SparseRecovery

CLAIMS = registry.claims("sparse-recovery")

ROWS = [
    "D0", "T1", "T1b", "T1c", "T2", "T2b", "T2c", "T3", "T3b", "T4", "T4b", "T5", "T6", "A1", "A2",
    "P1", "F1", "F2", "F3", "F4", "F5", "F6", "Q1", "Q2", "Q3", "Q4", "N1", "X1"]


def test_every_row_of_the_study_has_its_claim():
    assert {claim.spec for claim in CLAIMS} == {f"SR-{row}" for row in ROWS}


def test_groups_are_the_blocks_of_the_task():
    task = SparseRecovery.create(6, 3, 2, block=2)
    support = np.asarray(task.sample(jax.random.key(0), 20).support)
    members = np.asarray(groups(task))
    assert members.shape == (6, 3) and set((support @ members).ravel()) == {0.0, 2.0}


def test_baselines_have_the_best_of_their_penalties():
    sample = SparseRecovery.create(6, 4, 2).sample(jax.random.key(0), 50)
    each = [classical("ista", sample, 4, penalties=(lam,))[-1].mean() for lam in (0.1, 1.0, 3.0)]
    assert classical("ista", sample, 4, penalties=(0.1, 1.0, 3.0))[-1].mean() == min(each)
