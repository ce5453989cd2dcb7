"""The linear baseline against the normal equations, assembled token by token."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saccade.errors import InvalidInput
from saccade.studies.single_location.theory import linear_coefficients, linear_risk, null_risk
from saccade.studies.single_location.theory.baselines import linear_risk_lower_bound

LAWS = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6).filter(lambda raw: sum(raw) > 0.01)


def normal_equations(law: np.ndarray, gamma: float, dim: int) -> tuple[np.ndarray, np.ndarray]:
    """E[x x^T] and E[x Y] for the concatenated tokens x, with k* and v* the first two axes."""
    length = law.size
    second, cross = np.zeros((length * dim, length * dim)), np.zeros(length * dim)
    for location, probability in enumerate(law):
        spread, mean = np.ones(length * dim), np.zeros(length * dim)
        informative = slice(location * dim, (location + 1) * dim)
        spread[informative] = gamma**2
        mean[location * dim] = np.sqrt(dim / 2)
        second += probability * (np.diag(spread) + np.outer(mean, mean))
        cross[location * dim + 1] += probability * gamma**2
    return second, cross


@pytest.mark.parametrize("law", [[0.1, 0.2, 0.3, 0.4], [1.0], [0.5, 0.5], [0.0, 1.0, 0.0]])
@pytest.mark.parametrize("gamma", [2**-0.5, 1.0, 1.7])
def test_the_linear_optimum_solves_the_normal_equations(law, gamma):
    dim, law = 5, np.array(law)
    second, cross = normal_equations(law, gamma, dim)
    solution = np.linalg.solve(second, cross).reshape(law.size, dim)
    coefficients = linear_coefficients(law, gamma)
    assert np.allclose(solution, np.outer(coefficients, np.eye(dim)[1]), atol=1e-14)
    explained = cross @ np.linalg.solve(second, cross)
    assert linear_risk(law, gamma, noise=0.3) == pytest.approx(
        0.09 + gamma**2 - explained, abs=1e-14)


@given(LAWS, st.floats(0.05, 3.0), st.floats(0.0, 2.0))
def test_the_linear_risk_lies_between_its_bound_and_the_null_risk(raw, gamma, noise):
    law = np.array(raw) / sum(raw)
    value = linear_risk(law, gamma, noise)
    assert linear_risk_lower_bound(law, gamma, noise) <= value + 1e-12
    assert noise**2 - 1e-12 <= value <= null_risk(gamma, noise) + 1e-12


def test_a_known_location_leaves_only_the_noise():
    assert linear_risk([0.0, 1.0], gamma=0.7, noise=0.0) == 0.0
    assert linear_risk([1.0], gamma=0.7, noise=0.5) == 0.25


def test_a_uniform_location_over_many_tokens_teaches_a_linear_model_nothing():
    gamma = 2**-0.5
    for length in (2, 10, 100, 10_000):
        expected = gamma**2 - gamma**4 / (length + gamma**2 - 1)
        assert linear_risk(np.full(length, 1 / length), gamma) == pytest.approx(expected, rel=1e-12)
    assert null_risk(gamma) - linear_risk(np.full(10_000, 1e-4), gamma) < 1e-4


@pytest.mark.parametrize("law", [[], [0.5, 0.4], [1.2, -0.2], [float("nan"), 1.0], [[0.5], [0.5]]])
def test_what_is_not_a_law_is_refused(law):
    for calculator in (linear_coefficients, linear_risk, linear_risk_lower_bound):
        with pytest.raises(InvalidInput, match="location_probabilities"):
            calculator(law)


@pytest.mark.parametrize("name, value", [("gamma", 0.0), ("gamma", float("inf")), ("noise", -1.0)])
def test_impossible_scales_are_refused(name, value):
    with pytest.raises(InvalidInput, match=name):
        null_risk(**{name: value})
    with pytest.raises(InvalidInput, match=name):
        linear_risk([0.5, 0.5], **{name: value})
