"""The one-dimensional collapse of the position-only loss against two-dimensional quadrature,
sampling, derivatives and limits."""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate
from scipy.special import expit

from saccade.errors import InvalidInput
from saccade.studies.group_sparse.theory.position import (
    KAPPA,
    half_normal_loss,
    half_normal_slope,
    population_forces,
    population_loss,
    position_loss,
)

STATES = [
    (4, 1.0, 0.5, 0.3), (8, 0.7, 1.2, 2.0), (3, 2.0, -0.7, -1.0), (16, 1.0, 0.3, 5.0),
    (2, 1.3, 0.9, 0.0)]
jitted_loss, jitted_forces = jax.jit(population_loss), jax.jit(population_forces)
jitted_slopes = jax.jit(jax.grad(population_loss, argnums=(0, 1)))


def by_plain_quadrature(groups, scale, alpha, gap):
    """(L, -dL/dalpha, h) from the two-dimensional definition: Gauss-Legendre in u = |N|,
    Gauss-Hermite in m."""
    s = 1 / (1 + (groups - 1) * np.exp(-gap))
    points, weights = np.polynomial.legendre.leggauss(300)
    u = 5 * scale * (points + 1)
    mass_u = 5 * weights * 2 * np.exp(-((u / scale) ** 2) / 2) / np.sqrt(2 * np.pi)
    nodes, mass_m = np.polynomial.hermite_e.hermegauss(100)
    U, M = np.meshgrid(u, nodes * scale / np.sqrt(groups - 1), indexing="ij")
    mass = np.outer(mass_u, mass_m / mass_m.sum())
    w = s * U + (1 - s) * M
    f = alpha * groups * w
    return [
        (mass * x).sum() for x in (np.logaddexp(0, -f), expit(-f) * groups * w, expit(-f) * (U - M))
    ]


@pytest.mark.parametrize(("groups", "scale", "alpha", "gap"), STATES)
def test_collapse_is_the_two_dimensional_expectation(groups, scale, alpha, gap):
    answer = position_loss(groups, alpha, gap, scale)
    expected = by_plain_quadrature(groups, scale, alpha, gap)
    np.testing.assert_allclose(
        [answer.loss, answer.alpha_force, answer.attention_force], expected, rtol=1e-10)
    assert answer.accuracy < 1e-11


def test_collapse_is_the_mean_over_samples_of_the_model():
    groups, scale, alpha, gap, samples = 6, 1.4, 0.8, 1.1, 400_000
    signals = scale * np.random.default_rng(0).normal(size=(samples, groups))
    s = np.exp(gap) / (np.exp(gap) + groups - 1)
    total = alpha * groups * (s * signals[:, 0] + (1 - s) * signals[:, 1:].mean(axis=1))
    losses = np.logaddexp(0, -np.sign(signals[:, 0]) * total)
    error = losses.std() / np.sqrt(samples)
    assert position_loss(groups, alpha, gap, scale).loss == pytest.approx(
        losses.mean(), abs=4.5 * error)


@settings(max_examples=25)
@given(st.integers(2, 200), st.floats(0.2, 3.0), st.floats(-3.0, 30.0), st.floats(-8.0, 12.0))
def test_forces_are_the_derivatives_of_the_loss(groups, scale, alpha, gap):
    state = (alpha, gap, float(groups), scale)
    forces, slopes = jitted_forces(*state), jitted_slopes(*state)
    np.testing.assert_allclose(
        [forces.alpha_force, forces.gap_force], [-slopes[0], -slopes[1]], rtol=1e-7, atol=1e-11)


@pytest.mark.parametrize(("groups", "scale", "alpha", "gap"), STATES)
def test_forces_are_finite_differences(groups, scale, alpha, gap):
    answer, h = position_loss(groups, alpha, gap, scale), 1e-4
    for name, step in (("alpha_force", (h, 0)), ("gap_force", (0, h))):
        ahead, behind = (
            jitted_loss(alpha + sign * step[0], gap + sign * step[1], groups, scale)
            for sign in (1, -1))
        assert getattr(answer, name) == pytest.approx(-float(ahead - behind) / (2 * h), rel=1e-5)


@settings(max_examples=25)
@given(st.integers(2, 64), st.floats(0.1, 5.0), st.floats(-2.0, 5.0), st.floats(-5.0, 9.0))
def test_scale_can_be_moved_into_alpha(groups, scale, alpha, gap):
    """f depends on alpha sigma only, so L(alpha, sigma) = L(alpha sigma, 1)."""
    moved = jitted_loss(alpha * scale, gap, float(groups), 1.0)
    np.testing.assert_allclose(jitted_loss(alpha, gap, float(groups), scale), moved, rtol=1e-12)


def test_extreme_gaps_stay_finite_and_reach_their_limits():
    full, none = position_loss(8, 1.5, 800.0), position_loss(8, 1.5, -800.0)
    assert full.loss == pytest.approx(float(half_normal_loss(jnp.asarray(12.0))), rel=1e-14)
    assert full.attention == 1 and full.one_minus_attention == 0
    # Attention elsewhere: f is symmetric noise of spread alpha D / sqrt(D-1), so L is a plain
    # Gaussian average.
    spread = 1.5 * 8 / np.sqrt(7)
    nodes, mass = np.polynomial.hermite_e.hermegauss(150)
    assert none.loss == pytest.approx(
        (mass * np.logaddexp(0, spread * nodes)).sum() / mass.sum(), rel=1e-8)
    assert position_loss(8, 1.5, 40.0).one_minus_attention == pytest.approx(
        7 * np.exp(-40), rel=1e-12)


@pytest.mark.parametrize("beta", [-3.0, 0.0, 0.4, 6.0, 150.0])
def test_half_normal_functions_against_adaptive_quadrature(beta):
    edges = [0.0, *(min(k / max(abs(beta), 1), 10) for k in (1, 5, 40)), 10.0]

    def integral(function):
        density = lambda x: function(x) * 2 * np.exp(-x * x / 2) / np.sqrt(2 * np.pi)  # noqa: E731
        return sum(
            integrate.quad(density, a, b, epsabs=0, epsrel=1e-12)[0] for a, b in pairwise(edges)
            if b > a)

    loss = integral(lambda x: np.logaddexp(0, -beta * x))
    slope = integral(lambda x: x * expit(-beta * x))
    assert float(half_normal_loss(jnp.asarray(beta))) == pytest.approx(loss, rel=1e-11)
    assert float(half_normal_slope(jnp.asarray(beta))) == pytest.approx(slope, rel=1e-11)


def test_half_normal_tail_has_the_constant_kappa():
    for beta in (1e3, 1e5):
        assert float(half_normal_loss(jnp.asarray(beta))) * beta == pytest.approx(
            KAPPA, rel=10 / beta**2)
        assert float(half_normal_slope(jnp.asarray(beta))) * beta**2 == pytest.approx(
            KAPPA, rel=10 / beta**2)
    assert pytest.approx(0.656234, abs=1e-6) == KAPPA


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("groups", {"groups": 1}), ("scale", {"scale": -1.0}), ("alpha", {"alpha": float("nan")}),
        ("gap", {"gap": float("inf")})])
def test_bad_input_is_refused_by_name(name, change):
    with pytest.raises(InvalidInput, match=f"^{name} = "):
        position_loss(**({"groups": 4, "alpha": 1.0, "gap": 0.0} | change))
