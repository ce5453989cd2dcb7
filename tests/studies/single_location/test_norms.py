"""What norms give away, by simulation and by symmetry; and the unstable modes against the Hessian's
own eigenvectors."""

import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.studies.single_location.theory import (
    Overlaps,
    Setting,
    growth_rates,
    largest_norm_hit_rate,
    mode_projections,
    origin_hessian,
    risk,
)


@pytest.mark.parametrize(("dim", "length", "gamma"), [(6, 3, 0.7), (12, 5, 1.1), (3, 2, 0.4)])
def test_hit_rate_of_the_longest_token_by_simulation(dim, length, gamma):
    rng = np.random.default_rng(3)
    n = 200_000
    others = rng.chisquare(dim, (n, length - 1)).max(1)
    first = gamma * rng.normal(size=(n, dim))
    first[:, 0] += np.sqrt(dim / 2)
    measured = np.mean((first**2).sum(1) > others)
    assert abs(measured - largest_norm_hit_rate(dim, length, gamma)) < 5 * np.sqrt(0.25 / n)


def test_limits_of_the_hit_rate():
    assert largest_norm_hit_rate(50, 1) == pytest.approx(1.0, abs=1e-9)
    assert largest_norm_hit_rate(400, 10, gamma=3.0) > 0.999
    assert largest_norm_hit_rate(400, 10) < 1 / 10
    with pytest.raises(InvalidInput, match="gamma"):
        largest_norm_hit_rate(10, 3, 0.0)


@pytest.mark.parametrize("inverse_temperature", [0.05, 0.4, 1.3])
def test_modes_are_the_eigenvectors_of_the_hessian(inverse_temperature):
    setting = Setting(60, 6, inverse_temperature, 0.8)
    values, vectors = np.linalg.eigh(np.asarray(origin_hessian(setting)))
    assert -values[0] == pytest.approx(float(growth_rates(setting).on_manifold), rel=1e-12)
    state = Overlaps(0.03, -0.07, 0.05, 0.02, 0.0)
    on, across = mode_projections(state, setting)
    assert abs(float(on)) == pytest.approx(abs(vectors[:, 0] @ [0.03, -0.07]), rel=1e-9)
    assert abs(float(across)) == pytest.approx(_transverse_by_differences(state, setting), rel=1e-4)


def _transverse_by_differences(state, setting, step=1e-4):
    """Projection on the unstable eigenvector of the (theta, eta) Hessian taken by central
    differences of the risk."""

    def value(theta, eta):
        return float(risk(Overlaps(0.0, 0.0, theta, eta, 0.0), setting))

    mixed = (value(step, step) - value(step, -step) - value(-step, step) + value(-step, -step)) / (
        4 * step**2)
    own = [
        (value(step, 0) - 2 * value(0, 0) + value(-step, 0)) / step**2,
        (value(0, step) - 2 * value(0, 0) + value(0, -step)) / step**2]
    _, vectors = np.linalg.eigh(np.array([[own[0], mixed], [mixed, own[1]]]))
    return abs(vectors[:, 0] @ [state.theta, state.eta])
