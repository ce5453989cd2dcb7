"""Oracle errors: Monte Carlo with explicit tokens, limits between the formulas, order, refusals."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import ndtr

from saccade.errors import InvalidInput
from saccade.studies.sparse_token.task import SparseTokenSetting as Setting
from saccade.studies.sparse_token.theory import (
    bayes_error,
    hardmax_oracle_error,
    pooled_oracle_error,
    softmax_oracle_error,
    subset_bayes_error,
)


def _tokens(setting, n, seed):
    u = np.random.default_rng(seed).normal(size=(2, n, setting.length))
    u[0, :, : setting.informative] += setting.signal
    return u


def _counted(setting, statistic, u, threshold):
    """Error of `statistic > threshold`, with its standard error."""
    rate, values = setting.positive_rate, statistic(u)
    miss, alarm = (values[0] <= threshold).mean(), (values[1] > threshold).mean()
    variance = rate**2 * miss * (1 - miss) + (1 - rate) ** 2 * alarm * (1 - alarm)
    return rate * miss + (1 - rate) * alarm, np.sqrt(variance / u.shape[1])


@pytest.mark.parametrize("setting", [Setting(10, 1, 0.5, 4.0), Setting(6, 2, 0.2, 2.0)])
def test_errors_against_counting(setting):
    u = _tokens(setting, 100_000, seed=0)
    sharpness = 1.2

    def soft(u):
        e = np.exp(sharpness * u)
        return (u * e).sum(-1) / e.sum(-1)

    for answer, statistic in [
        (softmax_oracle_error(setting, sharpness), soft),
        (hardmax_oracle_error(setting), lambda u: u.max(-1)),
        (pooled_oracle_error(setting), lambda u: u.mean(-1) * np.sqrt(setting.length)),
    ]:
        counted, error = _counted(setting, statistic, u, answer.threshold)
        assert abs(counted - answer.error) < 5 * error + answer.accuracy
        # No other threshold does better on these samples, up to noise.
        others = [
            _counted(setting, statistic, u, answer.threshold + move)[0] for move in (-0.4, 0.4)]
        assert min(others) > answer.error - 5 * error


@pytest.mark.parametrize("setting", [Setting(10, 1, 0.5, 5.0), Setting(50, 1, 0.3, 4.0)])
def test_bayes_is_a_floor_and_matches_counting(setting):
    bayes = bayes_error(setting)
    theta = setting.signal
    u = _tokens(setting, 60_000, seed=1)
    cut = np.log((1 - setting.positive_rate) / setting.positive_rate)
    counted, error = _counted(
        setting, lambda u: np.log(np.exp(theta * u - theta**2 / 2).mean(-1)), u, cut)
    assert abs(counted - bayes.error) < 5 * error + bayes.accuracy
    for sharpness in (0.0, 1.0, 3.0):
        assert softmax_oracle_error(setting, sharpness).error > bayes.error - 1e-4
    assert hardmax_oracle_error(setting).error > bayes.error - 1e-4


def test_softmax_runs_from_pooling_to_hardmax():
    setting = Setting(10, 1, 0.4, 3.0)
    assert (
        abs(softmax_oracle_error(setting, 0.0).error - pooled_oracle_error(setting).error) < 1e-12)
    sharp = softmax_oracle_error(setting, 300.0)
    assert abs(sharp.error - hardmax_oracle_error(setting).error) < 5e-4


@pytest.mark.parametrize(
    "setting",
    [Setting(10_000, 1, 0.5, 80.0), Setting(3000, 1, 0.3, 20.0), Setting(10, 1, 0.5, 11.0)])
def test_no_sharpness_is_pooling_at_every_length(setting):
    """However narrow the statistic, and where other rules make only rare errors."""
    answer, pooled = softmax_oracle_error(setting, 0.0), pooled_oracle_error(setting)
    assert abs(answer.error - pooled.error) < 1e-10
    assert answer.threshold * setting.length**0.5 == pytest.approx(pooled.threshold, abs=1e-4)


def test_a_little_sharpness_on_many_tokens_against_counting():
    setting, k = Setting(5000, 1, 0.4, 80.0), 0.01
    u = _tokens(setting, 2000, seed=3)
    answer = softmax_oracle_error(setting, k)
    counted, error = _counted(
        setting, lambda u: (np.exp(k * u) * u).sum(-1) / np.exp(k * u).sum(-1), u, answer.threshold)
    assert abs(counted - answer.error) < 5 * error + answer.accuracy
    assert answer.error < 0.5 * pooled_oracle_error(setting).error


def test_one_token_makes_all_equal():
    setting = Setting(1, 1, 0.5, 2.0)
    for answer in (
        pooled_oracle_error(setting), hardmax_oracle_error(setting), bayes_error(setting),
    ):
        assert abs(answer.error - ndtr(-1.0)) < 1e-9


def test_no_signal_means_guessing():
    for rate in (0.3, 0.5, 0.9):
        setting = Setting(4, 1, rate, 0.0)
        for answer in (
            pooled_oracle_error(setting), hardmax_oracle_error(setting), bayes_error(setting),
            softmax_oracle_error(setting, 1.0),
        ):
            assert abs(answer.error - min(rate, 1 - rate)) < 1e-9 + answer.accuracy < 1e-4


def test_separation_between_log_and_root_scalings():
    lengths = [10, 100, 1000, 10_000, 100_000, 1_000_000]
    log_signal = [hardmax_oracle_error(Setting(L, 1, 0.5, float(np.log(L)))).error for L in lengths]
    pooled = [pooled_oracle_error(Setting(L, 1, 0.5, float(np.log(L)))).error for L in lengths]
    narrow = [
        hardmax_oracle_error(Setting(L, 1, 0.5, float(np.sqrt(2 * np.log(L))) + 3)).error
        for L in lengths]
    for falling in (log_signal, narrow):
        assert all(b < a for a, b in pairwise(falling))
    assert log_signal[3] < 2e-4 and all(b > a for a, b in pairwise(pooled))


def test_refusals():
    with pytest.raises(InvalidInput, match="informative"):
        bayes_error(Setting(5, 2, 0.5, 1.0))
    with pytest.raises(InvalidInput, match="sharpness"):
        softmax_oracle_error(Setting(5, 2, 0.5, 1.0), -1.0)
    with pytest.raises(InvalidInput, match="length"):
        bayes_error(Setting(20_000, 1, 0.5, 1.0))


def test_no_signal_leaves_nothing_to_quadrature():
    assert softmax_oracle_error(Setting(5, 2, 0.4, 0.0), 1.0).error == 0.4


def test_bayes_stays_below_exact_errors_where_its_quadrature_is_coarse():
    setting = Setting(8000, 1, 0.5, 5.0)
    assert bayes_error(setting).error <= hardmax_oracle_error(setting).error


@pytest.mark.parametrize("signal", [6.0, 9.0, 11.0])
def test_rare_errors_of_two_tokens_by_their_densities(signal):
    u = np.linspace(-8, signal + 8, 1501)
    none, one = (np.exp(-((u - at) ** 2) / 2) * (u[1] - u[0]) for at in (0.0, signal))
    negative = np.outer(none, none) / (2 * np.pi)
    positive = (np.outer(one, none) + np.outer(none, one)) / (4 * np.pi)
    bayes = np.minimum(0.3 * positive, 0.7 * negative).sum()
    answer = bayes_error(Setting(2, 1, 0.3, signal))
    assert abs(answer.error / bayes - 1) < 0.01 and answer.accuracy < 0.02 * bayes


@pytest.mark.parametrize(
    "setting", [Setting(10, 1, 0.5, 11.0), Setting(40, 2, 0.2, 9.0), Setting(3, 3, 0.4, 5.0)])
def test_a_sharp_softmax_makes_the_rare_errors_of_the_maximum(setting):
    exact = hardmax_oracle_error(setting).error
    assert abs(softmax_oracle_error(setting, 300.0, 13).error / exact - 1) < 0.05
    best = subset_bayes_error(setting)
    assert best.error <= min(exact, softmax_oracle_error(setting, 1.0, 13).error) * 1.02


def test_no_classifier_undercuts_bayes_on_long_sequences_with_a_strong_signal():
    setting = Setting(300, 2, 0.3, 9.5)
    best = subset_bayes_error(setting).error
    assert 1e-11 < best < softmax_oracle_error(setting, 0.7).error
    assert best < hardmax_oracle_error(setting).error
