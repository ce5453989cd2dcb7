"""Names of end states, and that runs really end in the states so named."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.studies.single_location.dynamics import (
    OUTCOMES,
    classify,
    end_states,
    overlap_trajectory,
    sphere_overlaps,
)
from saccade.studies.single_location.theory import Overlaps, Setting

pytestmark = pytest.mark.slow

HOT = Setting(400, 10, 0.9)  # above the critical inverse temperature .8924
COLD = Setting(400, 10, 0.1)
MIRRORS = np.array(
    [[1, 1, 1, 1, 1], [1, 1, -1, -1, -1], [-1, -1, -1, -1, 1], [-1, -1, 1, 1, -1]], float)


def named(overlaps, setting, tolerance=0.05):
    return [OUTCOMES[code] for code in np.atleast_1d(classify(overlaps, setting, tolerance))]


@pytest.mark.parametrize("setting", [HOT, COLD])
def test_every_mirror_image_of_a_state_has_its_name(setting):
    for name, state in zip(OUTCOMES, end_states(setting)):
        if state is not None:
            images = Overlaps(*jnp.asarray(MIRRORS * np.array([float(x) for x in state])).T)
            assert named(images, setting) == [name] * 4


def test_states_with_one_sign_wrong_are_other():
    assert named(Overlaps(1.0, -1.0), COLD) == ["other"]
    theta = float(end_states(COLD)[1].theta)
    assert theta == pytest.approx(0.62977, abs=1e-5)
    assert named(Overlaps(0.0, 0.0, -theta, 1.0, 0.0), COLD) == ["other"]
    assert named(Overlaps(0.0, 0.0), COLD) == ["other"]
    assert named(Overlaps(jnp.nan, 1.0), COLD) == ["other"]


def test_attractor_exists_only_above_the_critical_temperature():
    attractor = end_states(HOT)[2]
    assert end_states(COLD)[2] is None
    assert named(attractor, HOT) == ["attractor"]
    assert named(attractor, COLD) == ["other"]


def test_runs_at_a_constant_low_temperature_split_between_two_states():
    start = sphere_overlaps(jax.random.key(0), 400, 40)
    final = overlap_trajectory(start, COLD, 4e-3, 20_000).final
    codes = np.asarray(classify(final, COLD))
    # About half are swapped (N = 40, p = .5): both counts are at least 6 but for one chance in
    # 10^5.
    assert np.sum(codes == 0) >= 6 and np.sum(codes == 1) >= 6 and np.sum(codes == 3) <= 4


def test_refusals():
    with pytest.raises(InvalidInput, match="tolerance = 0"):
        classify(Overlaps(1.0, 1.0), COLD, 0.0)
    with pytest.raises(InvalidInput, match="single numbers"):
        classify(Overlaps(1.0, 1.0), COLD._replace(inverse_temperature=np.array([0.1, 0.2])))


def test_fates_of_the_named_states():
    from saccade.studies.single_location.dynamics import FATES, fate

    kappa, nu, theta, eta, rho = np.array(
        [
            [1, 1, 0, 0, 0], [0.4, -0.9, 0, 0.05, 0], [0, 0, 0.6, 1, 0],
            [0.3, 0.95, -0.32, 0.95, 0.8], [0.1, 0.2, 0, 0.1, 0]],
        float).T
    names = [FATES[code] for code in np.asarray(fate(Overlaps(kappa, nu, theta, eta, rho)))]
    assert names == [
        "on the manifold", "on the manifold", "swapped", "off the manifold", "undecided"]
