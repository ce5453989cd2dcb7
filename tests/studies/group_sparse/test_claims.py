"""The claims of the group-sparse study: every row has one; what they measure, by hand."""

import numpy as np

from saccade.lab import registry
from saccade.studies.group_sparse.experiments.reduction import symmetric_sample
from saccade.studies.group_sparse.experiments.transfer import exponents, samples_needed

CLAIMS = registry.claims("group-sparse")

ROWS = [
    "D0", "D1", "D2", "D3", "T1a", "T1b", "T2a", "T2b", "T2c", "T2d", "T2e", "T3", "T4", "L1", "L2",
    "T5a", "T5b", "T5c", "T5d", "T5e", "N1", "N2", "N3", "N4", "O1", "O2", "F1", "R1"]


def test_every_row_of_the_study_has_its_claim():
    assert {claim.spec for claim in CLAIMS} == {f"GS-{row}" for row in ROWS}


def test_samples_needed_by_hand():
    counts = np.array([10, 100, 1000])
    errors = np.array([[0.3, 0.2, 0.0], [0.05, 0.2, 0.2], [0.3, 0.1, 0.05], [0.5, 0.4, 0.3]])
    found = samples_needed(errors, counts, 0.1)
    np.testing.assert_allclose(found[:3], [10**2.5, 10, 100])
    assert np.isnan(found[3])


def test_exponents_of_a_pure_power_law():
    sizes = np.array([8, 16, 20, 24])
    needed = np.stack([3.0 * sizes**1.5, 0.1 * sizes**0.7], axis=1)
    np.testing.assert_allclose(exponents(needed, sizes), [1.5, 0.7])


def test_the_symmetric_sample_is_closed_under_its_symmetries():
    data = symmetric_sample(np.random.default_rng(0).normal(size=(2, 4, 3)), 1)
    rows = {tuple(np.round(x, 9).ravel()) for x in data}
    flipped = data * np.array([1, -1, 1])
    swapped = data[:, [2, 1, 0, 3]]
    for image in (-data, flipped, swapped):
        assert {tuple(np.round(x, 9).ravel()) for x in image} == rows
    assert len(data) == 2 * 2 * 6 * 8
