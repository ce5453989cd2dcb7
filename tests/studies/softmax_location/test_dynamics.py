"""The five-number map, its tables, stochastic descent, and lambda trained too."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saccade.studies.softmax_location import dynamics, theory
from saccade.studies.softmax_location.dynamics import samples, tables
from saccade.studies.softmax_location.models import SoftmaxAttention
from saccade.studies.softmax_location.theory import Overlaps, Setting

SETTING = Setting(12.0, 10.0, 0.7, 0.8)


def vectors(seed: int, dim: int = 12) -> np.ndarray:
    pair = np.random.default_rng(seed).standard_normal((2, dim))
    return pair / np.linalg.norm(pair, axis=1, keepdims=True)


def seen(k: np.ndarray, v: np.ndarray) -> Overlaps:
    return Overlaps(k[0], v[1], v[0], k[1], float(k @ v))


def test_the_map_is_descent_in_all_dimensions():
    """With the same slopes, k and v in R^12 and the five numbers take the same 300 steps."""
    (k, v), axes = vectors(0), np.eye(12)
    at = seen(k, v)
    for _ in range(300):
        g = dynamics.gradient(seen(k, v), SETTING)
        by_k = g.kappa * axes[0] + g.eta * axes[1] + g.rho * v
        by_v = g.nu * axes[1] + g.theta * axes[0] + g.rho * k
        k, v = (
            samples.sphere_step(x[None, None], y[None, None], 0.05)[0, 0]
            for x, y in ((k, by_k), (v, by_v)))
        at = dynamics.exact_step(at, SETTING, 0.05)
    assert np.max(np.abs(np.array(at) - np.array(seen(k, v)))) < 1e-12


@pytest.mark.parametrize("kind", ["softmax", "erf"])
@pytest.mark.parametrize("setting", [Setting(400.0, 10.0, 0.9), Setting(100.0, 1e5, 2.0)])
def test_tables_against_integrals(kind, setting):
    table = dynamics.moment_table(setting, kind)
    kappa = np.random.default_rng(1).uniform(-1, 1, 12)
    kappa[0] = table.kappa.points[3]
    exact = theory.stacked(tables.MOMENTS[kind](setting, kappa))
    found = theory.stacked(theory.Moments(*map(np.asarray, tables.moments_at(table, kappa, 0.0))))
    assert np.max(np.abs(found - exact)) < 1e-11 * max(1.0, np.max(np.abs(exact)))


def test_a_table_over_lambda():
    setting = Setting(400.0, 10.0, 1.0)
    table = dynamics.moment_table(setting, last=1 / 13)
    for lam in (0.93, 0.31, 0.08):
        exact = theory.stacked(theory.moments(setting._replace(inverse_temperature=lam), 0.37))
        found = np.concatenate(tables.moments_at(table, 0.37, np.log(lam)))
        assert np.max(np.abs(found - exact)) < 1e-10


def test_the_slope_of_a_table_is_the_slope_of_the_integrals_at_and_near_its_points():
    table = dynamics.moment_table(Setting(400.0, 10.0, 1.0), last=1 / 13)
    slopes, points = tables.slopes_of(table.log_lambda, table.values), table.log_lambda.points
    row = tables.interpolated(table.kappa, 0.37, np.moveaxis(slopes, 1, 0))

    def exact(x: float) -> np.ndarray:
        setting = Setting(400.0, 10.0, float(np.exp(x)))
        return theory.stacked(theory.moments(setting, 0.37))

    for point in (points[0], points[17], points[-1]):
        for away in (0.0, 1e-15, 1e-12, 1e-6):
            x, h = point + (away if point < points[-1] else -away), 2e-3
            ends = [exact(x + i * h) - exact(x - i * h) for i in (1, 2, 3)]
            differences = (45 * ends[0] - 9 * ends[1] + ends[2]) / (60 * h)
            found = np.asarray(tables.interpolated(table.log_lambda, x, row))
            assert np.max(np.abs(found - differences)) < 1e-9


@pytest.mark.parametrize("lam", [0.5, 1.4])
def test_a_key_that_starts_at_an_end_of_its_table_moves_as_one_that_starts_inside(lam):
    start = Overlaps(*(np.array([x]) for x in seen(*vectors(8))))
    runs = [
        dynamics.free_trajectory(
            start, SETTING._replace(inverse_temperature=lam), 0.02, (1, 5), bounds)
        for bounds in ((0.5, 1.4), (0.4, 1.7))]
    moved = [run.inverse_temperature for run in runs]
    inside = (moved[1] > 0.5) & (moved[1] < 1.4)
    assert np.all(np.abs(moved[1] - lam) > 1e-5)
    assert moved[0] == pytest.approx(np.clip(moved[1], 0.5, 1.4), abs=1e-11)
    assert not inside.all() or np.allclose(runs[0].overlaps, runs[1].overlaps, atol=1e-11)


def test_both_engines_keep_the_start():
    start, rest = seen(*vectors(3)), {"step_size": 0.03, "decay": 1e-2}
    for record in ((0,), (0, 1, 3)):
        exact = dynamics.exact_trajectory(start, SETTING, record=record, **rest)
        table = dynamics.trajectory(start, SETTING, record=record, **rest)
        assert exact.risk.shape == table.risk.shape == exact.overlaps.kappa.shape == (len(record),)
        assert np.max(np.abs(exact.risk - table.risk)) < 1e-10
        assert [x[0] for x in exact.overlaps] == list(start)
        assert exact.risk[0] == theory.risk(start, SETTING).risk


def test_two_engines_take_the_same_way():
    start, stops = seen(*vectors(3)), [1, 40, 200]
    rest = {"step_size": 0.03, "record": stops, "decay": 1e-2}
    exact = dynamics.exact_trajectory(start, SETTING, **rest)
    table = dynamics.trajectory(start, SETTING, **rest)
    assert np.max(np.abs(np.stack(exact.overlaps) - np.stack(table.overlaps))) < 1e-9
    assert np.max(np.abs(exact.risk - table.risk)) < 1e-9


def test_sphere_starts_have_the_law_of_whole_vectors():
    drawn = dynamics.sphere_overlaps(np.random.default_rng(0), 7, 40_000)
    pairs = np.random.default_rng(1).standard_normal((2, 40_000, 7))
    k, v = pairs / np.linalg.norm(pairs, axis=2, keepdims=True)
    whole = Overlaps(k[:, 0], v[:, 1], v[:, 0], k[:, 1], np.sum(k * v, axis=1))
    for a, b in zip(drawn, whole, strict=True):
        assert np.mean(a) == pytest.approx(np.mean(b), abs=0.015)
        assert np.mean(a**2) == pytest.approx(np.mean(b**2), rel=0.05)
        assert np.mean(a**4) == pytest.approx(np.mean(b**4), rel=0.1)


def test_written_gradients_against_automatic_ones():
    random, world = np.random.default_rng(5), samples.World(6, 4, 0.8, 0.1, 2)
    start, batch = samples.random_start(random, 3, 2, 6), world.draw(random, 3, 16)
    by_k, by_v = samples.gradients(batch, *start, 0.7)

    def error(pair, X, y):
        return jnp.mean((SoftmaxAttention(pair[0], pair[1], 0.7)(X) - y) ** 2)

    for chain in range(3):
        automatic = jax.grad(error)(
            (start.k[chain], start.v[chain]), jnp.asarray(batch.X[chain], float), batch.y[chain])
        np.testing.assert_allclose(by_k[chain], automatic[0], atol=1e-5)
        np.testing.assert_allclose(by_v[chain], automatic[1], atol=1e-5)


def test_samples_have_the_exact_risk():
    random, world = np.random.default_rng(6), samples.World(8, 5, 0.7, 0.2)
    pair = vectors(9, 8)
    at = samples.Trained(np.tile(pair[0], (4, 1, 1)), np.tile(pair[1], (4, 1, 1)))
    errors = samples.fresh_error(random, world, at, 0.9, 20_000)
    exact = float(theory.risk(seen(*pair), Setting(8.0, 5.0, 0.9, 0.7, 0.2)).risk)
    assert errors.mean() == pytest.approx(exact, rel=0.02)


def test_a_key_of_fixed_length_is_the_old_map():
    """With the length kept, K = lambda k moves with the step alpha/lambda^2 of k."""
    start = Overlaps(*(np.array([x]) for x in seen(*vectors(4))))
    unit = SETTING._replace(inverse_temperature=1.0)
    free = dynamics.free_trajectory(start, unit, 0.02, (100,), (0.5, 2.0), rate=0.0)
    fixed = dynamics.trajectory(start, unit, 0.02, (100,))
    assert np.max(np.abs(np.stack(free.overlaps) - np.stack(fixed.overlaps))) < 1e-7
    assert free.inverse_temperature[0, -1] == pytest.approx(1.0, abs=1e-12)


def test_the_length_of_the_key_follows_the_whole_vector():
    """One step of K in R^12 by differences of the exact risk, against the closed map."""
    k, v = vectors(8)
    K, step = 0.7 * k, 1e-6

    def risk(K: np.ndarray) -> float:
        lam = float(np.linalg.norm(K))
        return float(theory.risk(seen(K / lam, v), SETTING._replace(inverse_temperature=lam)).risk)

    slope = np.array([(risk(K + step * e) - risk(K - step * e)) / (2 * step) for e in np.eye(12)])
    moved = K - 0.05 * slope
    start = Overlaps(*(np.array([x]) for x in seen(k, v)))
    free = dynamics.free_trajectory(start, SETTING, 0.05, (1,), (0.1, 2.0))
    assert free.inverse_temperature[0, 0] == pytest.approx(np.linalg.norm(moved), rel=1e-7)
    assert free.overlaps.kappa[0, 0] == pytest.approx(moved[0] / np.linalg.norm(moved), rel=1e-6)


def test_fates():
    at = Overlaps(
        np.array([1.0, 0.1, 0.0, -1.0]), np.array([1.0, -0.4, 0.2, -1.0]), np.zeros(4),
        np.array([0.0, 0.99, 0.1, 0.0]), np.zeros(4))
    assert dynamics.fate(at).tolist() == [0, 1, 2, 2]
    assert dynamics.fate(at, signed=False).tolist() == [0, 1, 2, 0]
