"""Stability of the truth, and the tilted swapped state."""

import numpy as np
import pytest
from scipy import optimize

from saccade.errors import InvalidInput
from saccade.studies.softmax_location import theory
from saccade.studies.softmax_location.theory import Setting


def turned(theta: float, eta: float, setting: Setting) -> float:
    """Risk with v turned by theta towards k* and k by eta towards v*."""
    return float(theory.risk(theory.in_plane(eta, theta), setting).risk)


@pytest.mark.parametrize(
    "setting",
    [Setting(10.0, 10.0, 0.4, 0.9), Setting(40.0, 1000.0, 0.5, 1.3), Setting(8.0, 3.5, 2.0, 0.5)])
def test_the_hessian_is_the_second_derivative(setting):
    h, step = theory.oracle_hessian(setting), 1e-3
    centre = turned(0, 0, setting)

    def second(a: float, b: float) -> float:
        return (turned(a, b, setting) - 2 * centre + turned(-a, -b, setting)) / step**2

    assert second(step, 0) == pytest.approx(h.theta_theta, rel=1e-4)
    assert second(0, step) == pytest.approx(h.eta_eta, rel=1e-4)
    mixed = (second(step, step) - second(step, -step)) / 4
    assert mixed == pytest.approx(h.theta_eta, rel=1e-3, abs=1e-5)
    assert h.kappa > 0 and h.nu > 0


@pytest.mark.parametrize(
    ("task", "low", "high"),
    [((10.0, 100.0, 3.5), 0.1239506, 0.6156609), ((40.0, 1000.0, 3.5), 0.3546771, 0.5635695)])
@pytest.mark.slow
def test_unstable_windows(task, low, high):
    window = theory.unstable_window(*task)
    assert window == pytest.approx((low, high), abs=1e-6)


@pytest.mark.slow
def test_no_window_at_half_and_a_narrow_one():
    assert theory.unstable_window(400.0, 10.0) == (None, None)
    low, high = theory.unstable_window(10.0, 100.0, 2.89)
    assert low is not None and high is not None and 0.36 < low < 0.38 < high < 0.4


def test_a_window_that_goes_on_beyond_the_grid_is_open():
    low, high = theory.unstable_window(4.0, 1e8, 30.0)
    assert low == pytest.approx(0.0805, abs=1e-4) and high is None
    assert theory.instability(2.0, (4.0, 1e8, 30.0)) < 0
    low, high = theory.unstable_window(10.0, 100.0, 20.0)
    assert low is None and high == pytest.approx(0.8041, abs=1e-4)
    with pytest.raises(InvalidInput, match=r"gamma = 1000.*no minimum at any lambda"):
        theory.unstable_window(40.0, 100.0, 1000.0)


def test_erf_has_a_critical_lambda_in_the_same_hessian():
    def at(lam: float) -> float:
        s = Setting(400.0, 10.0, lam)
        return theory.margin(theory.hessian_of(s, theory.erf_moments(s, 1.0)))

    assert optimize.brentq(at, 0.7, 1.1) == pytest.approx(0.892438, abs=1e-6)


@pytest.mark.parametrize(
    ("case", "ratio"),
    [((400.0, 10.0, 0.9), 1.0052), ((400.0, 10.0, 1.5), 1.0024), ((1600.0, 100.0, 0.8), 1.0022)])
def test_the_saturated_law(case, ratio):
    h = theory.oracle_hessian(Setting(*case))
    schur = h.eta_eta - h.theta_eta**2 / h.theta_theta
    assert schur / theory.saturated_curvature(Setting(*case)) == pytest.approx(ratio, abs=1e-4)


@pytest.mark.parametrize(
    ("case", "values"),
    [
        ((400.0, 10.0, 0.6), (-0.1225, -0.4975, 0.8675, 0.9925, -0.6000, 0.514126)),
        ((100.0, 100.0, 1.0), (0.3564, -0.6903, 0.7235, 0.9343, -0.3871, 0.305512)),
        ((10.0, 100.0, 1.0), (0.392925, -0.416435, 0.909166, 0.919571, -0.025708, 0.499949))])
def test_swapped_states(case, values):
    state = theory.swapped_state(Setting(*case))
    assert state is not None and state.out_of_plane > 0
    assert (*state.overlaps, state.risk) == pytest.approx(values, abs=6e-5)


def test_the_swapped_state_is_stationary_in_every_direction():
    """Small turns of k or v, in the plane or out of it, raise the risk."""
    setting = Setting(10.0, 100.0, 1.0)
    state = theory.swapped_state(setting)
    assert state is not None
    at, random = state.overlaps, np.random.default_rng(0)
    k, v = np.array([at.kappa, at.eta, 0, 0]), np.array([at.theta, at.nu, 0, 0])
    for _ in range(30):
        pair = [x + 1e-3 * random.standard_normal(4) for x in (k, v)]
        a, b = (x / np.linalg.norm(x) for x in pair)
        near = theory.Overlaps(a[0], b[1], b[0], a[1], float(a @ b))
        assert float(theory.risk(near, setting).risk) > state.risk


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "low", "high"),
    [
        ((400.0, 10.0), 0.269147, 0.727618), ((100.0, 100.0), 0.160193, 1.455383),
        ((10.0, 10.0), 0.704234, 1.729269)])
def test_swapped_windows(task, low, high):
    window = theory.swapped_window(*task)
    assert window.low is not None and window.high is not None
    assert window.low.inverse_temperature == pytest.approx(low, abs=2e-6)
    assert window.high.inverse_temperature == pytest.approx(high, abs=2e-6)
