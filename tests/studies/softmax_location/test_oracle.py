"""At the truth: least risks, best lambda, laws; regression values computed twice elsewhere."""

import tracemalloc

import numpy as np
import pytest
from scipy import stats

from saccade.errors import InvalidInput
from saccade.studies.softmax_location import dynamics, theory
from saccade.studies.softmax_location.theory import FINEST, Overlaps, Setting

# dim, length: Bayes, from two coordinates, best score, softmax, its lambda, argmax, erf
TABLE = {
    (10, 10): (0.10881, 0.16923, 0.19034, 0.203578, 2.2803, 0.30900, 0.394843),
    (10, 1000): (0.46739, 0.48797, 0.49197, 0.492965, 1.4908, 1.3502, 0.498752),
    (40, 10): (1.042e-4, 1.093e-3, 1.238e-3, 1.3213e-3, 5.8582, 1.718e-3, 0.254418),
    (40, 1000): (7.708e-3, 0.05311, 0.05900, 0.061843, 4.628, 0.09164, 0.495046),
    (80, 10): (9.265e-9, 1.056e-6, 1.1935e-6, 1.2702e-6, 8.4285, 1.631e-6, 0.181841),
    (400, 10): (1.9165e-40, 3.385e-30, 3.811e-30, 4.0453e-30, 18.856, 5.160e-30, 0.067102)}


@pytest.mark.parametrize("size", TABLE)
def test_the_table_of_least_risks(size):
    dim, length = map(float, size)
    s, best = Setting(dim, length, 1.0), theory.best_inverse_temperature(dim, length)
    found = [
        *(theory.bayes_risk(s, sees) for sees in ("all", "plane", "scores")), best.risk,
        best.inverse_temperature, theory.argmax_risk(s), theory.best_erf(dim, length).risk]
    assert found == pytest.approx(TABLE[size], rel=5e-4)


@pytest.mark.parametrize("size", [(8.0, 5.0), (20.0, 100.0), (40.0, 10.0)])
def test_softmax_is_bayes_at_gamma_one(size):
    s = Setting(*size, (size[0] / 2) ** 0.5, 1.0)
    assert theory.oracle_risk(s) == pytest.approx(theory.bayes_risk(s), rel=1e-12)
    best = theory.best_inverse_temperature(*size, 1.0)
    assert best.inverse_temperature == pytest.approx(s.shift, rel=1e-9)


def test_bayes_is_continuous_at_gamma_one():
    for sees in ("all", "plane", "scores"):
        near = [
            theory.bayes_risk(Setting(20.0, 10.0, 1.0, 1 + x), sees) for x in (-1e-5, 0.0, 1e-5)]
        assert (near[0] + near[2]) / 2 == pytest.approx(near[1], rel=1e-7)


@pytest.mark.parametrize(("dim", "length", "gamma"), [(6, 4, 0.5), (10, 6, 1.4), (3, 20, 0.8)])
def test_bayes_against_samples(dim, length, gamma):
    random, n = np.random.default_rng(dim), 40_000
    X = random.standard_normal((n, length, dim))
    X[:, 0] *= gamma
    X[:, 0, 0] += np.sqrt(dim / 2)
    centre = np.eye(dim)[0] * np.sqrt(dim / 2)
    ratio = stats.multivariate_normal(centre, gamma**2).pdf(X) / stats.multivariate_normal(
        np.zeros(dim)).pdf(X)
    weights = ratio / ratio.sum(axis=1, keepdims=True)
    error = (np.sum(weights * X[:, :, 1], axis=1) - X[:, 0, 1]) ** 2
    exact = theory.bayes_risk(Setting(float(dim), float(length), 1.0, gamma))
    assert abs(error.mean() - exact) < 5 * error.std() / np.sqrt(n)


def test_more_is_seen_less_is_lost():
    for gamma in (0.4, 0.9, 1.5):
        s = Setting(12.0, 30.0, 1.0, gamma, 0.2)
        risks = [theory.bayes_risk(s, sees) for sees in ("all", "plane", "scores")]
        softmax = theory.best_inverse_temperature(12.0, 30.0, gamma, 0.2).risk
        assert 0.04 < risks[0] < risks[1] < risks[2] <= softmax
        assert softmax < theory.linear_risk(s)


