"""Orders by size: weights and sums by hand, the semi-idealised process, content, images needed."""

import jax.numpy as jnp
import numpy as np
import pytest

from saccade.studies.spatial.claims.scaling import needed
from saccade.studies.spatial.dynamics.content import Fixed, Mixed, content_outputs, counts_of
from saccade.studies.spatial.dynamics.coupling import semi_idealised
from saccade.studies.spatial.dynamics.descent import Scalars, Setting, idealised_descent
from saccade.studies.spatial.experiments.orders import images_of, seen_by, weights_of
from saccade.studies.spatial.models import output, scores, three_value_attention
from saccade.studies.spatial.theory.population import attention_weights

LABELS = np.arange(12) // 3


def test_what_a_patch_sees_is_the_softmax_of_three_values():
    signals = images_of(np.random.default_rng(0), 12, 3, 0.5, 6)
    at = weights_of(12, 3, 0.7, 0.4, -0.2)
    S = scores(three_value_attention(LABELS, 0.7, 0.4, -0.2))
    np.testing.assert_allclose(seen_by(signals, 3, at), 12 * signals @ S.T, rtol=1e-12)
    theirs = attention_weights(Setting(12, 3, 0.5, 3, 0.0, 0.7), 0.4, -0.2)
    np.testing.assert_allclose(at[:3], 12 * np.asarray(theirs[:3]), rtol=1e-12)
    np.testing.assert_array_equal(signals[:3, 3:], -signals[3:, 3:])


def test_semi_idealised_attention_follows_the_idealised_one():
    """Where alpha takes the course of the idealised descent, gamma and rho do too."""
    setting, stops = Setting(6, 2, 0.3, 3, 0.01, 0.5), np.arange(16)
    path = idealised_descent(Scalars(0.2, 0.0, 0.0), setting, 0.05, 2.0, stops)
    gamma, rho = semi_idealised(path.scalars.alpha[:-1], setting, 2.0, path.states)
    np.testing.assert_allclose(gamma, path.scalars.gamma[1:], rtol=1e-9)
    np.testing.assert_allclose(rho, path.scalars.rho[1:], rtol=1e-9)


def test_without_content_the_outputs_are_those_of_the_layer():
    signals = images_of(np.random.default_rng(1), 12, 3, 0.5, 8)
    A = three_value_attention(LABELS, 0.7, 0.4, -0.2)
    plain = output(signals[..., None], A, np.asarray([0.3]), 3, 0.05)
    counts = counts_of(signals, 3)
    ours = content_outputs(Mixed(0.3, 0.4, -0.2, 0.0), Fixed(0.7, 0.05, 3), jnp.asarray(counts))
    np.testing.assert_allclose(ours, plain, rtol=1e-10)
    assert counts.sum(axis=(1, 2)).tolist() == [12] * 8


@pytest.mark.parametrize(
    ("errors", "number"),
    [
        ((0.01, 0.01, 0.01), 1.0),  # there at once
        ((0.3, 0.3, 0.3), 8.0),  # never: twice the largest
        ((0.04, 0.0, 0.0), 2**0.5),  # half-way between 1 and 2
        ((0.01, 0.03, 0.01), 2**1.5),])  # only from where it stays
def test_images_needed(errors, number):
    found = needed(np.asarray([errors]), np.asarray([1, 2, 4]))
    assert found[0] == pytest.approx(number)
