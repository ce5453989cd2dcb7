"""Fitted classifiers: derivatives, equations, limits, simulation with error bars, and the whole
domain of the solver."""

import numpy as np
import pytest
from scipy.special import expit

from saccade.convex import fit_readout, readout_error
from saccade.errors import InvalidInput
from saccade.studies.sparse_token.experiments.readouts import draw
from saccade.studies.sparse_token.task import SparseToken
from saccade.studies.sparse_token.task import SparseTokenSetting as Setting
from saccade.studies.sparse_token.theory import check_grid, feature_law, fit, fit_curve
from saccade.studies.sparse_token.theory.fitted import COARSE, START
from saccade.studies.sparse_token.theory.saddle import Evaluator, make_problem

pytestmark = pytest.mark.slow

ATTENTION = {"alignment": 0.8, "sharpness": 1.0}


def test_potential_derivatives_by_finite_differences():
    law = feature_law(Setting(4, 2, 0.3, 2.0), "attention", 0.6, 1.3, 6)
    evaluate = Evaluator(make_problem(law, 2.0, 0.05, 9, 6.5))
    z = np.array([0.7, 0.4, -0.3, 1.1, 0.6])
    here = evaluate(z)
    for index, step in enumerate(np.eye(5) * 1e-5):
        up, down = evaluate(z + step), evaluate(z - step)
        assert abs((up.value - down.value) / 2e-5 - here.gradient[index]) < 1e-8
        np.testing.assert_allclose(
            (up.gradient - down.gradient) / 2e-5, here.hessian[index], atol=1e-7)


