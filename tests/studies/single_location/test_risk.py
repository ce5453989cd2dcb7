"""The closed-form risk against Monte Carlo, against one-dimensional quadrature, and its gradient
against two others."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import erf

from saccade.studies.single_location.theory import (
    ORACLE,
    Overlaps,
    Setting,
    manifold_gradient,
    manifold_risk,
    oracle_excess_risk,
    oracle_risk,
    risk,
    risk_gradient,
    spread_manifold_risk,
)

fast_risk, fast_gradient, fast_autodiff = (
    jax.jit(function) for function in (risk, risk_gradient, jax.grad(risk)))

SETTINGS = [
    Setting(6, 3, 0.6, 0.71, 0.3), Setting(8, 4, 0.35, 1.1), Setting(5, 2, 1.3, 0.5),
    Setting(10, 6, 0.9, 0.71, 1.0), Setting(4, 1, 0.8, 0.9)]


def random_pair(dim: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    pair = np.random.default_rng(seed).normal(size=(2, dim))
    k, v = pair / np.linalg.norm(pair, axis=1, keepdims=True)
    return k, v


def overlaps_of(k: np.ndarray, v: np.ndarray) -> Overlaps:
    """With k* and v* the first two axes."""
    return Overlaps(k[0], v[1], v[0], k[1], k @ v)


def simulated_errors(
    k, v, setting: Setting, informative: int, samples: int, seed: int
) -> np.ndarray:
    """Squared errors on fresh data whose first tokens are the informative ones: the risk does not
    see the location."""
    rng = np.random.default_rng(seed)
    tokens = rng.normal(size=(samples, setting.length, setting.dim))
    tokens[:, :informative] *= setting.gamma
    tokens[:, :informative, 0] += np.sqrt(setting.dim / 2)
    target = tokens[:, :informative, 1].sum(axis=1) / np.sqrt(
        informative) + setting.noise * rng.normal(size=samples)
    predictions = np.sum(erf(setting.inverse_temperature * tokens @ k) * (tokens @ v), axis=1)
    return (target - predictions) ** 2


def quadrature_risk(overlaps: Overlaps, setting: Setting) -> float:
    """The risk by conditioning every token on X.k and integrating over that one Gaussian: no Stein,
    no Lemma 18."""
    dim, length, lam, gamma, noise = setting
    kappa, nu, theta, eta, rho = overlaps
    z, step = np.linspace(-12, 12, 8001, retstep=True)
    weight = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * step
    shift = np.sqrt(dim / 2)

    def token(mean_k, mean_v, scale):
        gate = erf(lam * (mean_k + scale * z))
        given_k = mean_v + scale * rho * z
        first = np.sum(weight * gate * given_k)
        second = np.sum(weight * gate**2 * (given_k**2 + scale**2 * (1 - rho**2)))
        target = np.sum(weight * gate * (given_k * scale * eta * z + scale**2 * (nu - eta * rho)))
        return first, second, target

    first, second, with_target = token(shift * kappa, shift * theta, gamma)
    other_first, other_second, _ = token(0.0, 0.0, 1.0)
    others = other_second + (length - 2) * other_first**2 + 2 * first * other_first
    return noise**2 + gamma**2 - 2 * with_target + second + (length - 1) * others


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_risk_is_the_mean_squared_error_of_simulated_data(setting):
    k, v = random_pair(setting.dim, seed=7 * setting.dim + setting.length)
    errors = simulated_errors(k, v, setting, informative=1, samples=200_000, seed=setting.dim)
    standard_error = errors.std() / np.sqrt(errors.size)
    expected = float(risk(overlaps_of(k, v), setting))
    assert abs(errors.mean() - expected) < 4.5 * standard_error
    assert standard_error < 0.02 * expected


@given(
    st.integers(0, 10**6), st.integers(2, 60), st.integers(1, 40), st.floats(0.01, 3.0),
    st.floats(0.1, 2.0), st.floats(0.0, 2.0))
def test_the_risk_is_its_quadrature(seed, dim, length, inverse_temperature, gamma, noise):
    setting = Setting(dim, length, inverse_temperature, gamma, noise)
    overlaps = overlaps_of(*random_pair(dim, seed))
    assert float(fast_risk(overlaps, setting)) == pytest.approx(
        quadrature_risk(overlaps, setting), rel=1e-12)


@given(
    st.integers(0, 10**6),
    st.sampled_from(SETTINGS + [Setting(400, 10, 0.1), Setting(10**6, 7, 0.02)]))
def test_the_gradient_is_that_of_automatic_differentiation(seed, setting):
    overlaps = Overlaps(*(float(value) for value in overlaps_of(*random_pair(30, seed))))
    automatic = np.array(fast_autodiff(overlaps, setting))
    by_hand = np.array(fast_gradient(overlaps, setting))
    assert np.max(np.abs(automatic - by_hand)) < 1e-12 * max(1.0, np.max(np.abs(by_hand)))


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_gradient_is_that_of_central_differences(setting):
    at = np.array(overlaps_of(*random_pair(setting.dim, seed=3)))
    step = 1e-5
    for name, slope, move in zip(
        Overlaps._fields, risk_gradient(Overlaps(*at), setting), step * np.eye(5)
    ):
        ahead, behind = risk(Overlaps(*(at + move)), setting), risk(Overlaps(*(at - move)), setting)
        assert float(slope) == pytest.approx(
            float(ahead - behind) / (2 * step), rel=1e-7, abs=1e-8), name


@given(st.floats(-1, 1), st.floats(-1, 1), st.sampled_from(SETTINGS))
def test_on_the_manifold_two_overlaps_are_enough(kappa, nu, setting):
    on_manifold = Overlaps(kappa, nu)
    assert float(manifold_risk(kappa, nu, setting)) == pytest.approx(
        float(fast_risk(on_manifold, setting)), rel=1e-14)
    full = fast_gradient(on_manifold, setting)
    assert np.allclose(manifold_gradient(kappa, nu, setting), full[:2], rtol=1e-13, atol=1e-14)
    assert full[2:] == (0.0, 0.0, 0.0)


@given(st.integers(0, 10**6), st.sampled_from(SETTINGS))
def test_the_two_sign_symmetries(seed, setting):
    kappa, nu, theta, eta, rho = overlaps_of(*random_pair(9, seed))
    here = float(fast_risk(Overlaps(kappa, nu, theta, eta, rho), setting))
    assert float(fast_risk(Overlaps(kappa, nu, -theta, -eta, -rho), setting)) == pytest.approx(
        here, rel=1e-15)
    assert float(fast_risk(Overlaps(-kappa, -nu, -theta, -eta, rho), setting)) == pytest.approx(
        here, rel=1e-14)


@pytest.mark.parametrize("informative", [1, 2, 4])
def test_the_spread_risk_is_the_mean_squared_error_of_simulated_data(informative):
    setting = Setting(6, 4, 0.7, 0.8, 0.2)
    k = np.array([0.8, 0, 0.6, 0, 0, 0])
    v = np.array([0, 0.6, 0, 0, 0, 0.8])
    errors = simulated_errors(k, v, setting, informative, samples=200_000, seed=informative)
    expected = float(spread_manifold_risk(0.8, 0.6, setting, informative=informative))
    assert abs(errors.mean() - expected) < 4.5 * errors.std() / np.sqrt(errors.size)


@pytest.mark.parametrize("inverse_temperature", [1e-4, 0.05, 0.9, 20.0])
@pytest.mark.parametrize("dim", [2, 80, 10**6, 10**12])
def test_the_oracle_risk_is_the_risk_at_the_oracle(dim, inverse_temperature):
    setting = Setting(dim, 10, inverse_temperature, noise=0.1)
    assert float(oracle_risk(setting)) == pytest.approx(float(risk(ORACLE, setting)), rel=1e-13)


def test_the_oracle_excess_keeps_its_digits_where_erf_rounds_to_one():
    # Only uninformative tokens err there, and zeta(0, s) = (4/pi) s (1 - 2 s + O(s^2)).
    variance = 1e-10
    excess = float(oracle_excess_risk(Setting(10**12, 3, np.sqrt(variance), noise=5.0)))
    assert excess == pytest.approx(2 * 4 / np.pi * variance * (1 - 2 * variance), rel=1e-13)


def test_a_single_token_oracle_excess_is_the_missed_part_of_erf():
    for dim, lam, gamma in [(8, 0.7, 0.6), (40, 0.5, 0.3), (100, 0.9, 1.0)]:
        z, step = np.linspace(-12, 12, 20001, retstep=True)
        weight = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * step
        missed = np.sum(weight * (1 - erf(lam * (np.sqrt(dim / 2) + gamma * z))) ** 2)
        assert float(oracle_excess_risk(Setting(dim, 1, lam, gamma))) == pytest.approx(
            gamma**2 * missed, rel=1e-9)


def test_the_oracle_risk_vanishes_in_the_limit_of_corollary_2():
    dims = 10.0 ** np.arange(2, 13, 2)
    setting = Setting(dims, np.sqrt(dims), dims**-0.4, noise=0.0)
    values = np.asarray(oracle_risk(setting))
    leading = 4 / np.pi * setting.length * setting.inverse_temperature**2
    assert np.all(np.diff(values) < 0)
    assert values[-1] / leading[-1] == pytest.approx(1, abs=2e-3)
    assert np.all(np.diff(np.abs(values / leading - 1)[1:]) < 0)


@pytest.mark.parametrize("inverse_temperature", [1e-4, 0.1, 1.0, 20.0])
@pytest.mark.parametrize("dim, length", [(2, 1), (2, 2), (400, 10), (10**12, 10**6)])
@pytest.mark.parametrize("kappa", [0.0, 1e-9, -0.3, 1.0])
def test_everything_is_finite_from_the_smallest_to_the_largest_setting(
    dim, length, inverse_temperature, kappa
):
    setting = Setting(dim, length, inverse_temperature)
    overlaps = Overlaps(kappa, 0.2, 0.1, 0.0, 0.0)
    assert float(fast_risk(overlaps, setting)) > 0
    assert np.all(np.isfinite(np.array(fast_gradient(overlaps, setting))))
    assert np.all(np.isfinite(np.array(fast_autodiff(overlaps, setting))))


def test_batches_and_traced_settings_give_the_numbers_of_single_calls():
    rates = jnp.array([0.1, 0.5, 2.0])
    overlaps = Overlaps(0.3, 0.5, 0.1, -0.2, 0.05)
    together = jax.jit(jax.vmap(lambda rate: risk(overlaps, Setting(80, 10, rate))))(rates)
    single = [float(risk(overlaps, Setting(80, 10, float(rate)))) for rate in rates]
    assert np.allclose(together, single, rtol=1e-14)
    assert np.allclose(risk(overlaps, Setting(80, 10, rates)), single, rtol=1e-14)
