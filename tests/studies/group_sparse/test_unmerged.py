"""K and Q apart, overlapping groups and schedules, each against its definition."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.studies.group_sparse.dynamics import unmerged
from saccade.studies.group_sparse.experiments import learned, pretrained, schedules
from saccade.studies.group_sparse.models import encoding
from saccade.studies.group_sparse.task import group_sparse_task


def test_one_step_of_the_factors_is_a_step_down_the_loss():
    task, matrix = group_sparse_task(3, 2, relevant=1), encoding("sine", 3)
    parts = [
        0.3 * jax.random.normal(key, shape)
        for key, shape in zip(
            jax.random.split(jax.random.key(1), 3), ((2, 5), (2, 5), (5,)), strict=True)]
    start, key = unmerged.Factors(*parts), jax.random.key(4)
    ended, _ = unmerged.unmerged_run(key, task, start, matrix, 0.1, jnp.asarray([1]), 7, 2)
    drawn = task.sample(jax.random.fold_in(jax.random.split(key)[0], 0), 7)
    slope = jax.grad(lambda at: unmerged.merged(at, matrix).loss(drawn.X, drawn.y))(start)
    for new, old, down in zip(ended, start, slope, strict=True):
        np.testing.assert_allclose(new, old - 0.1 * down, atol=1e-12)


def test_the_rank_one_start_has_its_gap_and_is_balanced():
    task, matrix = group_sparse_task(5, 2, relevant=3), encoding("sine", 5)
    start = unmerged.rank_one(0.8, task, matrix)
    scores = matrix.T @ (start.keys.T @ start.queries)[2:, 2:] @ matrix
    np.testing.assert_allclose(scores[3] - scores[0], 0.64, atol=1e-12)
    a, theta = unmerged.balanced(0.8, 5)
    np.testing.assert_allclose([a * theta, a**2], [0.64, theta**2 * 25 / 4])


def test_overlapping_groups_share_their_variables():
    task = group_sparse_task(4, 5, overlap=2)
    X = np.asarray(task.sample(jax.random.key(0), 6).X)
    np.testing.assert_array_equal(X[:, 1:, :2], X[:, :-1, 3:])
    assert len(np.unique(X)) == 6 * (5 + 3 * 3)
    with pytest.raises(InvalidInput, match="overlap"):
        group_sparse_task(4, 5, overlap=3)


def test_schedules_give_the_first_step_size_and_the_last_time():
    etas, times = schedules.plan((8, 16), (-1.0, 2.0), 0.4, 400, 0.0)
    np.testing.assert_allclose(etas, [0.4, 0.2])
    assert times.tolist() == [100, 400]
    _, times = schedules.plan((8, 16), (0.0, 0.0), 0.4, 400, np.log(2) / 8)
    assert times.tolist() == [200, 400]
    with pytest.raises(InvalidInput, match="groups"):
        schedules.plan((8,), (0.0, 0.0), 0.4, 400, 0.0)


def test_bad_parameters_are_refused():
    with pytest.raises(InvalidInput, match="draws"):
        pretrained.pretrained.function(jax.random.key(0), draws=6)
    with pytest.raises(InvalidInput, match="setting"):
        learned.starts_and_encodings.function(jax.random.key(0), settings=("cosine",))
