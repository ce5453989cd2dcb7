"""The curvature along v2 against a plain quadrature, its value at the start, and where the limit
falls along a run."""

import numpy as np
import pytest
from scipy.integrate import quad

from saccade.studies.group_sparse.dynamics.position_map import position_trajectory
from saccade.studies.group_sparse.theory.stability import transverse_curvature, transverse_limit


def curvature_by_hand(groups, alpha, gap, scale):
    s = 1 / (1 + (groups - 1) * np.exp(-gap))
    square = s**2 + (1 - s) ** 2 / (groups - 1)
    beta = alpha * groups * scale * np.sqrt(square)
    density = lambda x: np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi) / (4 * np.cosh(beta * x / 2) ** 2)  # noqa: E731
    return (
        (groups + 1) / 2 * groups**2 * square
        * quad(density, -12, 12, epsabs=1e-13, points=[0.0])[0])


@pytest.mark.parametrize(
    "state",
    [
        (2, 0.3, 0.0, 1.0), (8, 0.9, 2.5, 1.0), (8, -0.9, 2.5, 1.0), (16, 2.0, -1.0, 0.3),
        (5, 1.5, 6.0, 2.0)])
def test_curvature_is_that_of_its_definition(state):
    groups, alpha, gap, scale = state
    assert transverse_curvature(groups, alpha, gap, scale) == pytest.approx(
        curvature_by_hand(*state), rel=1e-9)


def test_at_the_start_the_limit_is_sixteen_over_D_times_D_plus_one():
    assert [transverse_limit(D) for D in (2, 8, 16)] == pytest.approx(
        [16 / (D * (D + 1)) for D in (2, 8, 16)])


def test_saturated_attention_stays_finite():
    assert transverse_curvature(8, 1.0, 900.0) == pytest.approx(
        curvature_by_hand(8, 1.0, 300.0, 1.0), rel=1e-9)
    assert transverse_curvature(8, 1.0, -900.0) > 0


def test_along_a_run_the_limit_falls_and_rises_again():
    run = position_trajectory(16, 0.05, 4000, record=[1, 130, 4000])
    first, middle, last = (
        transverse_limit(16, None, a, g) for a, g in zip(run.alpha, run.gap, strict=True))
    assert middle < 0.7 * first and middle == pytest.approx(0.039, abs=1e-3)
    assert last > first
