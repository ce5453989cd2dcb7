"""The two-number map against an independent simulation, its scaling, its late laws, its records,
its failures and its regimes."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit

from saccade.errors import InvalidInput
from saccade.studies.group_sparse.dynamics.position_map import (
    classify,
    position_trajectory,
    regime_map,
)
from saccade.studies.group_sparse.theory.laws import late_laws, selection_error, two_steps
from saccade.studies.group_sparse.theory.stability import StepSizeWarning


def simulate(groups, scale, eta, steps):
    """The spec's two-dimensional quadrature, step by step in NumPy: graded Gauss-Legendre in u,
    Gauss-Hermite in m."""
    points, weights = np.polynomial.legendre.leggauss(10)
    edges = np.concatenate([[0], 9 * 2.0 ** np.arange(-11, 1)])
    u = np.concatenate([a + (b - a) * (points + 1) / 2 for a, b in pairwise(edges)]) * scale
    mass_u = np.concatenate([(b - a) / 2 * weights for a, b in pairwise(edges)])
    mass_u = mass_u * 2 * np.exp(-((u / scale) ** 2) / 2) / np.sqrt(2 * np.pi)
    nodes, mass_m = np.polynomial.hermite_e.hermegauss(60)
    U, M = np.meshgrid(u, nodes * scale / np.sqrt(groups - 1), indexing="ij")
    mass, c = np.outer(mass_u, mass_m / mass_m.sum()), (groups + 1) / 2
    alpha = gap = 0.0
    for _ in range(steps):
        s = 1 / (1 + (groups - 1) * np.exp(-gap))
        w = s * U + (1 - s) * M
        p = mass * expit(-alpha * groups * w)
        moved = alpha + eta * (p * groups * w).sum()
        gap = gap + eta * c**2 * groups / (groups - 1) * s * (1 - s) * alpha * (p * (U - M)).sum()
        alpha = moved
    return alpha, gap


@pytest.mark.parametrize(
    ("groups", "scale", "eta", "steps"), [(4, 1.0, 0.5, 60), (8, 0.6, 1.0, 40), (2, 1.5, 0.3, 40)])
def test_map_is_the_stepwise_simulation(groups, scale, eta, steps):
    run = position_trajectory(groups, eta, steps, scale=scale)
    np.testing.assert_allclose(
        [run.alpha[0], run.gap[0]], simulate(groups, scale, eta, steps), rtol=1e-6)


def test_first_two_steps_are_the_closed_form():
    run, closed = position_trajectory(8, 1.5, 2, record=[1, 2]), two_steps(8, 1.5)
    np.testing.assert_allclose(run.alpha, [closed.first_alpha, closed.alpha], rtol=1e-12)
    np.testing.assert_allclose(run.gap, [0.0, closed.gap], rtol=1e-11)


def test_scale_is_a_step_size_for_alpha_alone():
    """alpha sigma with (eta sigma^2 for alpha, eta for A): the gap coefficient stays, so c^2 must
    carry the missing 1/sigma^2."""
    scale, eta = 1.7, 0.3
    run = position_trajectory(6, eta, 300, scale=scale)
    moved = position_trajectory(6, eta * scale**2, 300, gram_scale=3.5 / scale)
    assert run.alpha[0] * scale == pytest.approx(moved.alpha[0], rel=1e-10)
    assert run.gap[0] == pytest.approx(moved.gap[0], rel=1e-10)
    assert run.gap[0] != pytest.approx(position_trajectory(6, eta * scale**2, 300).gap[0], rel=1e-2)


@pytest.mark.parametrize(("groups", "eta"), [(4, 0.5), (64, 0.1)])
def test_late_laws_are_reached(groups, eta):
    run, law = (
        position_trajectory(groups, eta, 20_000, record=[5_000, 20_000]),
        late_laws(groups, eta, 20_000))
    # First corrections are of relative order t^{-2/3} log t: under one per cent here.
    assert run.loss[1] == pytest.approx(law.loss, rel=0.01)
    assert run.alpha[1] == pytest.approx(law.alpha, rel=0.01)
    assert run.one_minus_attention[1] == pytest.approx(law.one_minus_attention, rel=0.01)
    slope = np.log(run.one_minus_attention[1] / run.one_minus_attention[0]) / np.log(4)
    assert slope == pytest.approx(-2 / 3, abs=0.01)


def test_record_keeps_the_asked_order_and_the_start():
    run = position_trajectory(4, 0.5, 20, record=[20, 0, 5, 5])
    np.testing.assert_array_equal(run.steps, [20, 0, 5, 5])
    assert (
        run.alpha[1] == 0 and run.loss[1] == pytest.approx(np.log(2))
        and run.attention[1] == pytest.approx(0.25))
    assert run.alpha[2] == run.alpha[3] == position_trajectory(4, 0.5, 5).alpha[0]


def test_a_large_step_warns_and_locks_attention_out():
    with pytest.warns(StepSizeWarning, match="is above the stability rule of 16"):
        run = position_trajectory(16, 2.0, 400)
    assert run.attention[0] < 1e-10 and run.diverged_at == -1
    assert selection_error(float(run.attention[0]), 16) == pytest.approx(0.5, abs=1e-6)


def test_divergence_is_reported_with_its_step():
    with pytest.warns(StepSizeWarning):
        run = position_trajectory(4, 1e9, 5)
    assert run.diverged_at == 1
    assert "diverged at step 1" in run.advice and "step_size = 1e+09" in run.advice


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("groups", {"groups": 1}), ("step_size", {"step_size": 0.0}), ("scale", {"scale": -2.0}),
        ("steps", {"steps": 0}), ("record", {"record": [30]}), ("record", {"record": []})])
def test_bad_input_is_refused_by_name(name, change):
    with pytest.raises(InvalidInput, match=f"^{name} = "):
        position_trajectory(**({"groups": 4, "step_size": 0.5, "steps": 10} | change))


def test_regimes_of_known_runs():
    found = regime_map([2, 8, 16, 64], [0.001, 0.5, 2.0, 5.0], 2000)
    expected = [
        ["concentrating", "concentrating", "concentrating", "concentrating"],
        ["concentrating", "concentrating", "locked", "locked"],
        ["concentrating", "concentrating", "locked out", "locked"],
        ["concentrating", "concentrating", "locked", "locked"]]
    assert found.regime.tolist() == expected
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        single = position_trajectory(8, 5.0, 2000, record=[500, 2000])
    np.testing.assert_allclose(found.end.gap[1, 3], single.gap[1], rtol=1e-12)
    np.testing.assert_allclose(found.gap_quarter[1, 3], single.gap[0], rtol=1e-12)


def test_what_is_not_finite_is_unstable():
    assert classify(1.0, 2.0, 0.1, 0.3, 0.3, diverged_at=7) == "unstable"
    assert classify(1.0, float("nan"), 0.1, 0.3, 0.3) == "unstable"
    assert classify(1.0, 1.1, 3.0, 0.3, 0.1) == "unstable"
