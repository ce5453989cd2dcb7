"""Experiments at random settings, against what can be said by hand."""

import jax
import numpy as np

from saccade.studies.single_location import dynamics
from saccade.studies.single_location.dynamics import Setting
from saccade.studies.single_location.experiments import descent, everywhere


def test_only_those_not_settled_go_on_and_nothing_changes():
    both = [
        descent.schedule_fates.function(jax.random.key(4), first=first, starts=200)
        for first in (2000, 10_000)]
    swapped, aligned = ([np.abs(one[name].values) > 0.9 for one in both] for name in ("eta", "nu"))
    np.testing.assert_array_equal(swapped[0], swapped[1])
    np.testing.assert_array_equal(aligned[0], aligned[1])
    assert 0 < np.sum(swapped[0]) < 50 < np.sum(aligned[0]) < 200


def test_a_long_step_returns_over_the_pole():
    """x' = x where alpha R_x = -p < -2 and x = (1 + sqrt(1 + 2 p^2))/(2 p): not among the five."""
    p = 3.0
    x = (1 + np.sqrt(1 + 2 * p**2)) / (2 * p)
    after = (x + p * (1 - x**2)) / np.sqrt(1 + p**2 * (1 - x**2))
    np.testing.assert_allclose(after, x, rtol=1e-12)
    roots = everywhere.manifold_roots.function(
        jax.random.key(0), settings=4, starts=11, units=(9.0, 12.0)).roots
    assert roots.max() > 5


def test_settings_are_drawn_from_the_key():
    tables = [
        everywhere.manifold_landscapes.function(jax.random.key(seed), settings=3, points=5).setting
        for seed in (0, 0, 1)]
    np.testing.assert_array_equal(tables[0], tables[1])
    assert not np.any(tables[0].values[:, 2] == tables[2].values[:, 2])


def test_the_landscape_is_the_closed_form():
    data = everywhere.manifold_landscapes.function(jax.random.key(5), settings=2, points=5)
    for row, risk in zip(data.setting.values, data.risk.values, strict=True):
        run = dynamics.manifold_trajectory(
            data.kappa.values[:, None], data.nu.values[None], Setting(*row[:4]), 0.0, 0, [0])
        np.testing.assert_allclose(risk, run.risk[..., 0], rtol=1e-7)
