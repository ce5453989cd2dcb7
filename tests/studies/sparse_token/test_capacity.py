"""Capacity, large-sample rates and alignment: derivatives, limits, a peer minimiser, linear
programmes, slopes."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize

from saccade.convex import is_separable
from saccade.errors import InvalidInput
from saccade.studies.sparse_token.experiments.draws import draw_pooled_features
from saccade.studies.sparse_token.task import SparseToken
from saccade.studies.sparse_token.task import SparseTokenSetting as Setting
from saccade.studies.sparse_token.theory import (
    alignment_after_two_steps,
    capacity,
    feature_law,
    fit,
    large_sample_rate,
)
from saccade.studies.sparse_token.theory.separation import shortfall, violation_derivatives

pytestmark = pytest.mark.slow


def test_shortfall_by_quadrature():
    for t in (-4.0, -0.5, 0.0, 1.9, 2.1, 6.0):
        density = [
            quad(
                lambda g, p=p, t=t: (g - t) ** p * np.exp(-g * g / 2) / np.sqrt(2 * np.pi), t,
                t + 30, epsabs=0, limit=200)[0]
            for p in (2, 1, 0)]
        np.testing.assert_allclose(
            shortfall(np.array(t)), [density[0], -2 * density[1], 2 * density[2]], rtol=1e-9)


def test_violation_derivatives_by_finite_differences():
    law = feature_law(Setting(4, 2, 0.3, 2.0), "attention", 0.6, 1.3, 6)
    x = np.array([0.7, 0.4, -0.3])
    _, gradient, hessian, _ = violation_derivatives(law, x)
    for index, step in enumerate(np.eye(3) * 1e-5):
        up, down = violation_derivatives(law, x + step), violation_derivatives(law, x - step)
        assert abs((up[0] - down[0]) / 2e-5 - gradient[index]) < 1e-8
        np.testing.assert_allclose((up[1] - down[1]) / 2e-5, hessian[index], atol=1e-7)


def test_against_a_peer_minimiser_on_plain_samples():
    """The formula as printed, with plain Monte Carlo tokens and a derivative-free minimiser."""
    rng = np.random.default_rng(0)
    n, L, theta, rho, k = 200_000, 6, 3.0, 0.7, 1.2
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    planted = theta * (y > 0)[:, None] * (np.arange(L) < 1)
    scores = planted * rho + rng.normal(size=(n, L))
    s = np.exp(k * scores)
    s /= s.sum(1, keepdims=True)
    A, S, tau = (
        (s * scores).sum(1), np.sqrt(1 - rho**2) * (s * planted).sum(1), np.sqrt((s**2).sum(1)))

    def violation(x):
        scale = np.sqrt(1 + x[1] ** 2)
        return (scale**2 * shortfall(y * (x[0] * A + x[1] * S + x[2]) / (tau * scale))[0]).mean()

    peer = minimize(
        violation, np.zeros(3), method="Nelder-Mead",
        options={"xatol": 1e-3, "fatol": 1e-7, "maxfev": 400})
    ours = capacity(Setting(L, 1, 0.5, theta), "attention", rho, k)
    assert ours.status == "converged"
    assert abs(1 / ours.samples_per_dim - peer.fun) < 5 * 0.5 / np.sqrt(n)


def test_cover_and_the_factor_length():
    for model, expected in [("pooled", 2.0), ("vectorised", 20.0)]:
        assert abs(capacity(Setting(10, 1, 0.5, 0.0), model).samples_per_dim - expected) < 1e-9
    no_signal = capacity(Setting(10, 1, 0.5, 0.0), "attention", 0.5, 1.0)
    assert abs(no_signal.samples_per_dim - 2.0) < 1e-4 and no_signal.status == "converged"
    setting = Setting(10, 3, 0.2, 3.0)
    assert (
        abs(
            capacity(setting, "vectorised").samples_per_dim
            / capacity(setting, "pooled").samples_per_dim - 10)
        < 1e-9)


def test_order_of_capacities_depends_on_the_setting():
    good, rare, strong = (
        Setting(10, 1, 0.5, 4.0), Setting(10, 3, 0.2, 3.0), Setting(10, 1, 0.5, 6.0))
    pooled, attention, vectorised = (
        capacity(good, *m).samples_per_dim
        for m in (("pooled",), ("attention", 0.8, 1.0), ("vectorised",)))
    assert pooled < attention < vectorised
    assert (
        capacity(rare, "attention", 0.3, 1.0).samples_per_dim
        < 0.9 * capacity(rare, "pooled").samples_per_dim)
    assert (
        capacity(strong, "attention", 1.0, 1.0).samples_per_dim
        > 2 * capacity(strong, "vectorised").samples_per_dim)


def test_separability_changes_at_capacity():
    """d = 60, ten data sets: nearly all separable at 0.7 of the capacity, nearly none at 1.35 (the
    window narrows as d^-1/2)."""
    setting, dim = (10, 1, 0.5, 3.0), 60
    limit = capacity(Setting(*setting), "pooled").samples_per_dim
    task = SparseToken.create(dim, *setting)
    fractions = []
    for factor in (0.7, 1.35):
        draws = [
            draw_pooled_features(task, np.random.default_rng(50 + t), int(factor * limit * dim))
            for t in range(10)]
        fractions.append(np.mean([is_separable(*sample) for sample in draws]))
    assert fractions[0] >= 0.8 and fractions[1] <= 0.2


@pytest.mark.parametrize("model", ["pooled", "attention"])
def test_error_approaches_its_limit_like_one_over_alpha(model):
    setting = Setting(10, 1, 0.5, 5.0)
    query = {"alignment": 0.8, "sharpness": 1.0} if model == "attention" else {}
    rate = large_sample_rate(setting, model, **query)
    alphas = np.array([100.0, 200.0, 400.0])
    errors = np.array([fit(setting, model, a, 1e-12, "square", **query).test_error for a in alphas])
    np.testing.assert_allclose(
        alphas * (errors - rate.limit), rate.coefficient, rtol=0.03,
        atol=400 * 3 * rate.limit_accuracy)
    assert rate.status == "converged"


def test_vectorised_rate_is_length_times_slower():
    pooled, vectorised = (
        large_sample_rate(Setting(10, 1, 0.5, 5.0), m) for m in ("pooled", "vectorised"))
    assert abs(vectorised.limit - pooled.limit) < 1e-12
    assert abs(vectorised.coefficient / pooled.coefficient - 10) < 1e-4


def test_badly_aligned_attention_loses_to_pooling():
    setting = Setting(10, 1, 0.5, 5.0)
    pooled = large_sample_rate(setting, "pooled").limit
    limits = [large_sample_rate(setting, "attention", rho, 2.0).limit for rho in (0.2, 0.4)]
    assert limits[0] > pooled + 0.02 and limits[1] < pooled - 0.02


def test_alignment_misses_one_by_a_constant_over_alpha():
    setting = Setting(10, 3, 0.2, 6.0)
    alphas = np.array([1e2, 1e3, 1e4])
    gaps = np.array([1 - alignment_after_two_steps(setting, a).q_cosine for a in alphas])
    slope = np.polyfit(np.log(alphas), np.log(gaps), 1)[0]
    assert abs(slope + 1) < 0.01


def test_square_loss_alignment_in_closed_form():
    """For the square loss h = nu + sigma G - y: E h = nu - y, E h^2 = (nu - y)^2 + sigma^2; the
    formula written out once more."""
    L, R, pi, theta, a0, ew, eb, eq, beta = 6, 2, 0.3, 2.0, 3.0, 0.4, 0.3, 2.0, 1.5
    ours = alignment_after_two_steps(Setting(L, R, pi, theta), a0, ew, eb, eq, beta, "square")
    omega, b = pi * ew * theta * R / L, eb * (2 * pi - 1)
    w2 = omega**2 + ew**2 / (a0 * L)
    up, down = b + theta * R / L * omega + ew / (a0 * L) - 1, b - ew / (a0 * L) + 1
    K, p = theta**2 * R * (1 - R / L), -eq * beta / L
    A, B = p * pi * up * K * omega, p * (L - 1) * (pi * up + (1 - pi) * down)
    both = (pi * up**2 + (1 - pi) * down**2 + w2 / L) * (L - 1) * w2
    norm2 = (
        A**2 + 2 * A * B * omega + B**2 * w2
        + p**2 / a0 * (both + pi * (up**2 + w2 / L) * K * omega**2))
    np.testing.assert_allclose(
        [ours.b, ours.w_norm, ours.q_signal, ours.q_norm],
        [b, np.sqrt(w2), A + B * omega, np.sqrt(norm2)], rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"samples_per_dim": 0.0}, "samples_per_dim"), ({"eta_q": 0.0}, "eta_q"),
        ({"loss": "hinge"}, "loss")])
def test_bad_steps_are_refused(change, word):
    with pytest.raises(InvalidInput, match=word):
        alignment_after_two_steps(Setting(4, 1, 0.5, 2.0), **({"samples_per_dim": 1.0} | change))
    with pytest.raises(InvalidInput, match="length"):
        alignment_after_two_steps(Setting(1, 1, 0.5, 2.0), 1.0)
