"""Linear probes against direct minimisation of the same loss, on synthetic features, and with
columns that never change."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from saccade.errors import InvalidInput
from saccade.studies.single_location.dynamics.probe import fit_probe, fit_standardiser, probe_layers


def _noisy_data(seed: int, n: int = 400, features: int = 6, signal: float = 1.0):
    rng = np.random.default_rng(seed)
    labels = np.repeat([-1, 1], n // 2)
    scales = np.geomspace(1e-4, 1e2, features)
    states = (
        rng.normal(size=(n, features)) + signal * labels[:, None] * np.eye(features)[0]
    ) * scales + 5.0
    return states.astype(np.float32), labels


def test_the_probe_minimises_the_penalised_logistic_loss():
    states, labels = _noisy_data(0)
    x = (states.astype(float) - states.astype(float).mean(0)) / states.astype(float).std(0)

    def loss(w):
        return np.logaddexp(0, -labels * (x @ w[:-1] + w[-1])).sum() + 0.5 * w[:-1] @ w[:-1]

    best = minimize(loss, np.zeros(7), method="BFGS", options={"gtol": 1e-8}).x
    probe = fit_probe(states, labels)
    fitted = np.append(probe[-1].coef_[0], probe[-1].intercept_)
    np.testing.assert_allclose(fitted, best, atol=2e-3)


def test_accuracy_reaches_that_of_the_best_linear_rule():
    """Two unit Gaussians at +-1 on one axis: no rule beats Phi(1) = 0.8413."""
    train, labels = _noisy_data(1, n=4000)
    test, test_labels = _noisy_data(2, n=4000)
    # one standard error of a test fraction is 0.0058; fitting six weights on 4000 points costs
    # below 0.002
    assert abs(fit_probe(train, labels).score(test, test_labels) - 0.8413) < 0.026


def test_rescaling_and_shifting_features_changes_nothing():
    train, labels = _noisy_data(3)
    test, test_labels = _noisy_data(4)
    factors, shifts = np.array([1e-3, 7.0, 1.0, 30.0, 0.1, 2.0]), np.arange(6) * 0.1
    plain = fit_probe(train.astype(float), labels).score(test.astype(float), test_labels)
    moved = fit_probe(train * factors + shifts, labels).score(test * factors + shifts, test_labels)
    assert plain == moved


def test_constant_columns_are_zero_in_training_and_afterwards():
    train, labels = _noisy_data(5)
    constant = np.full((len(train), 1), 0.3, np.float32)
    rounding = (0.3 + 3e-8 * labels[:, None]).astype(
        np.float32)  # one unit in the last place, in step with the label
    assert np.ptp(rounding) > 0
    standardise = fit_standardiser(np.hstack([train, constant, rounding, 0 * constant]))
    fresh = standardise(np.full((2, 9), 77.0))
    assert np.all(fresh[:, 6:] == 0) and np.all(fresh[:, :6] != 0) and np.all(np.isfinite(fresh))


def test_features_without_information_give_exactly_one_half():
    labels = np.repeat([-1, 1], 50)
    rounding = (0.3 + 3e-8 * labels[:, None] * np.ones(4)).astype(np.float32)
    assert fit_probe(rounding, labels).score(rounding, labels) == 0.5


def test_raw_features_of_small_spread_defeat_the_penalty():
    """Why features are standardised: the same separable data at a spread of 1e-4 gives the
    penalised probe almost no weight."""
    rng = np.random.default_rng(8)
    labels = rng.permutation(np.repeat([-1, 1], 100))
    features = 0.5 + 1e-4 * (rng.normal(size=(200, 3)) + 5 * labels[:, None])
    assert fit_probe(features, labels).score(features, labels) == 1.0
    margin = np.abs(LogisticRegression().fit(features, labels).decision_function(features)).max()
    assert margin < 1e-3


def test_layers_are_probed_one_by_one():
    """Layer 0 is constant, layer 1 noise, layer 2 separates: accuracies 1/2, about 1/2 outside
    training, 1."""
    rng = np.random.default_rng(6)
    labels = np.repeat([-1, 1], 200)

    def states():
        noise = rng.normal(size=(400, 3))
        return np.stack([np.ones((400, 3)), noise, noise + 20 * labels[:, None]]).astype(np.float32)

    result = probe_layers(states(), labels, {"fresh": (states(), labels)})
    assert set(result) == {"train", "fresh"}
    assert result["train"][0] == result["fresh"][0] == 0.5
    assert abs(result["fresh"][1] - 0.5) < 0.125  # five standard errors of 400 coin flips
    assert result["train"][2] == result["fresh"][2] == 1.0


def test_impossible_requests_are_refused():
    states, labels = _noisy_data(7)
    with pytest.raises(InvalidInput, match="two classes"):
        fit_probe(states, np.ones_like(labels))
    with pytest.raises(InvalidInput, match="labels = 3"):
        fit_probe(states, labels[:3])
    with pytest.raises(InvalidInput, match="'train'"):
        probe_layers(states[None], labels, {"train": (states[None], labels)})
    with pytest.raises(InvalidInput, match="states of other"):
        probe_layers(states[None], labels, {"other": (states[None, :, :4], labels)})
