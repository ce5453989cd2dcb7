"""The logistic prox: scipy's minimiser as peer, its optimality condition for huge steps, symmetry,
contraction."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import expit

from saccade.errors import InvalidInput
from saccade.studies.sparse_token.theory import prox_logistic


@pytest.mark.parametrize("label", [1, -1])
def test_against_a_scalar_minimiser(label):
    for omega in (-30.0, -2.0, 0.0, 0.5, 8.0):
        for step in (0.01, 1.0, 60.0):
            peer = minimize_scalar(
                lambda h, o=omega, s=step: np.logaddexp(0, -label * h) + (h - o) ** 2 / (2 * s),
                bracket=(omega - 1, omega + 1), tol=1e-12)
            assert abs(prox_logistic(omega, step, label) - peer.x) < 1e-6 * (1 + abs(peer.x))


@given(st.floats(-1e5, 1e5), st.floats(0, 1e6), st.sampled_from([1, -1]))
@settings(max_examples=200, deadline=None)
def test_optimality_symmetry_and_contraction(omega, step, label):
    h = prox_logistic(omega, step, label)
    residual = h - omega - step * label * expit(-label * h)
    # The condition divided by its own slope is the distance to the root.
    assert abs(residual) / (1 + step * expit(h) * expit(-h)) < 1e-13 * (1 + abs(omega) + abs(h))
    assert prox_logistic(-omega, step, -label) == -h
    assert abs(prox_logistic(omega + 1.0, step, label) - h) <= 1.0 + 1e-9


def test_lists_and_refusals():
    np.testing.assert_allclose(prox_logistic([1.0, 2.0], [0.0, 0.0], 1), [1.0, 2.0])
    for arguments, word in [
        (([1.0], [-1.0], 1), "step"), (([1.0], [1.0], 2), "label"),
        (([1.0, 2.0], [1.0] * 3, 1), "step"), (([np.nan], [1.0], 1), "omega"),
    ]:
        with pytest.raises(InvalidInput, match=word):
            prox_logistic(*arguments)
