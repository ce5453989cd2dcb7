"""The exact risk and its gradient, against sums, samples, differences and limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

from saccade.errors import InvalidInput
from saccade.studies.softmax_location import theory
from saccade.studies.softmax_location.experiments.scores import _brute
from saccade.studies.softmax_location.theory import FINE, FINEST, ROUGH, Overlaps, Rule, Setting
from saccade.studies.softmax_location.theory.moments import from_weights
from saccade.studies.softmax_location.theory.risk import _p_form, _p_slopes, _r_form, _r_slopes

REFERENCE = Rule(0.12, 0.3, 10.5, 45.0)


def state(random: np.random.Generator, lean: float = 0.0) -> Overlaps:
    k, v = random.standard_normal((2, 6))
    k[0] += lean
    k, v = k / np.linalg.norm(k), v / np.linalg.norm(v)
    return Overlaps(k[0], v[1], v[0], k[1], float(k @ v))


def relative(one: theory.Value, other: theory.Value) -> float:
    """Risk relative to itself, slopes relative to the largest."""
    a, b = (np.array([float(x) for x in value.gradient]) for value in (one, other))
    return max(abs(float(one.risk / other.risk) - 1), np.max(np.abs(a - b)) / np.max(np.abs(b)))


def test_two_tokens_against_a_direct_sum():
    random = np.random.default_rng(0)
    for _ in range(4):
        setting = np.array([
            random.choice([4, 12, 60]), 2.0, np.exp(random.uniform(-2, 1)),
            random.uniform(0.4, 1.5), 0.3])
        at = state(random)
        direct = _brute(setting, at, 241, 9.5, False)
        assert float(theory.risk(at, Setting(*setting)).risk) == pytest.approx(direct, rel=1e-12)


def test_the_direct_sum_can_tell():
    at, numbers = state(np.random.default_rng(1)), np.array([10.0, 2.0, 0.8, 0.6, 0.0])
    assert abs(_brute(numbers, at, 241, 9.5, False) - _brute(numbers, at, 241, 9.5, True)) > 1e-2


@pytest.mark.parametrize(
    ("dim", "length", "lam", "gamma"), [(6, 7, 0.8, 0.6), (30, 40, 1.5, 1.3), (200, 3, 0.1, 0.71)])
def test_against_samples(dim, length, lam, gamma):
    random = np.random.default_rng(dim)
    at, n = state(random), 60_000
    k3 = np.sqrt(1 - at.kappa**2 - at.eta**2)
    w = (at.rho - at.kappa * at.theta - at.eta * at.nu) / k3
    k = np.array([at.kappa, at.eta, k3, 0.0])
    v = np.array([at.theta, at.nu, w, np.sqrt(1 - at.theta**2 - at.nu**2 - w**2)])
    X = random.standard_normal((n, length, 4))
    X[:, 0] *= gamma
    X[:, 0, 0] += np.sqrt(dim / 2)
    scores = np.exp(lam * (X @ k - (X @ k).max(axis=1, keepdims=True)))
    error = (np.sum(scores * (X @ v), axis=1) / scores.sum(axis=1) - X[:, 0, 1]) ** 2
    exact = float(theory.risk(at, Setting(float(dim), float(length), lam, gamma)).risk)
    assert abs(error.mean() - exact) < 5 * error.std() / np.sqrt(n)


@pytest.mark.parametrize(
    "setting",
    [Setting(40.0, 10.0, 0.7, 0.6, 0.2), Setting(9.0, 2.5, 2.0, 1.3), Setting(400.0, 1e5, 0.3)])
@pytest.mark.parametrize("lean", [0.0, 3.0, -3.0])
def test_the_gradient_is_the_derivative(setting, lean):
    at, step = state(np.random.default_rng(7), lean), 1e-5
    slopes = theory.risk(at, setting).gradient
    for name, slope in slopes._asdict().items():
        ends = [
            float(theory.risk(at._replace(**{name: getattr(at, name) + h}), setting).risk)
            for h in (step, -step)]
        assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(float(slope), rel=1e-5, abs=2e-8)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6), log_lam=st.floats(-4.6, 1.8), log_length=st.floats(0.7, 13.8),
    gamma=st.floats(0.3, 3.0), dim=st.sampled_from([2.0, 10.0, 400.0]),
    lean=st.sampled_from([0.0, 4.0, -4.0]))
def test_the_fine_rule_reaches_twelve_digits(seed, log_lam, log_length, gamma, dim, lean):
    at = state(np.random.default_rng(seed), lean)
    setting = Setting(dim, float(np.exp(log_length)), float(np.exp(log_lam)), gamma)
    fine, finest = (theory.risk(at, setting, rule) for rule in (FINE, FINEST))
    assert abs(float(fine.risk / finest.risk) - 1) < 1e-12
    slopes, check = (np.array([float(x) for x in v.gradient]) for v in (fine, finest))
    assert np.max(np.abs(slopes - check)) < 3e-12 * max(np.max(np.abs(check)), 1e-2)


def test_rules_against_a_much_finer_one():
    random = np.random.default_rng(3)
    for setting in (Setting(400.0, 1e6, 0.01), Setting(10.0, 2.0, 5.0), Setting(80.0, 30.0, 20.0)):
        at = state(random)
        reference = theory.risk(at, setting, REFERENCE)
        assert relative(theory.risk(at, setting, FINE), reference) < 2e-12
        assert relative(theory.risk(at, setting, ROUGH), reference) < 1e-6


def test_both_forms_are_one_polynomial():
    random = np.random.default_rng(2)
    setting, at = Setting(20.0, 5.0, 0.6, 0.9), state(random)
    M = theory.moments(setting, at.kappa)
    far = setting.gamma**2 + _p_form(at, setting, M)
    constant = (setting.shift * at.theta) ** 2 + 2 * setting.gamma**2 * (1 - at.nu)
    assert float(constant + _r_form(at, setting, M)) == pytest.approx(float(far), rel=1e-13)
    for a, b in zip(_p_slopes(at, setting, M), _r_slopes(at, setting, M), strict=True):
        assert float(a) == pytest.approx(float(b), rel=1e-11, abs=1e-13)


def test_moments_of_stein():
    """r_1 = -lambda gamma (r_0 - s_0), b_1 = -lambda gamma (b_0 - c_0): checks at no cost."""
    setting = Setting(30.0, 12.0, 0.9, 0.8)
    M, slope = theory.moments(setting, 0.4), -0.9 * 0.8
    assert float(M.r[1]) == pytest.approx(slope * float(M.r[0] - M.rr[0]), rel=1e-12)
    assert float(M.b[1]) == pytest.approx(slope * float(M.b[0] - M.rb[0]), rel=1e-11)
    assert float(M.p[0] + M.r[0]) == pytest.approx(1.0, abs=1e-13)


def test_mean_weight_of_two_tokens_is_a_logistic_mean():
    """At L = 2, E p is the mean of a logistic of one normal number."""
    setting, kappa = Setting(12.0, 2.0, 0.8, 0.6), 0.3
    centre = setting.shift * kappa
    spread = np.hypot(setting.gamma, 1.0)

    def integrand(x: float) -> float:
        return np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi) / (1 + np.exp(-0.8 * (centre + spread * x)))

    direct = integrate.quad(integrand, -12, 12, epsabs=1e-13)[0]
    assert float(theory.moments(setting, kappa).p[0]) == pytest.approx(direct, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_mirror_symmetry_and_no_second_one(seed):
    at, setting = state(np.random.default_rng(seed)), Setting(25.0, 6.0, 0.8, 0.6)
    mirrored = at._replace(theta=-at.theta, eta=-at.eta, rho=-at.rho)
    turned = at._replace(kappa=-at.kappa, nu=-at.nu, theta=-at.theta, eta=-at.eta)
    here, there, other = (float(theory.risk(x, setting).risk) for x in (at, mirrored, turned))
    assert there == pytest.approx(here, rel=1e-12)
    assert abs(other - here) > 1e-9


def test_the_manifold_and_a_sum_over_weights():
    """R(kappa, nu) = gamma^2 - 2 gamma^2 nu E p + gamma^2 E p^2 + E q."""
    setting = Setting(40.0, 10.0, 0.5, 0.8, 0.1)
    M = theory.moments(setting, 0.6)
    square = 0.64
    expected = 0.01 + square - 2 * square * 0.7 * M.p[0] + square * M.pp[0] + M.q[0]
    assert float(theory.manifold_risk(0.6, 0.7, setting)) == pytest.approx(float(expected))


def test_uniform_weights_at_small_lambda():
    """lambda -> 0: T is the mean of the values, whose risk is elementary."""
    at, setting = Overlaps(0.4, 0.5, 0.2, -0.3, 0.1), Setting(30.0, 8.0, 1e-7, 0.9)
    a, g = setting.shift * at.theta, 0.81
    expected = g - 2 * g * at.nu / 8 + (a**2 + g + 7) / 64
    assert float(theory.risk(at, setting).risk) == pytest.approx(expected, abs=1e-5)


def test_weights_that_do_not_look_at_each_other():
    """The same polynomial with weights one: T = sum of the values."""
    one = np.array([1.0, 0.0, 1.0, 0.0])
    setting, at = Setting(10.0, 4.0, 1.0, 0.6), Overlaps(0.2, 0.5, 0.3, 0.1, 0.2)
    M = from_weights(one, one, 0.0, 3.0, 3.0)
    a = setting.shift * at.theta
    expected = 0.36 - 2 * 0.36 * at.nu + a**2 + 0.36 + 3
    assert float(theory.evaluate(at, setting, M).risk) == pytest.approx(expected)


def test_bad_input_is_refused_in_one_sentence():
    for change, word in (
        ({"length": 1.5}, "length"), ({"dim": 2.5}, "dim"), ({"gamma": 0.0}, "gamma"),
        ({"inverse_temperature": 1e4}, "inverse_temperature"), ({"noise": -1.0}, "noise"),
    ):
        with pytest.raises(InvalidInput, match=word):
            theory.check_setting(Setting(10.0, 5.0, 1.0)._replace(**change))
    with pytest.raises(InvalidInput, match="Gram"):
        theory.check_overlaps(Overlaps(0.9, 0.9, 0.9, 0.0, 0.0))
