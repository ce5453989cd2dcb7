"""Estimated signal and share of informative tokens: coverage on data whose truth is known, nothing
told where there is nothing, the same answer in other units."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from saccade.estimators.advise import signal as parts
from saccade.estimators.advise.signal import climb, estimate_signal, fit_mixture, whitening
from saccade.estimators.bags import Bags


def bags(n, length, dim, theta, informative, seed):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, length, dim))
    positive = random.random(n) < 0.5
    direction = random.standard_normal(dim)
    direction /= np.linalg.norm(direction)
    for place in np.flatnonzero(positive):
        X[place, random.permutation(length)[:informative]] += theta * direction
    return Bags.from_array(X), positive


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "length", "dim", "theta", "informative"),
    [(400, 20, 8, 2.5, 1), (200, 10, 5, 2.0, 3), (120, 10, 20, 3.5, 2)])
def test_intervals_cover_the_truth(n, length, dim, theta, informative):
    """95 % intervals over 30 data sets: fewer than 24 covered would be a chance below 1e-4."""
    told = [estimate_signal(*bags(n, length, dim, theta, informative, s), s) for s in range(30)]
    assert sum(one.signal.low <= theta <= one.signal.high for one in told) >= 24
    share = informative / length
    assert sum(one.share.low <= share <= one.share.high for one in told) >= 24
    assert sum(one.told for one in told) >= 24
    assert np.median([one.signal.value for one in told]) == pytest.approx(theta, rel=0.12)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "dim"), [(100, 60), (200, 5)])
def test_nothing_is_told_where_there_is_nothing(n, dim):
    told = [estimate_signal(*bags(n, 6, dim, 0.0, 1, s), s).told for s in range(20)]
    assert sum(told) <= 4


@settings(max_examples=10, deadline=None)
@given(scale=st.floats(1e-3, 1e3), shift=st.floats(-100, 100), seed=st.integers(0, 99))
def test_units_do_not_matter(scale, shift, seed):
    some, positive = bags(40, 5, 3, 3.0, 2, seed)
    factors = scale * np.array([1.0, 7.0, 0.2])
    moved = Bags(some.tokens * factors + shift, some.offsets)
    before, after = estimate_signal(some, positive), estimate_signal(moved, positive)
    assert after.signal.value == pytest.approx(before.signal.value, rel=1e-3, abs=1e-3)
    assert after.share.value == pytest.approx(before.share.value, rel=1e-3)


def test_the_climb_ends_where_a_general_optimiser_does():
    """The likelihood maximised by L-BFGS with numerical derivatives, from the same start."""
    some, positive = bags(60, 8, 2, 3.0, 2, 5)
    tokens = some.take(np.flatnonzero(positive)).tokens
    ours = fit_mixture(tokens, np.ones(len(tokens)))

    def minus(theta):
        share, shift = 1 / (1 + np.exp(-theta[0])), theta[1:]
        tilt = tokens @ shift - shift @ shift / 2
        return -np.mean(np.log(1 - share + share * np.exp(tilt)))

    start = np.concatenate([[np.log(ours.share / (1 - ours.share))], ours.shift + 0.1])
    peer = minimize(minus, start, method="L-BFGS-B", options={"ftol": 1e-14, "gtol": 1e-9})
    assert ours.gain == pytest.approx(-peer.fun, abs=1e-6)
    assert np.allclose(ours.shift, peer.x[1:], atol=0.02)


def test_the_likelihood_rises():
    some, positive = bags(40, 8, 3, 2.0, 2, 1)
    tokens = some.take(np.flatnonzero(positive)).tokens
    gains = [climb(tokens, np.ones(len(tokens)), 0.3, np.ones(3), most).gain for most in (1, 5, 50)]
    assert gains == sorted(gains)


def test_whitening_makes_noise_standard_and_drops_constants():
    random = np.random.default_rng(2)
    mixing = random.standard_normal((4, 4))
    tokens = np.column_stack([random.standard_normal((5000, 4)) @ mixing + 3, np.full(5000, 7.0)])
    mean, whiten = whitening(tokens)
    white = (tokens - mean) @ whiten
    spectrum = np.sort(np.linalg.eigvalsh(np.cov(white.T)))
    assert spectrum[0] < 1e-6 and np.allclose(spectrum[1:], 1, atol=0.05)


def test_large_data_are_thinned(monkeypatch):
    monkeypatch.setattr(parts, "MOST_TOKENS", 100)
    lengths = np.full(60, 5)
    kept = parts._fewer(np.arange(60), lengths, np.random.default_rng(0))
    assert len(kept) == 20 and len(set(kept)) == 20