def test_argmax_is_the_limit_of_softmax():
    s = Setting(12.0, 10.0, 40.0, 0.8, 0.3)
    assert theory.oracle_risk(s) == pytest.approx(theory.argmax_risk(s), rel=5e-2)
    sharper = abs(theory.oracle_risk(s._replace(inverse_temperature=80.0)) - theory.argmax_risk(s))
    assert sharper < 0.6 * abs(theory.oracle_risk(s) - theory.argmax_risk(s))


def test_tiny_risks_keep_their_digits():
    for s in (
        Setting(400.0, 10.0, 18.86), Setting(2000.0, 1e3, 11.3, 1.4), Setting(400.0, 2.0, 9.0),
    ):
        assert theory.oracle_risk(s) < 1e-29
        assert theory.oracle_risk(s) == pytest.approx(theory.oracle_risk(s, FINEST), rel=2e-12)


def test_the_slope_in_lambda():
    for s in (Setting(40.0, 10.0, 3.0), Setting(7.0, 3.5, 0.8, 1.3)):
        ends = [
            theory.oracle_risk(s._replace(inverse_temperature=s.inverse_temperature + h))
            for h in (1e-5, -1e-5)]
        assert theory.oracle_slope(s) == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6)


def test_thresholds():
    assert theory.bayes_capacity(2**-0.5) == pytest.approx(np.log(2) / 2)
    assert theory.null_threshold(0.1**0.5) == pytest.approx(18.67, abs=0.01)
    at = [
        theory.oracle_risk(Setting(d, float(np.exp(d / 4)), (d / 2) ** 0.5))
        for d in (40.0, 80.0, 160.0, 320.0)]
    assert at == pytest.approx([0.23662, 0.23922, 0.24179, 0.24396], abs=1e-5)
    bayes = [theory.bayes_risk(Setting(d, 2 ** (d / 2), 1.0)) for d in (40.0, 80.0, 160.0)]
    assert bayes == pytest.approx([0.23190, 0.23631, 0.23991], abs=1e-5)


def test_where_softmax_beats_erf_with_many_tokens():
    """Gains of order 1/L on the null predictor, at 10^5 tokens on both sides of the threshold."""
    gamma = 0.08**0.5
    threshold = theory.erf_threshold(gamma)
    assert theory.null_threshold(gamma) < threshold
    for dim, wins in ((threshold - 0.5, False), (threshold + 0.5, True)):
        softmax = theory.best_inverse_temperature(dim, 1e5, gamma).risk
        assert (softmax < theory.best_erf(dim, 1e5, gamma).risk) == wins
    with pytest.raises(InvalidInput, match="gamma"):
        theory.erf_threshold(0.8)


def test_how_late_descent_creeps():
    """The saturated force is the slope of the exact risk, the better the farther."""
    setting = Setting(400.0, 10.0, 0.9, 0.8)
    kappas = np.array([0.7, 0.8, 0.9])
    exact = [-(1 - x**2) * theory.risk(Overlaps(x, 1.0), setting).gradient.kappa for x in kappas]
    away = np.array(exact) / theory.creeping_speed(kappas, setting) - 1
    assert np.all(np.abs(away) < [0.04, 0.012, 0.004])


def test_several_informative_tokens():
    one = Setting(40.0, 10.0, 5.858)
    assert theory.several_risk(one, 1) == pytest.approx(theory.oracle_risk(one), rel=1e-9)
    for dim, count, lam, risk in (
        (400.0, 2, 0.29434, 6.0630e-3), (6400.0, 2, 0.09597, 6.6663e-4),
        (400.0, 5, 0.21469, 2.3463e-3),
    ):
        best = theory.best_several(dim, 10.0, count)
        assert best == pytest.approx((lam, risk), rel=2e-4)


