"""The claims of the sparse-token study: every row has one; what they measure, by hand."""

import numpy as np
import pytest

from saccade.lab import registry
from saccade.lab.experiment import Run
from saccade.studies.sparse_token.experiments import training

CLAIMS = registry.claims("sparse-token")

ROWS = [
    "P1", "T1", "T2", "T2b", "T3", "C1", "T4", "T5", "C2", "C2b", "J1", "J1b", "J1c", "F1", "N1",
    "N2", "O1", "O2", "O3", "PLAN"]
KNOWN = {claim.id: claim for claim in CLAIMS}


def test_every_row_of_the_study_has_its_claim():
    assert {claim.spec for claim in CLAIMS} == {f"ST-{row}" for row in ROWS}


def test_simulations_have_at_least_twelve_trials():
    for claim in CLAIMS:
        for name, scale in claim.scales.items():
            parameters = claim.experiment.parameters(name, scale.parameters)
            assert getattr(parameters, "trials", 12) >= 12


@pytest.mark.slow
def test_a_plan_that_moved_is_an_error_not_a_prediction():
    claim = KNOWN["sparse-token.planned-sparse"]
    half = claim.scales["quick"].parameters | {
        "query_samples_per_dim": 0.5, "samples_per_dim": (1.0,)}
    run = Run(None, training.protocol.parameters("quick", half))  # pyright: ignore[reportArgumentType]
    with pytest.raises(ArithmeticError, match="planner"):
        claim.predict(run)


def test_test_errors_of_the_simulations_match_counting():
    """The integrated test error against 2e5 explicit samples in four dimensions: five standard
    errors of a frequency."""
    from saccade.studies.sparse_token.experiments.readouts import (
        attention_test_error,
        pooled_test_error,
        vectorised_test_error,
        view_of_attention,
    )
    from saccade.studies.sparse_token.task import SparseTokenSetting

    rng = np.random.default_rng(4)
    setting, n = SparseTokenSetting(5, 2, 0.3, 2.0), 200_000
    w, q, xi = rng.normal(size=4), rng.normal(size=4), np.eye(4)[0]
    y = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    places = np.argsort(rng.random((n, 5)), axis=1) < 2
    X = rng.normal(size=(n, 5, 4)) + 2.0 * ((y > 0)[:, None] & places)[:, :, None] * xi
    weights = np.exp(X @ q)
    margin = np.einsum("nl,nld,d->n", weights, X, w) / weights.sum(1) - 0.4
    predicted = attention_test_error(setting, view_of_attention(w, -0.4, q, xi), rng, 200_000)
    assert abs(np.mean(y * margin < 0) - predicted) < 5 * 2**0.5 * 0.5 / np.sqrt(n)
    pooled = pooled_test_error(setting, float(w[0]), float(np.linalg.norm(w)), -0.4)
    assert abs(np.mean(y * (X.mean(1) @ w - 0.4) < 0) - pooled) < 5 * 0.5 / np.sqrt(n)
    W = rng.normal(size=(5, 4))
    counted = np.mean(y * (np.einsum("nld,ld->n", X, W) - 0.4) < 0)
    exact = vectorised_test_error(setting, W[:, 0], float(np.linalg.norm(W)), -0.4)
    assert abs(counted - exact) < 5 * 0.5 / np.sqrt(n)


def test_quotations_are_short_and_every_citation_is_used():
    from saccade.studies.sparse_token.claims.citations import CITATIONS

    assert {claim.id.split(".")[1] for claim in CLAIMS} == set(CITATIONS)
    assert max(len(item.words.split()) for item in CITATIONS.values()) <= 25
