"""Spatial dynamics: three scalars against all entries, descent against its gradients, transfer,
thinning, divergence; invariances."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saccade.errors import Diverged
from saccade.studies.spatial.dynamics import content, descent
from saccade.studies.spatial.dynamics.descent import Layer, Scalars, Setting, idealised_descent
from saccade.studies.spatial.models import (
    association,
    cheating_attention,
    gradients,
    output,
    scores,
    three_value_attention,
)
from saccade.studies.spatial.task import Spatial, all_images, interleaved, localised
from saccade.studies.spatial.theory.population import early_drive, error_of, population
from saccade.studies.spatial.theory.states import population_states, thinned


def test_three_scalars_follow_descent_in_all_entries():
    """Twenty steps over every image of six patches: the entries of A stay three-valued and equal
    the scalars."""
    labels = interleaved(6, 2)
    images = tuple(jnp.asarray(part) for part in all_images(labels, 0.3))
    A = three_value_attention(jnp.asarray(labels), 0.5, 0.0, 0.0)
    path, alphas = descent.entrywise_descent(images, A, 0.2, Layer(3, 0.01), 0.05, 2.0, 20)
    ours = idealised_descent(
        Scalars(0.2, 0.0, 0.0), Setting(6, 2, 0.3, 3, 0.01, 0.5), 0.05, 2.0, range(21))
    np.testing.assert_allclose(alphas, ours.scalars.alpha, rtol=1e-10)
    np.testing.assert_allclose(path[-1][0, 3], ours.scalars.gamma[-1], rtol=1e-8)
    np.testing.assert_allclose(path[-1][0, 1], ours.scalars.rho[-1], rtol=1e-8)
    assert float(ours.scalars.gamma[-1]) != 0


def test_realistic_descent_is_the_gradient_step_by_step():
    task = Spatial.create(jax.random.key(0), localised(4, 2), 3, 0.4)
    sample = task.sample(jax.random.key(1), 40)
    layer = Layer(3, 0.01, 1.3)
    A, v = descent.random_start(jax.random.key(2), 16, 3, 1.0, 0.1)
    record = descent.realistic_descent(sample.X, sample.y, (A, v), layer, 0.01, 0.5, 4, 2)
    losses = []
    for _ in range(4):
        at = gradients(sample.X, sample.y, A, v, *layer)
        losses.append(float(at.loss))
        A, v = A - 0.5 * at.grad_A, v - 0.01 * at.grad_v
    np.testing.assert_allclose(record.A[-1], A, rtol=1e-12)
    np.testing.assert_allclose(record.loss[:2], losses[::2], rtol=1e-12)
    assert record.steps.tolist() == [0, 2, 4] and np.all(np.diag(np.asarray(A)) == 1.0)


def test_transfer_is_descent_with_the_attention_frozen():
    task = Spatial.create(jax.random.key(3), localised(4, 2), 3, 0.4)
    sample = task.sample(jax.random.key(4), 20)
    A = three_value_attention(jnp.asarray(localised(4, 2)), 1.0, 2.0, 0.0)
    v = jnp.asarray([0.02, -0.01, 0.03])
    ours = descent.transfer_descent(sample.X, sample.y, A, v, Layer(3, 0.01), 0.02, 5)
    for _ in range(5):
        v = v - 0.02 * gradients(sample.X, sample.y, A, v, 3, 0.01).grad_v
    np.testing.assert_allclose(ours, v, rtol=1e-10)


def test_gradient_at_zero_and_the_normalised_step():
    task = Spatial.create(jax.random.key(5), localised(4, 2), 4, 0.4)
    sample = task.sample(jax.random.key(6), 30)
    A = jax.random.normal(jax.random.key(7), (16, 16))
    layer = Layer(3, 0.05)
    grad_v = gradients(sample.X, sample.y, A, jnp.zeros(4), *layer).grad_v
    np.testing.assert_allclose(
        descent.gradient_at_zero(sample.X, sample.y, A, layer), -grad_v, rtol=1e-10)
    flat = descent.gradient_at_zero(sample.X, sample.y, jnp.zeros((16, 16)), layer)
    step = descent.one_normalised_step(sample.X, sample.y)
    np.testing.assert_allclose(step, flat / jnp.linalg.norm(flat), rtol=1e-10)


def test_thinning_keeps_likely_states_and_all_of_the_mass():
    full = population_states(24, 4, 0.3, 3)
    few = thinned(full, 500)
    assert (
        few.probability.sum() == pytest.approx(1) and len(few.probability) <= 510
        and few.thinned > 0)
    K = lambda states: states.probability @ states.coefficients[-1]  # noqa: E731  the mean of the sum of all signals
    assert K(few) == pytest.approx(K(full), abs=0.05)
    assert thinned(full, 10**9).thinned == 0


def test_divergence_is_told_with_its_step():
    task = Spatial.create(jax.random.key(8), localised(4, 2), 3, 0.4)
    sample = task.sample(jax.random.key(9), 20)
    start = descent.random_start(jax.random.key(10), 16, 3, 1.0, 0.5)
    with pytest.raises(Diverged, match=r"at step \d+; try a smaller eta_v"):
        descent.realistic_descent(sample.X, sample.y, start, Layer(3, 0.1), 1e4, 1e3, 6, 2)


def test_the_drive_of_alpha_by_listing():
    """-dl/dalpha at tiny alpha and nu = 0 is (p/2) alpha^(p-1) (signal + noise): the closed form
    against the exact population."""
    setting = Setting(24, 4, 0.3, 3, 0.0, 1.0)
    states = population_states(24, 4, 0.3, 3)
    alpha = 1e-4
    grad_alpha = population(Scalars(alpha, 0.4, -0.1), setting, states).grad_alpha
    assert float(grad_alpha) == pytest.approx(
        -1.5 * alpha**2 * sum(early_drive(setting, 0.4, -0.1)), rel=1e-5)


@settings(deadline=None, max_examples=15)
@given(st.permutations(range(6)), st.floats(-1, 1), st.floats(-1, 1))
def test_relabelling_patches_changes_nothing(order, gamma, rho):
    labels, order = np.asarray((0, 0, 1, 1, 2, 2)), np.asarray(order)
    X = jax.random.normal(jax.random.key(11), (3, 6, 2))
    A = three_value_attention(jnp.asarray(labels), 1.0, gamma, rho)
    moved = three_value_attention(jnp.asarray(labels[order]), 1.0, gamma, rho)
    v = jnp.asarray([0.3, -0.2])
    np.testing.assert_allclose(
        output(X[:, order], moved, v, 3, 0.1), output(X, A, v, 3, 0.1), rtol=1e-9, atol=1e-12)
    assert association(moved, labels[order]) == association(A, labels)


def test_the_cheating_attention_reads_the_next_set():
    S = scores(cheating_attention(jnp.asarray([0, 1, 2, 0, 1, 2]), 30.0))
    np.testing.assert_allclose(S[0], [0, 0.5, 0, 0, 0.5, 0], atol=1e-9)
    np.testing.assert_allclose(S[2], [0.5, 0, 0, 0.5, 0, 0], atol=1e-9)


def test_images_that_cancel_up_to_rounding_are_half_wrong_in_every_descent():
    """Images whose two halves are each other's negatives: F = 0, but sums leave 1e-17 of either
    sign; the other images count as their sign says."""
    signals = np.random.default_rng(3).integers(-1, 2, (200, 12)).astype(float)
    signals[:100, 6:] = -signals[:100, :6]
    A, v = three_value_attention(np.arange(12) // 3, 0.6, 0.1, -0.2), np.asarray([0.3])
    y, layer = np.ones(200), Layer(3, 0.05)
    F = np.asarray(output(signals[..., None], A, v, *layer))
    assert np.max(np.abs(F[:100])) < 1e-12 and np.any(F[:100])
    expected = (50 + np.sum(F[100:] < -1e-9) + np.sum(np.abs(F[100:]) < 1e-9) / 2) / 200
    counts, probability = content.counts_of(signals, 3), np.full(200, 1 / 200)
    at, rest = (content.Mixed(*np.transpose([part])) for part in ((0.3, 0.1, -0.2, 0.0), (0,) * 4))
    recorded = content.content_descent(
        at, rest, content.Fixed(0.6, 0.05, 3), counts, probability, np.asarray([1]))[2]
    rates = [
        descent.error_rate(signals[..., None], y, A, v, layer), error_of(F, probability),
        recorded[0, 0]]
    np.testing.assert_allclose(rates, expected, atol=1e-12)