@pytest.mark.parametrize("dim", [10.0, 400.0, 2000.0])
def test_the_best_of_one_informative_token_is_that_of_the_oracle(dim):
    """A line search of one formula, the zero of the slope of another; and with |v| fitted, which at
    large d gains nothing."""
    root = theory.best_inverse_temperature(dim, 10.0)
    assert theory.best_several(dim, 10.0, 1) == pytest.approx(root, rel=1e-6, abs=0)
    best = dynamics.trained_length(dim, 10.0, 2**-0.5, "softmax")
    if dim == 10.0:
        assert best.risk < 0.99 * root.risk
    else:
        assert best == pytest.approx(root, rel=1e-6, abs=0)


def test_a_search_goes_on_beyond_its_window():
    for centre in (1e-4, 0.3, 250.0):
        found = theory.least_over(lambda x, c=centre: np.log(x / c) ** 2, 0.01, 10.0)
        assert found == pytest.approx((centre, 0.0), rel=1e-6, abs=1e-12)
    assert theory.least_over(lambda x: x, 0.01, 10.0, stays=True)[0] == pytest.approx(0.01)
    for falls in (lambda x: x, lambda x: -x):
        with pytest.raises(ArithmeticError, match="all the way"):
            theory.least_over(falls, 0.01, 10.0)


def test_the_best_lambda_of_erf_among_very_many_tokens():
    """Where erf is a straight line: gamma^2 m root(pi)/(2 N)."""
    law = 0.5 * 5**0.5 * np.pi**0.5 / 2 / 1e8
    assert theory.best_erf(10.0, 1e8).inverse_temperature == pytest.approx(law, rel=1e-6)


def test_several_tokens_in_large_dimension_ask_for_a_small_lambda():
    best = theory.best_several(1e8, 10.0, 2)
    around = [
        theory.several_risk(Setting(1e8, 10.0, best.inverse_temperature * x), 2)
        for x in (0.99, 1.01)]
    assert best.inverse_temperature < 2e-3 and min(around) > best.risk
    with pytest.raises(InvalidInput, match="nil"):
        theory.best_several(1e8, 10.0, 1)


def test_several_on_the_manifold_are_the_plain_integrals():
    """M E p^2 - 2 nu E p + 1/M from its own definition, by samples of the weights."""
    random, setting = np.random.default_rng(7), Setting(6.0, 7.0, 0.9, 0.8, 0.2)
    scores = random.standard_normal((400_000, 7))
    scores[:, :3] = 0.8 * scores[:, :3] + 0.4 * setting.shift
    weights = np.exp(0.9 * scores)
    weights /= weights.sum(axis=1, keepdims=True)
    p, q = weights[:, :3].mean(), np.mean(np.sum(weights[:, 3:] ** 2, axis=1))
    read = 3 * np.mean(weights[:, :3] ** 2) - 2 * 0.6 * p + 1 / 3
    by_hand = 0.2**2 + 0.8**2 * read + q
    assert theory.several_risk(setting, 3, 0.4, 0.6) == pytest.approx(by_hand, rel=2e-3)


def test_erf_by_the_same_polynomial():
    """Numbers of the closed forms of Marion et al., which share no code with these integrals."""
    s = Setting(400.0, 10.0, 0.1)
    assert theory.erf_oracle_risk(s) == pytest.approx(0.113498, abs=1e-6)
    off = Setting(80.0, 10.0, 0.6)
    at = theory.Overlaps(0.3, 0.5, -0.1, 0.2, 0.1)
    value = theory.evaluate(at, off, theory.erf_moments(off, 0.3))
    assert float(value.risk) == pytest.approx(2.96446, abs=1e-5)


def test_argmax_in_enormous_dimension_needs_no_more_room():
    """Where the normal density is no number there is nothing to sum: 10^15 dimensions took 8 GB."""
    tracemalloc.start()
    try:
        assert theory.argmax_risk(Setting(1e15, 10.0, 1.0)) == 0.0
        assert tracemalloc.get_traced_memory()[1] < 10e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("sees", ["all", "plane", "scores"])
@pytest.mark.parametrize("gamma", [0.6, 1.0, 1.3])
def test_of_hopelessly_many_tokens_bayes_has_the_risk_of_predicting_zero(sees, gamma):
    for length in (1e25, 1e60, 1e140):
        risk = theory.bayes_risk(Setting(4.0, length, 1.0, gamma, 0.2), sees)
        assert risk == pytest.approx(0.04 + gamma**2, rel=1e-10)
