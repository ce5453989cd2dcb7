"""The closed form of the first two steps against the definition by sampling, and against the layer
itself on raw data."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import expit

from saccade.studies.group_sparse.models import encoding, evaluate, tokens
from saccade.studies.group_sparse.task import group_sparse_task
from saccade.studies.group_sparse.theory.laws import two_steps
from saccade.studies.group_sparse.theory.position import position_loss


@pytest.mark.parametrize(
    ("groups", "step_size", "scale"), [(8, 2.0, 1.0), (16, 2.0, 1.0), (3, 0.7, 1.5), (2, 1.0, 0.6)])
def test_closed_form_is_the_stated_expectation(groups, step_size, scale):
    samples, others = 500_000, groups - 1
    rng = np.random.default_rng(groups)
    u = np.abs(scale * rng.normal(size=samples))
    R = scale * np.sqrt(others) * rng.normal(size=samples)
    T, first, gram = u + R, step_size * scale / np.sqrt(2 * np.pi), (groups + 1) / 2
    p = expit(-first * T)
    bracket = u**2 + R**2 / others + (groups - 2) * scale**2 - T**2 / groups
    answer = two_steps(groups, step_size, scale)
    assert answer.first_alpha == pytest.approx(first, rel=1e-14) and answer.b == 0
    for value, draws in (
        (answer.alpha, first + step_size * p * T),
        (answer.gap, step_size * gram**2 * first / groups * p * (u - R / others)),
        (answer.a, step_size * first / groups * p * T * bracket),
    ):
        assert value == pytest.approx(draws.mean(), abs=4.5 * draws.std() / np.sqrt(samples))


def test_closed_form_is_two_steps_of_the_layer_on_raw_data():
    """Fresh halves of a large sample for the two steps; the standard error comes from splitting the
    second half in blocks."""
    groups, dim, eta, blocks, block = 3, 2, 1.5, 40, 5_000
    task, matrix = group_sparse_task(groups, dim, relevant=1), encoding("sine", groups)
    answer = two_steps(groups, eta)
    size = dim + groups
    value = jnp.zeros(size).at[0].set(answer.first_alpha)

    @jax.jit
    def gradient(key):
        batch = task.sample(key, block)
        at = evaluate(tokens(batch.X, matrix), batch.y, jnp.zeros((size, size)), value)
        scores = matrix.T @ at.grad_attention_weights[dim:, dim:] @ matrix
        gap = scores[1, 1] - (scores[0, 1] + scores[2, 1]) / 2
        return jnp.stack([
            at.grad_value[0], gap, at.grad_attention_weights[0, 0],
            at.grad_attention_weights[1, 1]])

    slopes = np.asarray(jax.lax.map(gradient, jax.random.split(jax.random.key(0), blocks)))
    mean, error = slopes.mean(axis=0), slopes.std(axis=0, ddof=1) / np.sqrt(blocks)
    closed = np.array(
        [(answer.first_alpha - answer.alpha) / eta, -answer.gap / eta, -answer.a / eta, 0.0])
    assert np.all(np.abs(mean - closed) < 4.5 * error)


@pytest.mark.parametrize(("groups", "step_size", "scale"), [(5, 0.4, 1.0), (40, 3.0, 0.8)])
def test_gap_needs_no_integral(groups, step_size, scale):
    """At uniform attention h = sigma / sqrt(2 pi) for every alpha, which is why A(2) is
    elementary."""
    for alpha in (0.1, 2.0, 30.0):
        assert position_loss(groups, alpha, 0.0, scale).attention_force == pytest.approx(
            scale / np.sqrt(2 * np.pi), rel=1e-12)
    gram = (groups + 1) / 2
    expected = step_size**2 * scale**2 * gram**2 / (2 * np.pi * groups)
    assert two_steps(groups, step_size, scale).gap == pytest.approx(expected, rel=1e-12)
