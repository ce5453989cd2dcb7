"""The eight coordinates against the full layer: same samples to rounding, independent samples to
sampling error."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import expit

from saccade.errors import InvalidInput
from saccade.studies.group_sparse.dynamics.designs import (
    Design,
    draw_grams,
    draw_signals,
    expected_control,
    graded_half_normal,
    sampled_control,
    spread_over_copies,
)
from saccade.studies.group_sparse.dynamics.reduced_gradient import (
    coordinates_of,
    loss_and_gradient,
    parameters_of,
    reduced_gradient,
    signals_and_gram,
)
from saccade.studies.group_sparse.dynamics.reduced_map import estimate, reduced_trajectory
from saccade.studies.group_sparse.models import Parameters, encoding, evaluate, tokens
from saccade.studies.group_sparse.task import group_sparse_task
from saccade.studies.group_sparse.theory.laws import two_steps
from saccade.studies.group_sparse.theory.position import half_normal_loss
from saccade.studies.group_sparse.theory.reduction import coordinates_from_gaps, gaps

pytestmark = pytest.mark.slow

POINT = jnp.asarray([0.9, -0.4, 0.15, 1.1, 0.8, -0.2, 0.3, -0.25])


def draw_design(key, groups, group_dim, scale, repeats):
    """One whole design: signals, weights and Gram matrices, all fresh."""
    signal_key, gram_key = jax.random.split(key)
    signals, weights = draw_signals(signal_key, groups, scale, repeats)
    return Design(signals, draw_grams(gram_key, groups, group_dim, scale, repeats, 1)[0], weights)


@pytest.mark.parametrize(("groups", "dim", "relevant"), [(6, 5, 2), (2, 1, 1), (3, 2, 0)])
def test_reduced_gradient_is_the_projected_full_gradient(groups, dim, relevant):
    """One full step, projected on the coordinates, is one preconditioned reduced step, on the same
    samples."""
    direction = np.arange(1.0, dim + 1)
    task, matrix = (
        group_sparse_task(groups, dim, relevant=relevant, direction=direction),
        encoding("sine", groups))
    point = POINT.at[2].set(0.0) if dim == 1 else POINT
    point = point.at[7].set(0.0) if groups == 2 else point
    batch = task.sample(jax.random.key(0), 300)
    parameters = parameters_of(point, task, matrix)
    full = jax.jit(evaluate)(
        tokens(batch.X, matrix), batch.y, parameters.attention[0], parameters.value)
    stepped = Parameters(
        parameters.attention - 0.3 * full.grad_attention_weights,
        parameters.value - 0.3 * full.grad_value, parameters.hidden)
    reduced, speed = reduced_gradient(batch.X, direction, relevant, point)
    assert float(reduced.loss) == pytest.approx(float(full.loss), rel=1e-12)
    expected = coordinates_of(stepped, task, matrix)
    np.testing.assert_allclose(point - 0.3 * speed * reduced.gradient, expected, atol=1e-12)
    mean_attention = full.attention[:, relevant].mean()
    assert float(reduced.attention) == pytest.approx(float(mean_attention), rel=1e-12)


def test_written_out_gradient_is_the_automatic_one():
    task = group_sparse_task(5, 3, relevant=1)
    signals, gram, labels = signals_and_gram(
        task.sample(jax.random.key(1), 50).X, task.direction, 1)
    weights = jnp.full(50, 1 / 50)

    @jax.jit
    def both(point):
        answer = lambda x: loss_and_gradient(x, signals, gram, labels, weights)  # noqa: E731
        return answer(point).gradient, jax.grad(lambda x: answer(x).loss)(point)

    written, automatic = both(POINT)
    np.testing.assert_allclose(written, automatic, atol=1e-13)


def test_coordinates_survive_the_way_through_the_weights():
    task, matrix = (
        group_sparse_task(5, 3, relevant=3, direction=[1.0, 1.0, -2.0]), encoding("sine", 5))
    np.testing.assert_allclose(
        coordinates_of(parameters_of(POINT, task, matrix), task, matrix), POINT, atol=1e-12)


def test_graded_nodes_see_the_narrow_late_loss():
    x, mass = graded_half_normal()
    assert mass.sum() == pytest.approx(1.0)
    assert mass @ x == pytest.approx(np.sqrt(2 / np.pi), rel=1e-4)
    copies, shares = spread_over_copies(x, mass)
    assert shares @ copies**2 == pytest.approx(mass @ x**2, rel=1e-12)
    for beta in (1.0, 50.0, 1000.0):
        assert mass @ np.logaddexp(0, -beta * x) == pytest.approx(
            float(half_normal_loss(jnp.asarray(beta))), rel=1e-4)


def test_design_is_antithetic_independent_and_rightly_scaled():
    design = draw_design(jax.random.key(2), 4, 3, 0.5, repeats=30)
    np.testing.assert_allclose(design.signals[0, 0], design.signals[0, 1])
    np.testing.assert_allclose(design.signals[1:, 0], -design.signals[1:, 1])
    assert float(design.weights.sum()) == pytest.approx(1.0)
    draws = design.gram.shape[-1]
    # The Gram has d - 1 = 2 degrees of freedom: mean 2 sigma^2 on the diagonal, variance 4 sigma^4.
    diagonal = np.asarray(design.gram)[range(4), range(4), 0].mean(axis=0)
    assert diagonal.mean() == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(4 * draws))
    neighbours = np.corrcoef(design.signals[1, 0, :-1], design.signals[1, 0, 1:])[0, 1]
    assert abs(neighbours) < 5 / np.sqrt(draws)


def test_control_variate_has_the_expectation_it_claims():
    """Over 300 designs the z-scores of the sampled against the expected loss and gradient stay
    below 4.5."""
    groups, dim, scale, alpha, gap = 5, 3, 0.8, 0.9, 1.2

    @jax.jit
    def sampled(key):
        design = draw_design(key, groups, dim, scale, repeats=1)
        loss, gradient = sampled_control(alpha, gap, design)
        return jnp.concatenate([loss[None], gradient])

    draws = np.asarray(jax.lax.map(sampled, jax.random.split(jax.random.key(6), 300)))
    loss, gradient = expected_control(alpha, gap, groups, scale)
    z = (draws.mean(axis=0) - np.r_[loss, gradient]) / (draws.std(axis=0, ddof=1) / np.sqrt(300))
    assert np.all(np.abs(z) < 4.5)


def test_expected_force_on_a_is_the_mean_over_plain_samples():
    groups, scale, alpha, gap, samples = 4, 0.8, 0.7, 0.3, 1_000_000
    u = scale * np.random.default_rng(3).normal(size=(groups, samples))
    u[0] = np.abs(u[0])
    s = 1 / (1 + (groups - 1) * np.exp(-gap))
    shares = np.array([s] + [(1 - s) / (groups - 1)] * (groups - 1))[:, None]
    w = (shares * u).sum(axis=0)
    force = -alpha * expit(-alpha * groups * w) * u.sum(axis=0) * (shares * (u - w) * u).sum(axis=0)
    expected = float(expected_control(alpha, gap, groups, scale)[1][1])
    error = force.std() / np.sqrt(samples)
    assert expected == pytest.approx(force.mean(), abs=4.5 * error)
    assert error < abs(expected) / 50


def test_control_variate_keeps_the_mean_and_cuts_the_noise():
    """Paired over 100 designs: same mean within 4.5 standard errors of the difference, at least
    half of the variance gone early on."""
    point = coordinates_from_gaps(6, 0.25, -0.05, 0.0, 0.4, 0.4, 0.0)

    @jax.jit
    def both(key):
        design = draw_design(key, 6, 3, 1.0, repeats=1)
        plain = loss_and_gradient(
            point, design.signals, design.gram, jnp.ones_like(design.weights), design.weights)
        return plain.gradient, estimate(point, design, 1.0).gradient

    plain, controlled = (
        np.asarray(x) for x in jax.lax.map(both, jax.random.split(jax.random.key(7), 100)))
    difference = plain - controlled
    z = difference.mean(axis=0) / (difference.std(axis=0, ddof=1) / 10)
    assert np.all(np.abs(z) < 4.5)
    assert np.all(controlled.var(axis=0)[:5] < 0.5 * plain.var(axis=0)[:5])


def test_trajectory_starts_with_the_closed_form_and_matches_full_descent():
    """Large-sample descent of the raw layer from the same start, on independent samples. Over 6
    seeds the full side scattered by (0.0006, 0.0007, 0.0008) in (alpha, a, b) and 0.002 in the
    gaps; the reduced side with 8 repeats by (0.0003, 0.013, 0.0015) and
    0.004, with 64 by sqrt(8) less. The tolerances are five of the two combined."""
    groups, dim, eta, steps, samples = 3, 2, 0.5, 20, 40_000
    task, matrix = group_sparse_task(groups, dim), encoding("sine", groups)

    @jax.jit
    def descend(key):
        def step(parameters, key):
            batch = task.sample(key, samples)
            at = evaluate(
                tokens(batch.X, matrix), batch.y, parameters.attention[0], parameters.value)
            moved = (
                parameters.attention - eta * at.grad_attention_weights,
                parameters.value - eta * at.grad_value)
            return Parameters(*moved, parameters.hidden), None

        size = dim + groups
        start = Parameters(jnp.zeros((1, size, size)), jnp.zeros(size), jnp.zeros((0, size)))
        return jax.lax.scan(step, start, jax.random.split(key, steps))[0]

    full = np.asarray(coordinates_of(descend(jax.random.key(3)), task, matrix))
    run = reduced_trajectory(
        jax.random.key(4), groups, dim, eta, steps, record=[1, 2, steps], repeats=64, pool=4)
    closed = two_steps(groups, eta)
    np.testing.assert_allclose(
        run.coordinates[:2, 0], [closed.first_alpha, closed.alpha], rtol=1e-12)
    np.testing.assert_allclose(
        [*gaps(run.coordinates[1])[:2], run.coordinates[1, 1]], [closed.gap, closed.gap, closed.a])
    np.testing.assert_allclose(run.coordinates[2, 0], full[0], atol=0.004)
    np.testing.assert_allclose(run.coordinates[2, 1], full[1], atol=0.03)
    np.testing.assert_allclose(run.coordinates[2, 2], full[2], atol=0.006)
    np.testing.assert_allclose(gaps(run.coordinates[2]), gaps(full), atol=0.015)
    assert run.gap[2] == gaps(run.coordinates[2]).A
    assert run.diverged_at == -1 and run.attention[2] > run.attention[0]


def test_bad_input_is_refused_by_name():
    with pytest.raises(InvalidInput, match=r"^coordinates = "):
        reduced_gradient(np.ones((2, 3, 2)), [1.0, 0.0], 0, [1.0])
    with pytest.raises(InvalidInput, match=r"^relevant = 3"):
        reduced_gradient(np.ones((2, 3, 2)), [1.0, 0.0], 3, POINT)
    with pytest.raises(InvalidInput, match=r"^group_dim = 0"):
        reduced_trajectory(jax.random.key(0), 4, 0, 0.5, 10)
