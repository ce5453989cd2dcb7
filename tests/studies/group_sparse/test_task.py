"""The group-sparse distribution against its definition: label by brute force, moments by sampling,
bad input by name."""

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from saccade.errors import InvalidInput
from saccade.studies.group_sparse.task import group_sparse_task

SAMPLES = 40_000


def test_label_is_the_sign_of_the_relevant_signal():
    direction = np.array([1.0, -2.0, 0.5])
    task = group_sparse_task(4, 3, scale=1.7, relevant=2, direction=direction)
    batch = task.sample(jax.random.key(0), 200)
    X = np.asarray(batch.X)
    expected = [1.0 if sum(direction[c] * x[2][c] for c in range(3)) >= 0 else -1.0 for x in X]
    np.testing.assert_array_equal(batch.y, expected)
    np.testing.assert_array_equal(np.sign(task.best(batch.X)), expected)
    assert X.shape == (200, 4, 3)
    np.testing.assert_array_equal(batch.where, np.tile([False, False, True, False], (200, 1)))


def test_a_signal_of_zero_counts_as_plus_one():
    task = group_sparse_task(2, 1)
    np.testing.assert_array_equal(task.label(np.zeros((3, 2, 1))), [1, 1, 1])


def test_groups_are_isotropic_with_the_asked_scale():
    inputs = np.asarray(group_sparse_task(3, 2, scale=0.5).sample(jax.random.key(1), SAMPLES).X)
    covariance = np.cov(inputs.reshape(SAMPLES, -1).T)
    # Standard error of a covariance entry is at most sqrt(2) sigma^2 / sqrt(n); five of them.
    np.testing.assert_allclose(
        covariance, 0.25 * np.eye(6), atol=5 * np.sqrt(2) * 0.25 / np.sqrt(SAMPLES))


def test_correlated_groups_share_the_asked_correlation():
    inputs = np.asarray(
        group_sparse_task(3, 1, correlation=0.6).sample(jax.random.key(2), SAMPLES).X)[:, :, 0]
    expected = 0.4 * np.eye(3) + 0.6
    np.testing.assert_allclose(np.cov(inputs.T), expected, atol=5 * np.sqrt(2) / np.sqrt(SAMPLES))


@given(st.floats(0.05, 2.0), st.integers(0, 2))
def test_the_margin_holds_for_every_sample(margin, relevant):
    task = group_sparse_task(3, 2, relevant=relevant, direction=[0.6, 0.8], margin=margin)
    batch = task.sample(jax.random.key(3), 50)
    signal = np.einsum("nd,d->n", np.asarray(batch.X)[:, relevant], [0.6, 0.8])
    assert np.all(np.asarray(batch.y) * signal >= margin - 1e-12)
    np.testing.assert_array_equal(task.label(batch.X), batch.y)


@pytest.mark.parametrize("relevant", [0, 1, 3])
@pytest.mark.parametrize("overlap", [1, 2])
def test_a_margin_moves_the_row_of_variables_that_overlapping_groups_share(relevant, overlap):
    direction = np.array([1.0, 2.0, 3.0, 4.0, 5.0]) / np.sqrt(55)
    make = [
        group_sparse_task(
            4, 5, relevant=relevant, margin=margin, overlap=overlap, direction=direction)
        for margin in (0.0, 0.7)]
    plain, moved = (task.sample(jax.random.key(0), 200) for task in make)
    X, y = np.asarray(moved.X), np.asarray(moved.y)
    np.testing.assert_array_equal(X[:, 1:, :overlap], X[:, :-1, 5 - overlap :])
    np.testing.assert_allclose(
        X[:, relevant], plain.X[:, relevant] + 0.7 * y[:, None] * direction, atol=1e-14)
    assert np.all(y * (X[:, relevant] @ direction) >= 0.7 - 1e-12)
    changed = [group for group in range(4) if np.any(X[:, group] != np.asarray(plain.X)[:, group])]
    assert changed == [group for group in range(4) if abs(group - relevant) <= 1]
    np.testing.assert_array_equal(make[1].label(moved.X), y)


def test_with_a_split_signal_the_margin_is_that_of_the_whole_signal():
    task = group_sparse_task(4, 3, relevant=1, margin=0.7, split=2, split_weight=-0.5)
    batch = task.sample(jax.random.key(5), 500)
    assert np.all(np.asarray(batch.y * task.best(batch.X)) >= 0.7 - 1e-12)
    assert np.any(np.asarray(batch.y * (batch.X[:, 1] @ task.direction)) < 0.7)
    with pytest.raises(InvalidInput, match=r"^margin = 0\.7 .*overlap"):
        group_sparse_task(4, 3, relevant=1, margin=0.7, split=2, overlap=1)
    apart = group_sparse_task(4, 3, relevant=1, margin=0.7, split=3, split_weight=-2.0, overlap=1)
    batch = apart.sample(jax.random.key(6), 500)
    assert np.all(np.asarray(batch.y * apart.best(batch.X)) >= 0.7 - 1e-12)


def test_a_split_signal_uses_both_groups():
    task = group_sparse_task(3, 1, relevant=0, split=2, split_weight=0.5)
    batch = task.sample(jax.random.key(4), 500)
    x = np.asarray(batch.X)[:, :, 0]
    np.testing.assert_array_equal(batch.y, np.where(x[:, 0] + 0.5 * x[:, 2] >= 0, 1, -1))
    np.testing.assert_array_equal(batch.where[0], [True, False, True])


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("groups", {"groups": 1}), ("groups", {"groups": 2.5}), ("group_dim", {"group_dim": 0}),
        ("scale", {"scale": 0.0}), ("scale", {"scale": float("nan")}),
        ("relevant", {"relevant": 4}), ("relevant", {"relevant": -1}),
        ("direction", {"direction": [0.0, 0.0]}), ("direction", {"direction": [1.0]}),
        ("margin", {"margin": -0.1}), ("correlation", {"correlation": 1.0}),
        ("split", {"split": 0})])
def test_bad_input_is_refused_by_name(name, change):
    with pytest.raises(InvalidInput, match=f"^{name} = "):
        group_sparse_task(**({"groups": 4, "group_dim": 2} | change))
