"""What lies beyond the paper's task: several informative tokens, leaning directions, long steps."""

import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.studies.single_location import dynamics, theory
from saccade.studies.single_location.theory import Overlaps, Setting

SETTING = Setting(60, 7, 0.4, 0.9, 0.3)
STATE = Overlaps(0.4, 0.5, -0.2, 0.3, 0.1)


def test_one_token_and_orthogonal_directions_are_the_paper_s_task():
    assert theory.beyond_risk(STATE, SETTING) == pytest.approx(float(theory.risk(STATE, SETTING)))
    on_manifold = Overlaps(0.4, 0.5)
    several = theory.beyond_risk(on_manifold, SETTING, informative=3)
    assert several == pytest.approx(float(theory.spread_manifold_risk(0.4, 0.5, SETTING, 3)))
    assert theory.leaning_oracle_risk(SETTING, 0.0) == pytest.approx(
        float(theory.oracle_risk(SETTING)))


def test_the_leaning_risk_is_that_of_samples():
    rng = np.random.default_rng(3)
    dim, length, lam, gamma, noise = 8, 4, 0.5, 0.8, 0.2
    lean, count, samples = 0.4, 2, 400_000
    k_star, v_star = np.eye(4)[0], np.array([lean, np.sqrt(1 - lean**2), 0, 0])
    k, v = (x / np.linalg.norm(x) for x in rng.standard_normal((2, 4)) + np.eye(2, 4))
    tokens = rng.standard_normal((samples, length, 4))
    tokens[:, :count] = gamma * tokens[:, :count] + np.sqrt(dim / 2) * k_star
    from scipy.special import erf

    predicted = np.sum(erf(lam * tokens @ k) * (tokens @ v), axis=1)
    target = (tokens[:, :count] @ v_star).sum(1) / np.sqrt(count)
    errors = (target + noise * rng.standard_normal(samples) - predicted) ** 2
    state = Overlaps(k @ k_star, v @ v_star, v @ k_star, k @ v_star, k @ v)
    expected = float(
        theory.beyond_risk(state, Setting(dim, length, lam, gamma, noise), count, lean))
    assert abs(errors.mean() - expected) < 5 * errors.std() / np.sqrt(samples)


@pytest.mark.parametrize("count", [2, 5])
def test_the_manifold_risk_of_several_tokens_is_least_at_the_shared_kappa(count):
    at = Setting(200, 10, 0.4, 0.8)
    here = theory.shared_kappa(at, count)
    risks = theory.spread_manifold_risk(here + np.array([-1e-3, 0.0, 1e-3]), 1.0, at, count)
    assert 0 < here < 1 and np.argmin(risks) == 1
    assert theory.shared_kappa(at, 1) == 1.0 == theory.shared_kappa(Setting(4, 10, 0.1), 2)


def test_four_coordinates_have_the_overlaps_and_one_token_follows_the_exact_map():
    first = Overlaps(*(np.array([x]) for x in STATE))
    k, v = dynamics.four_coordinates(first)
    again = dynamics.overlaps_of(k, v, np.eye(4)[0], np.eye(4)[1])
    assert np.allclose(np.stack(again), np.stack(first), atol=1e-14)
    runs = (
        dynamics.beyond_trajectory(first, SETTING, 1e-3, 50).final,
        dynamics.overlap_trajectory(first, SETTING, 1e-3, 50).final)
    assert np.allclose(*(np.stack(run) for run in runs), atol=1e-12)


def test_a_key_in_the_plane_of_the_truth_has_coordinates_and_follows_the_exact_map():
    for first in (
        Overlaps(0.6, 0.5, 0.1, 0.8, 0.46), Overlaps(1.0, 1.0),
        Overlaps(0.0, 0.3, eta=1.0, rho=0.3),
    ):
        k, v = dynamics.four_coordinates(first)
        again = dynamics.overlaps_of(k, v, np.eye(4)[0], np.eye(4)[1])
        assert np.allclose(np.stack(again), np.stack(first), atol=1e-14)
        assert np.allclose(np.linalg.norm([k, v], axis=-1), 1.0, atol=1e-14)
        runs = (
            dynamics.beyond_trajectory(first, SETTING, 1e-3, 50).final,
            dynamics.overlap_trajectory(first, SETTING, 1e-3, 50).final)
        assert np.allclose(*(np.stack(run) for run in runs), atol=1e-12)


def test_impossible_overlaps_are_refused():
    for run in (
        lambda at: dynamics.four_coordinates(at),
        lambda at: dynamics.beyond_trajectory(at, SETTING, 1e-3, 1),
    ):
        with pytest.raises(InvalidInput, match="inner products of unit vectors"):
            run(Overlaps(0.9, 0.9, 0.9, 0.9, 0.9))


@pytest.mark.parametrize(
    ("name", "value"), [("informative", 11), ("informative", 0), ("lean", 1.0)])
def test_what_no_task_has_is_refused(name, value):
    with pytest.raises(InvalidInput, match=name):
        dynamics.beyond_trajectory(STATE, SETTING, 1e-3, 1, **{name: value})


def test_bounds_hold_on_the_whole_square_and_are_reached():
    at = Setting(100, 10, 0.4, 0.8)
    slope, curvature = theory.bounds_on_square(at)
    kappa, nu = np.meshgrid(np.linspace(-1, 1, 101), np.linspace(-1, 1, 41))
    step = 1e-5
    in_kappa, in_nu = theory.manifold_gradient(kappa, nu, at)
    ahead, behind = (theory.manifold_gradient(kappa + s, nu, at) for s in (step, -step))
    a, c = ((x - y) / (2 * step) for x, y in zip(ahead, behind, strict=True))
    norm = (np.abs(a) + np.hypot(a, 2 * c)) / 2
    assert max(np.abs(in_kappa).max(), np.abs(in_nu).max()) == pytest.approx(slope, rel=5e-3)
    assert norm.max() == pytest.approx(curvature, rel=5e-3) and norm.max() <= curvature * (1 + 1e-6)


def test_the_race_is_a_coin_toss_when_cold_and_won_by_the_manifold_when_hot():
    shares = [theory.race_fraction(Setting(400, 10, lam)) for lam in (1e-3, 0.4, 1.0)]
    assert shares[0] == pytest.approx(0.5, abs=1e-3) and shares[0] > shares[1] > shares[2] > 0
