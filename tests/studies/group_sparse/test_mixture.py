"""Any attention and any label: the forces against finite differences, the error against limits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.studies.group_sparse.dynamics import mixture_map, position_map
from saccade.studies.group_sparse.theory import laws, mixture, position

WEIGHTS = np.array([0.6, -0.8, 0.0])
SCORES = np.array([0.2, -0.7, 0.9])


def _loss(alpha: float, scores: np.ndarray) -> float:
    shares = np.exp(scores) / np.exp(scores).sum()
    return float(mixture.mixture_forces(alpha, jnp.asarray(shares), jnp.asarray(WEIGHTS), 1.3)[0])


def test_forces_are_the_slopes_of_the_loss():
    shares = np.exp(SCORES) / np.exp(SCORES).sum()
    forces = mixture.mixture_forces(0.8, jnp.asarray(shares), jnp.asarray(WEIGHTS), 1.3)
    h = 1e-5
    by_alpha = -(_loss(0.8 + h, SCORES) - _loss(0.8 - h, SCORES)) / (2 * h)
    by_score = [
        -(_loss(0.8, SCORES + h * e) - _loss(0.8, SCORES - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(forces.alpha_force, by_alpha, atol=1e-8)
    np.testing.assert_allclose(forces.score_forces, by_score, atol=1e-8)


def test_one_group_is_the_position_only_layer():
    gap, D = 1.1, 5
    s, rest = (float(part) for part in position.attention_from_gap(jnp.asarray(gap), D))
    shares, weights = np.full(D, rest / (D - 1)), np.eye(D)[0]
    shares[0] = s
    forces = mixture.mixture_forces(0.4, jnp.asarray(shares), jnp.asarray(weights), 0.9)
    known = position.population_forces(jnp.asarray(0.4), jnp.asarray(gap), D, jnp.asarray(0.9))
    np.testing.assert_allclose(forces.alpha_force, known.alpha_force, rtol=1e-10)
    np.testing.assert_allclose(forces.score_forces[0], known.gap_force, rtol=1e-10)


def test_the_map_from_zero_is_the_two_number_map():
    state = mixture_map.MixtureState(jnp.asarray(0.0), jnp.zeros(4))
    for _ in range(12):
        state = mixture_map.mixture_step(state, jnp.eye(4)[1], 0.3, 2.5, 1.0)
    known = position_map.position_trajectory(4, 0.3, 12)
    np.testing.assert_allclose(state.alpha, known.alpha[0], rtol=1e-9)
    np.testing.assert_allclose(state.scores[1] - state.scores[0], known.gap[0], rtol=1e-9)


def test_errors_of_a_selection_and_of_opposites():
    shares = [0.7, 0.1, 0.1, 0.1]
    assert mixture.mixture_error(shares, [1, 0, 0, 0]) == pytest.approx(
        laws.selection_error(0.7, 4))
    assert mixture.mixture_error([0, 1], [1, 0]) == pytest.approx(0.5)
    assert mixture.mixture_error([1, 0], [1, 1]) == pytest.approx(0.25)
    assert mixture.mixture_error([1, 2], [2, 4]) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("shares", "weights"), [([1, 0], [1, 0, 0]), ([0, 0], [1, 0])])
def test_bad_attention_or_weights_are_refused(shares, weights):
    with pytest.raises(InvalidInput, match="must"):
        mixture.mixture_error(shares, weights)


def test_a_selector_of_the_right_group_has_nothing_to_return_from():
    start = mixture_map.MixtureState(jnp.asarray(0.0), jnp.asarray([3.0, 0.0, 0.0]))
    steps = mixture_map.steps_to_return(start, jnp.asarray(0), 0.1, 2.0, 1.0, 1.0)
    assert int(jax.device_get(steps)) == 0