def _brute_expectations(setting, model, query, overlaps, points=400_000):
    """Plain Monte Carlo with explicit token noise: y, A, S, tau, omega and the prox by bisection,
    sharing nothing with the solver."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(points) < setting.positive_rate, 1.0, -1.0)
    planted = setting.signal * (y > 0)[:, None] * (np.arange(setting.length) < setting.informative)
    scores = planted * query["alignment"] + rng.normal(size=planted.shape)
    weights = np.exp(query["sharpness"] * scores)
    weights /= weights.sum(1, keepdims=True)
    A, tau = (weights * scores).sum(1), np.sqrt((weights**2).sum(1))
    S = np.sqrt(1 - query["alignment"] ** 2) * (weights * planted).sum(1)
    omega = (
        overlaps.query * A + overlaps.across * S + overlaps.intercept
        + tau * overlaps.orthogonal_norm * rng.normal(size=points))
    low, high = y * omega, y * omega + tau**2 * overlaps.variance
    for _ in range(60):
        z = 0.5 * (low + high)
        above = z - y * omega - tau**2 * overlaps.variance * expit(-z) > 0
        low, high = np.where(above, low, z), np.where(above, z, high)
    return y, A, S, tau, z


def test_self_consistent_equations_by_brute_force():
    """The five equations as printed in `saddle.py`, with 4e5 plain samples: every residual within 5
    standard errors."""
    setting, alpha, ridge = Setting(10, 1, 0.3, 3.0), 2.0, 1e-2
    answer = fit(setting, "attention", alpha, ridge, **ATTENTION)
    o = answer.overlaps
    y, A, S, tau, z = _brute_expectations(setting, "attention", ATTENTION, o)
    slope, curve, V = -y * expit(-z), expit(z) * expit(-z), o.variance
    equations = {
        "query": ridge * o.query + slope * A, "intercept": slope,
        "across": o.across + alpha * V * slope * S,
        "rest": o.rest**2 - alpha * V**2 * tau**2 * slope**2,
        "variance": ridge * V + tau**2 * V * curve / (1 + tau**2 * V * curve) - 1 / alpha,
        "train loss": np.logaddexp(0, -z) - answer.train_loss,
        "train error": (z < 0) - answer.train_error}
    for name, samples in equations.items():
        assert abs(samples.mean()) < 5 * samples.std() / np.sqrt(len(samples)), name


@pytest.mark.parametrize("loss", ["logistic", "square"])
def test_blunt_attention_is_pooling(loss):
    setting = Setting(10, 2, 0.4, 4.0)
    pooled = fit(setting, "pooled", 2.0, 1e-2, loss)
    for alignment in (-0.5, 0.0, 1.0):
        blunt = fit(setting, "attention", 2.0, 1e-2, loss, alignment, 0.0)
        for name in ("b", "w_norm", "w_signal", "train_loss", "train_error", "test_error"):
            assert abs(getattr(blunt, name) - getattr(pooled, name)) < 1e-6, (alignment, name)


def test_one_token_makes_the_models_equal():
    setting = Setting(1, 1, 0.4, 2.0)
    answers = [fit(setting, m, 3.0, 1e-2) for m in ("pooled", "vectorised")] + [
        fit(setting, "attention", 3.0, 1e-2, "logistic", 0.6, 2.0)]
    for answer in answers[1:]:
        assert abs(answer.test_error - answers[0].test_error) < 1e-6
        assert abs(answer.w_norm - answers[0].w_norm) < 1e-5  # nine Gaussian nodes against 801


def test_many_samples_reach_the_best_linear_error():
    """Equal Gaussian classes: the logistic direction is optimal, so pooling tends to the oracle as
    alpha grows and the ridge vanishes."""
    from saccade.studies.sparse_token.theory import pooled_oracle_error

    setting = Setting(10, 1, 0.5, 5.0)
    gaps = [
        fit(setting, "pooled", alpha, 1e-6).test_error - pooled_oracle_error(setting).error
        for alpha in (1e3, 1e4)]
    assert 0 < gaps[1] < gaps[0] / 8


def _simulate(task, model, alpha, ridge, loss, query, trials, seed):
    """Fitted classifiers at finite dimension: rows of train loss, train error, test error, |w|."""
    dim, rows = task.direction.size, []
    for trial in range(trials):
        rng = np.random.default_rng(seed + trial)
        (F, y), (T, t) = (draw(task, rng, n, model, query) for n in (int(alpha * dim), 3000))
        found = fit_readout(F, y, ridge, loss)
        assert found.status == "converged"
        rows.append([
            found.train_loss, readout_error(F, y, found.w, found.b),
            readout_error(T, t, found.w, found.b), np.linalg.norm(found.w)])
    return np.array(rows)


@pytest.mark.parametrize(
    ("model", "loss", "dim", "alpha", "setting"),
    [
        ("attention", "logistic", 200, 3.0, (10, 1, 0.5, 3.0)),
        ("attention", "square", 200, 2.0, (10, 1, 0.3, 3.0)),
        ("pooled", "logistic", 200, 3.0, (10, 2, 0.5, 4.0)),
        ("vectorised", "logistic", 60, 6.0, (3, 1, 0.5, 3.0))])
def test_theory_against_simulation(model, loss, dim, alpha, setting):
    """Twelve trials: within 5 standard errors plus a finite-size 2 % (corrections are of order
    1/d)."""
    rho, k, ridge = 0.8, 1.0, 1e-2
    query = np.zeros(dim)
    query[:2] = k * rho, k * np.sqrt(1 - rho**2)
    task = SparseToken.create(dim, *setting)
    rows = _simulate(task, model, alpha, ridge, loss, query, trials=12, seed=1000)
    mean, error = rows.mean(0), rows.std(0, ddof=1) / np.sqrt(len(rows))
    answer = fit(
        Setting(*setting), model, alpha, ridge, loss, **(ATTENTION if model == "attention" else {}))
    predicted = np.array([answer.train_loss, answer.train_error, answer.test_error, answer.w_norm])
    assert np.all(np.abs(mean - predicted) < 5 * error + 0.02 * predicted), (mean, error, predicted)


def test_accuracy_estimate_is_honest():
    """The stated change under refinement bounds (within a factor 3) the distance to a four times
    finer quadrature."""
    setting = Setting(10, 1, 0.5, 3.0)
    answer = fit(setting, "attention", 3.0, 1e-2, fine=COARSE._replace(log2_points=10), **ATTENTION)
    finer = fit(setting, "attention", 3.0, 1e-2, **ATTENTION)
    for name in ("train_loss", "test_error"):
        assert (
            abs(getattr(answer, name) - getattr(finer, name))
            < 3 * answer.accuracy[name] + 3 * finer.accuracy[name])


def test_curve_equals_separate_points():
    setting = Setting(10, 1, 0.5, 5.0)
    curve = fit_curve(setting, "pooled", [0.5, 1.0, 4.0], 1e-4)
    for alpha, answer in zip([0.5, 1.0, 4.0], curve, strict=True):
        assert abs(answer.test_error - fit(setting, "pooled", alpha, 1e-4).test_error) < 1e-9


def test_every_case_of_the_domain_converges():
    """A seeded subsample of the declared grid at a coarse quadrature (the equations are the same,
    only the nodes are fewer)."""
    report = check_grid(40, seed=1, fine=START._replace(log2_points=8))
    assert report.converged == report.cases, report.failures
    for model in ("pooled", "vectorised"):
        linear = check_grid(40, seed=2, model=model)
        assert linear.converged == linear.cases, linear.failures


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"samples_per_dim": 0.0}, "samples_per_dim"),
        ({"samples_per_dim": -1.0}, "samples_per_dim"), ({"ridge": -1.0}, "ridge"),
        ({"loss": "hinge"}, "loss"), ({"model": "mlp"}, "model"), ({"alignment": 1.5}, "alignment"),
        ({"alignment": None}, "alignment"), ({"sharpness": None}, "sharpness"),
        ({"sharpness": -1.0}, "sharpness"), ({"model": "pooled"}, "alignment")])
def test_bad_input_is_refused(change, word):
    arguments = {
        "model": "attention", "samples_per_dim": 1.0, "ridge": 0.1, "loss": "logistic",
        "alignment": 0.5, "sharpness": 1.0}
    with pytest.raises(InvalidInput, match=word):
        fit(Setting(4, 1, 0.5, 2.0), **(arguments | change))


def test_long_sequences_cost_no_more_memory_and_too_long_ones_are_refused():
    """Beyond 512 tokens every level of the quadrature halves with each doubling of the length, so
    that `accuracy` still compares two."""
    from saccade.studies.sparse_token.theory.law import affordable

    assert [affordable(length, 13) for length in (1, 512, 513, 1024, 1025, 10_000)] == [
        13, 13, 12, 12, 11, 8]
    assert all(affordable(length, 13) - affordable(length, 11) == 2 for length in (2, 700, 10_000))
    assert (
        len(feature_law(Setting(2000, 1, 0.5, 5.0), "attention", 0.8, 1.0, 12).weight) == 2 * 2**10)
    with pytest.raises(InvalidInput, match="length = 20000 must be at most 10000"):
        fit(Setting(20_000, 1, 0.5, 5.0), "attention", 1.0, 0.1, "logistic", 0.5, 1.0)
