"""Options of calculators that an answer could ignore without a word, beside plain formulas."""

import numpy as np
import pytest

import saccade
from saccade.studies.softmax_location import calculators as softmax


def test_who_sees_more_errs_less():
    """All coordinates hold the plane of k* and v*, and the plane holds the scores."""
    setting = {"dim": 12, "length": 4, "gamma": 0.8, "noise": 0.3}
    risks = [
        saccade.calc("softmax-location.bayes-risk", **setting, sees=sees)["risk"]
        for sees in ("all", "plane", "scores")]
    assert risks[0] < risks[1] - 1e-4 < risks[2] - 2e-4


@pytest.mark.parametrize(("in_overlaps", "in_risk"), [(1e-3, 1e-7), (1e-7, 1e-3)])
def test_the_accuracy_of_a_path_is_the_larger_of_its_errors(monkeypatch, in_overlaps, in_risk):
    exact = softmax.dynamics.exact_trajectory

    def other_rule(start, setting, *, rule, **rest):
        run = exact(start, setting, rule=rule, **rest)
        if rule == softmax.FINEST:
            return run
        moved = run.overlaps._replace(kappa=run.overlaps.kappa + in_overlaps)
        return run._replace(overlaps=moved, risk=run.risk + in_risk * np.max(run.risk))

    monkeypatch.setattr(softmax.dynamics, "exact_trajectory", other_rule)
    state = {"kappa": 0.3, "nu": 0.5, "theta": -0.1, "eta": 0.2, "rho": 0.1}
    answer = saccade.calc(
        "softmax-location.trajectory", dim=20, length=5, inverse_temperature=0.6, **state,
        step_size=0.01, steps=2, record=[2])
    assert answer["accuracy"] == pytest.approx(1e-3, rel=1e-2)


def test_attention_is_reported_at_the_beta_asked_for():
    tokens, query, beta = np.array([[1.0, 2.0], [0.5, -1.0], [-0.3, 0.2]]), [0.7, -0.4], 1.7
    weights = np.exp(beta * tokens @ query)
    weights /= weights.sum()
    answer = saccade.calc("sparse-token.features", X=[tokens.tolist()], q=query, beta=beta)
    np.testing.assert_allclose(answer["attention"], [weights], rtol=1e-12)
    np.testing.assert_allclose(answer["features"], [weights @ tokens], rtol=1e-12)


@pytest.mark.filterwarnings("ignore::saccade.studies.group_sparse.theory.stability.StepSizeWarning")
@pytest.mark.parametrize(("step_size", "scale", "warns"), [(1.25, 2.5, True), (2.5, 0.5, False)])
def test_the_stability_rule_counts_the_scale(step_size, scale, warns):
    """Eight groups: step_size x 8 alone would be told the other way round."""
    answer = saccade.calc(
        "group-sparse.position-only", groups=8, step_size=step_size, scale=scale, steps=2,
        record=[1])
    assert bool(answer["warning"]) == warns


def test_errors_beside_certified_bounds_are_sums_over_coordinates():
    rng = np.random.default_rng(0)
    X, beta = rng.standard_normal((40, 4)), np.array([1.0, -0.6, 0.0, 0.3])
    noise, gamma = 0.1 * rng.standard_normal(40), 0.8
    answer = saccade.calc(
        "sparse-recovery.certificate", X=X.tolist(), beta=beta.tolist(), noise=noise.tolist(),
        gamma=gamma, steps=3)
    b, y, errors = np.zeros(4), X @ beta + noise, [np.abs(beta).sum()]
    for threshold in answer["thresholds"]:
        moved = b + gamma * X.T @ (y - X @ b) / 40
        b = np.sign(moved) * np.maximum(np.abs(moved) - threshold, 0)
        errors.append(np.abs(b - beta).sum())
    np.testing.assert_allclose(answer["errors"], errors, rtol=1e-9)
