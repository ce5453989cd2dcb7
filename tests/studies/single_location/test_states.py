"""The swapped state and the off-manifold attractor: stationary, minimal where they should be, and
better than the oracle."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from saccade.errors import InvalidInput
from saccade.studies.single_location.theory import (
    ORACLE,
    Overlaps,
    Setting,
    off_manifold_attractor,
    oracle_risk,
    risk,
    stationary_hessian_eigenvalues,
    swapped_overlaps,
    swapped_state,
)
from saccade.studies.single_location.theory.states import tangent_gradient_norms

fast_risk = jax.jit(risk)

SWAPPED = [
    Setting(400, 10, 0.1), Setting(80, 3, 0.5, 1.2, 0.4), Setting(30, 1, 2.0, 0.3),
    Setting(10**6, 50, 0.01)]


def risk_of_vectors(k, v, setting: Setting):
    """With k* and v* the first two axes; k and v are normalised first."""
    k, v = k / jnp.linalg.norm(k), v / jnp.linalg.norm(v)
    return risk(Overlaps(k[0], v[1], v[0], k[1], k @ v), setting)


@pytest.mark.parametrize("setting", SWAPPED, ids=str)
def test_the_swapped_state_is_stationary_and_its_theta_the_best(setting):
    theta, value = swapped_state(setting)
    assert 0 < float(theta) < 1
    assert max(map(float, tangent_gradient_norms(swapped_overlaps(theta), setting))) < 1e-10
    best = minimize_scalar(
        lambda t: float(fast_risk(Overlaps(0.0, 0.0, t, 1.0, 0.0), setting)), bounds=(0, 1),
        options={"xatol": 1e-9})
    assert float(theta) == pytest.approx(best.x, rel=1e-6)
    assert float(value) == pytest.approx(best.fun, rel=1e-12)


def test_the_swapped_state_in_the_papers_setting():
    theta, value = swapped_state(Setting(400, 10, 0.1))
    assert (float(theta), float(value)) == pytest.approx((0.62977, 0.11551), abs=1e-5)
    assert float(value) > float(oracle_risk(Setting(400, 10, 0.1)))


def test_when_theta_clips_the_swapped_state_can_beat_the_oracle():
    setting = Setting(400, 10, 0.05)
    theta, value = swapped_state(setting)
    assert float(theta) == 1.0
    assert float(value) < float(oracle_risk(setting))
    assert max(map(float, tangent_gradient_norms(swapped_overlaps(theta), setting))) < 1e-10


def test_theta_of_the_swapped_state_for_small_temperatures():
    setting = Setting(10**12, 10, 1e-4)
    assert float(swapped_state(setting).theta) == pytest.approx(
        np.sqrt(np.pi / 2) / (1e-4 * 1e6), rel=1e-7)


def test_neither_length_nor_noise_moves_the_swapped_state_and_batches_work():
    batch = swapped_state(
        Setting(400, np.array([1, 10, 500]), 0.1, noise=np.array([0.0, 1.0, 3.0])))
    assert np.ptp(np.asarray(batch.theta * jnp.ones(3))) == 0
    assert float(batch.risk[1]) == pytest.approx(
        float(swapped_state(Setting(400, 10, 0.1, noise=1.0)).risk))


def test_the_swapped_state_is_stable_up_to_the_choice_of_its_free_direction():
    setting = Setting(400, 10, 0.1)
    values = np.asarray(
        stationary_hessian_eigenvalues(swapped_overlaps(swapped_state(setting).theta), setting))
    # v = theta k* + (any direction orthogonal to k*, v*): in R^5 that direction turns two ways at
    # no cost.
    assert np.allclose(values[:2], 0, atol=1e-9)
    assert np.all(values[2:] > 0.2)


def test_tangent_gradients_are_those_of_the_full_space():
    setting, dim = Setting(7, 4, 0.8, 0.9, 0.1), 7
    pair = np.random.default_rng(1).normal(size=(2, dim))
    k, v = pair / np.linalg.norm(pair, axis=1, keepdims=True)
    slopes = jax.grad(risk_of_vectors, argnums=(0, 1))(jnp.asarray(k), jnp.asarray(v), setting)
    norms = tangent_gradient_norms(Overlaps(k[0], v[1], v[0], k[1], k @ v), setting)
    assert np.allclose(norms, [np.linalg.norm(slope) for slope in slopes], rtol=1e-12)


def test_the_hessian_of_a_stationary_state_is_that_of_the_full_space():
    setting, dim = Setting(20, 2, 1.5), 20
    found = off_manifold_attractor(setting).overlaps
    axes = jnp.eye(dim)
    k, v = found.kappa * axes[0] + found.eta * axes[1], found.theta * axes[0] + found.nu * axes[1]
    full_hessian = jax.jit(
        jax.hessian(lambda both: risk_of_vectors(both[:dim], both[dim:], setting)))
    hessian = full_hessian(jnp.concatenate([k, v]))
    # Two zero eigenvalues for the two radial directions; three of the eight are copies, as in any
    # spare direction.
    full = np.unique(np.linalg.eigvalsh(np.asarray(hessian)).round(8))
    small = np.unique(np.asarray(stationary_hessian_eigenvalues(found, setting)).round(8))
    assert np.allclose(full[full > 1e-6], small)


ABOVE = [
    Setting(400, 10, 0.9), Setting(400, 10, 20.0), Setting(100, 5, 1.5, 1.0, 0.5),
    Setting(10**10, 10, 0.9)]


@pytest.mark.parametrize("setting", ABOVE, ids=str)
def test_the_attractor_is_a_stable_state_in_the_plane_of_the_truth_and_beats_the_oracle(setting):
    found = off_manifold_attractor(setting)
    at = found.overlaps
    assert at.kappa**2 + at.eta**2 == pytest.approx(1) and at.nu**2 + at.theta**2 == pytest.approx(
        1)
    assert at.kappa > 0 > at.theta and at.eta > 0 and at.nu > 0
    assert max(map(float, tangent_gradient_norms(at, setting))) < 1e-9 * np.sqrt(setting.dim)
    assert np.all(np.asarray(stationary_hessian_eigenvalues(at, setting)) > 0)
    assert found.risk == pytest.approx(float(risk(at, setting)), rel=1e-14)
    assert found.risk < float(oracle_risk(setting))


def test_nothing_in_the_plane_of_the_truth_is_below_the_attractor():
    setting = Setting(400, 10, 0.9)
    turn = np.linspace(-np.pi, np.pi, 401)
    k_angle, v_angle = np.meshgrid(turn, turn)
    at = Overlaps(
        np.cos(k_angle), np.cos(v_angle), np.sin(v_angle), np.sin(k_angle),
        np.sin(k_angle + v_angle))
    least = float(jnp.min(risk(at, setting)))
    assert 0 <= least - off_manifold_attractor(setting).risk < 0.05


def test_the_attractor_in_the_papers_setting():
    found = off_manifold_attractor(Setting(400, 10, 0.9))
    assert tuple(found.overlaps) == pytest.approx(
        (0.3016684, 0.94708, -0.32100, 0.95341, 0.80612), abs=1e-5)
    assert found.risk == pytest.approx(3.806573, abs=1e-6)


def test_the_oracle_is_unstable_there_and_stable_below():
    for rate, stable in [(0.88, True), (0.9, False)]:
        smallest = np.asarray(stationary_hessian_eigenvalues(ORACLE, Setting(400, 10, rate)))[0]
        assert (smallest > -1e-9) == stable


def test_below_the_critical_temperature_there_is_no_attractor_to_ask_for():
    with pytest.raises(
        InvalidInput, match=r"inverse_temperature = 0\.5 must be above the critical value 0\.8924"
    ):
        off_manifold_attractor(Setting(400, 10, 0.5))
