"""Moments of erf of a Gaussian against quadrature of their definitions; Owen's T against SciPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
from hypothesis import given
from hypothesis import strategies as st

from saccade import gaussian

SHIFTS = (0.0, 1e-6, 0.3, -0.8, 2.5, 7.0, 20.0)
VARIANCES = (1e-8, 0.005, 0.4, 2.0, 8.0, 400.0)
GRID = [(t, variance) for t in SHIFTS for variance in VARIANCES]


def expectation(function, t: float, variance: float) -> float:
    """E[function(t + G)] by the trapezoidal rule, exact for a Gaussian weight."""
    z, step = np.linspace(-13.0, 13.0, 60001, retstep=True)
    weight = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return float(np.sum(function(t + np.sqrt(variance) * z) * weight) * step)


def erf_prime(x):
    return 2 / np.sqrt(np.pi) * np.exp(-(x**2))


def erf_second(x):
    return -2 * x * erf_prime(x)


LEMMA_18 = {
    "i": (gaussian.expect_erf_prime, erf_prime), "ii": (gaussian.expect_erf, scipy.special.erf),
    "iii": (gaussian.expect_erf_second, erf_second),
    "iv": (gaussian.expect_erf_prime_squared, lambda x: erf_prime(x) ** 2),
    "v": (gaussian.expect_erf_erf_second, lambda x: scipy.special.erf(x) * erf_second(x)),
    "vi": (gaussian.expect_erf_erf_prime, lambda x: scipy.special.erf(x) * erf_prime(x))}


@pytest.mark.parametrize("name", LEMMA_18)
def test_the_six_identities_of_lemma_18_are_their_quadratures(name):
    closed_form, integrand = LEMMA_18[name]
    for t, variance in GRID:
        assert float(closed_form(t, variance)) == pytest.approx(
            expectation(integrand, t, variance), abs=2e-14)


def test_owens_t_is_scipys():
    h, a = (axis.ravel() for axis in np.meshgrid(np.linspace(-12, 12, 97), np.linspace(0, 1, 41)))
    assert np.max(np.abs(gaussian.owens_t(h, a) - scipy.special.owens_t(h, a))) < 1e-15


def test_zeta_is_one_minus_eight_owens_t():
    t, variance = (
        axis.ravel() for axis in np.meshgrid(np.linspace(-20, 20, 81), np.geomspace(1e-8, 400, 40)))
    reference = 1 - 8 * scipy.special.owens_t(
        np.sqrt(2) * np.abs(t) / np.sqrt(1 + 2 * variance), 1 / np.sqrt(1 + 4 * variance))
    assert np.max(np.abs(gaussian.zeta(t, variance) - reference)) < 2e-15


def test_zeta_is_the_quadrature_of_its_definition():
    for t, variance in GRID:
        reference = expectation(lambda x: scipy.special.erf(x) ** 2, t, variance)
        assert float(gaussian.zeta(t, variance)) == pytest.approx(reference, abs=2e-15, rel=2e-14)


@pytest.mark.parametrize("t, variance", [(1e-9, 1e-16), (0.0, 1e-16), (1e-7, 1e-20), (1e-100, 0.0)])
def test_a_tiny_zeta_keeps_its_digits(t, variance):
    # erf(x) = 2x/sqrt(pi) (1 + O(x^2)), so zeta = (4/pi)(t^2 + variance) up to a relative error of
    # the same size.
    assert float(gaussian.zeta(t, variance)) == pytest.approx(
        4 / np.pi * (t**2 + variance), rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("function", "derivatives"),
    [
        (gaussian.zeta, gaussian.zeta_derivatives),
        (gaussian.expect_erf, gaussian.expect_erf_derivatives)])
def test_derivatives_of_moments_are_those_of_automatic_differentiation(function, derivatives):
    t, variance = (jnp.asarray(axis) for axis in np.array([p for p in GRID if abs(p[0]) <= 7]).T)
    for by_hand in derivatives(t, variance):
        automatic = jax.jit(jax.vmap(function))(t, variance)
        assert jnp.max(jnp.abs(automatic - by_hand)) < 1e-12
        function = jax.grad(function)
    curvature = gaussian.zeta_derivatives(t, variance)[2]
    np.testing.assert_allclose(gaussian.zeta_curvature(t, variance), curvature, rtol=1e-14)


def test_the_derivatives_of_erf_are_those_of_automatic_differentiation():
    x = jnp.linspace(-4, 4, 33)
    automatic = jax.scipy.special.erf
    for order in (1, 2, 3):
        automatic = jax.grad(automatic)
        assert jnp.max(jnp.abs(jax.vmap(automatic)(x) - gaussian.erf_derivative(x, order))) < 1e-14


@given(st.floats(-30, 30), st.floats(0, 500))
def test_zeta_is_even_and_between_the_squared_mean_and_one(t, variance):
    value = float(gaussian.zeta(t, variance))
    assert value == float(gaussian.zeta(-t, variance))
    assert float(gaussian.expect_erf(t, variance)) ** 2 - 1e-15 <= value <= 1 + 1e-15


@given(st.floats(0, 50))
def test_lemmas_16_and_17(u):
    assert abs(1 / np.sqrt(1 + u) - 1) <= u
    assert abs(float(jax.scipy.special.erf(u))) <= 2 * u / np.sqrt(np.pi) * (1 + 1e-15)
    assert float(gaussian.erf_derivative(u, 2)) == pytest.approx(
        -2 * u * float(gaussian.erf_derivative(u, 1)))


def test_the_moments_stay_finite_at_the_far_ends():
    for function, _ in LEMMA_18.values():
        assert np.all(np.isfinite(
            function(np.array([0.0, 1e7, -1e7, 1e12]), np.array([1e-8, 1e-8, 400.0, 1e-30]))))
    assert np.array_equal(gaussian.zeta(np.array([1e7, -1e12]), 0.1), [1.0, 1.0])
