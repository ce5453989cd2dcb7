"""Where the query looks: formulas against counting, and the samplers against plain definitions."""

import numpy as np
import pytest
from scipy.special import softmax

from saccade.convex import ConvexFit
from saccade.errors import InvalidInput
from saccade.studies.sparse_token import theory
from saccade.studies.sparse_token.dynamics import LOSS_DERIVATIVES, gradient_steps
from saccade.studies.sparse_token.experiments import limits, long, readouts, shares, sizes
from saccade.studies.sparse_token.task import SparseToken
from saccade.studies.sparse_token.task import SparseTokenSetting as Setting


def test_the_share_is_that_of_counted_tokens():
    """Five standard errors of 40,000 samples of seven tokens."""
    setting, rho, k = Setting(7, 2, 0.3, 2.0), 0.7, 1.1
    scores = np.random.default_rng(0).normal(size=(40_000, 7))
    scores[:, :2] += rho * setting.signal
    share = softmax(k * scores, axis=1)[:, :2].sum(1)
    first = scores.argmax(1) < 2
    predicted = theory.informative_share(setting, rho, k)
    for value, counted in ((predicted.share, share), (predicted.first, first)):
        assert abs(counted.mean() - value) < 5 * counted.std() / 200
    assert predicted.accuracy < 1e-3


def test_a_query_without_length_looks_everywhere():
    even = theory.informative_share(Setting(7, 2, 0.3, 2.0), 0.7, 0.0)
    assert even.share == pytest.approx(2 / 7) and even.first == pytest.approx(2 / 7)


@pytest.mark.parametrize("sharpness", [0.5, 1.2, 6.0, 9.0])
def test_the_noise_has_two_phases(sharpness):
    """Both forms at 2000 tokens: asymptotic, hence to 3 % of E log Z - log N or k a."""
    noise = np.random.default_rng(1).normal(size=(4000, 2000))
    counted = np.log(np.exp(sharpness * noise).sum(1)).mean()
    predicted = theory.mean_log_noise(2000, sharpness)
    assert abs(predicted - counted) < 0.02 + 0.01 * abs(counted)


@pytest.mark.parametrize(("count", "border"), [(20, 2.0627128), (1000, 3.36709008)])
def test_the_noise_is_finite_and_continuous_at_the_border(count, border):
    noise = np.random.default_rng(2).normal(size=(4000, count))
    for sharpness in border * np.array([1 - 1e-6, 1.0, 1 + 1e-6, 1.02, 1.1]):
        counted = np.log(np.exp(sharpness * noise).sum(1)).mean()
        assert abs(theory.mean_log_noise(count, sharpness) - counted) < 0.25
    below, above = (theory.mean_log_noise(count, border * (1 + e)) for e in (-1e-6, 1e-6))
    assert abs(above - below) < 1e-4


def test_the_odds_grow_with_their_exponent():
    """Powers of L far out, where logarithms no longer matter: 2 c kappa - 1 - kappa^2, 2 kappa (c -
    1), and zero at kappa = c - sqrt(c^2 - 1)."""
    lengths = 2 ** np.array([45, 52])
    root = np.sqrt(2 * np.log(lengths))
    for c, kappa, power in ((1.25, 0.3, -0.34), (1.25, 0.5, 0.0), (1.25, 1.5, 0.75)):
        odds = [
            theory.mean_log_odds(Setting(int(length), 1, 0.5, float(c * r)), float(kappa * r))
            for length, r in zip(lengths, root, strict=True)]
        assert np.diff(odds)[0] / np.diff(np.log(lengths))[0] == pytest.approx(power, abs=0.06)


def test_refusals_name_the_parameter():
    with pytest.raises(InvalidInput, match="count"):
        theory.mean_log_noise(3, 1.0)
    with pytest.raises(InvalidInput, match="sharpness"):
        theory.mean_log_noise(30, -1.0)
    with pytest.raises(InvalidInput, match="alignment"):
        theory.informative_share(Setting(4, 1, 0.5, 1.0), 1.5, 1.0)


def test_sums_over_noise_are_a_softmax_of_all_tokens(monkeypatch):
    monkeypatch.setattr(long, "PIECE", 120)  # three pieces
    k, tokens = 1.3, np.random.default_rng(5).normal(size=(2, 1, 8)) + 2.0
    found = long.noise_sums(np.random.default_rng(4), 8, 40, np.array([0.4, k]))
    noise = np.concatenate([
        rng.standard_normal((rows, 40), np.float32) for rng in [np.random.default_rng(4)]
        for rows in (3, 3, 2)])
    every = np.concatenate([noise, tokens[:, 0].T], axis=1)
    weights = softmax(k * every, axis=1)
    log_odds, average = long.joined(found[:, 1], tokens, k)
    assert np.allclose(average[0], (weights * every).sum(1), rtol=1e-5)
    share = weights[:, 40:].sum(1)
    assert np.allclose(log_odds[0], np.log(share / (1 - share)), atol=1e-4)


def test_gradients_are_those_of_differences():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(5, 4, 3)), np.array([1.0, -1.0, 1.0, 1.0, -1.0])
    q, w, b, beta = rng.normal(size=3), rng.normal(size=3), 0.3, 0.8

    def loss(q, w, b):
        margin = np.einsum("nl,nld,d->n", softmax(beta * (X @ q), axis=1), X, w) + b
        return np.logaddexp(0, -y * margin).mean()

    by_q, by_w, by_b = shares.gradients(X, y, (q, w, b), beta, "logistic")
    step = 1e-6
    for axis in np.eye(3):
        assert (loss(q + step * axis, w, b) - loss(q - step * axis, w, b)) / (
            2 * step) == pytest.approx(by_q @ axis, abs=1e-8)
        assert (loss(q, w + step * axis, b) - loss(q, w - step * axis, b)) / (
            2 * step) == pytest.approx(by_w @ axis, abs=1e-8)
    assert (loss(q, w, b + step) - loss(q, w, b - step)) / (2 * step) == pytest.approx(by_b)


@pytest.mark.parametrize("loss", list(LOSS_DERIVATIVES))
def test_queries_are_those_of_the_two_steps(loss):
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(6, 4, 3)), np.where(rng.random(6) < 0.5, 1.0, -1.0)
    start, one, two = shares.trained_queries(X, y, np.zeros(3), (12.0, 0.7, 0.4), 0.8, loss)
    assert not start.any() and not one.any()
    assert np.allclose(two, gradient_steps(X, y, 0.7, 0.4, 12.0, 0.8, loss).q)


def test_shared_draws_give_the_test_error():
    """Against draws of its own, five standard errors of 20,000 points a class."""
    task = SparseToken.create(5, 4, 2, 0.45, 2.2)
    query = readouts.tilted_query(5, 0.8, 1.2)
    rng = np.random.default_rng(8)
    fitted = ConvexFit(rng.normal(size=5), -0.4, 0.0, 0.0, 0.0, 1, "converged")
    seen = limits.draw_seen(rng, 40_000, 4, 2, 0.45, 2.2, 0.8, 1.2)
    view = readouts.view_of_attention(fitted.w, fitted.b, query, task.direction)
    other = readouts.attention_test_error(task.setting, view, rng, 20_000)
    assert abs(sizes.error_on(seen, fitted, query, task.direction) - other) < 5 * 0.5 / 200
