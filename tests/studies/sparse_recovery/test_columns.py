"""Sparse recovery under the contracts: columns as tokens, the Bayes predictor, models that look."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saccade import contracts
from saccade.errors import InvalidInput
from saccade.studies.sparse_recovery.contracts import MODELS, SYMMETRIES, TASKS
from saccade.studies.sparse_recovery.models.unrolled import UnrolledRecovery
from saccade.studies.sparse_recovery.task import ColumnsAsTokens, SparseRecovery, read_columns

KEY = jax.random.key(0)
TASK = ColumnsAsTokens(SparseRecovery.create(7, 5, 2))
SAMPLE = TASK.sample(KEY, 40)
CONVERGED = UnrolledRecovery("fista", {"lam": jnp.full(1500, 1e-3)})


@pytest.mark.parametrize("name", TASKS)
def test_tasks_keep_the_contract(name):
    task = TASKS[name](KEY)
    sample = task.sample(KEY, 6)
    assert isinstance(task, contracts.Task) and isinstance(sample, contracts.Sample)
    assert sample.X.shape == (6, task.length, task.dim) and sample.where.shape == (6, task.length)
    assert task.best(sample.X).shape == sample.y.shape == (6,)
    assert (np.asarray(sample.where).sum(1) == 3).all()


def test_tokens_hold_the_columns_the_query_and_the_values():
    drawn = TASK.recovery.sample(KEY, 40)
    back = read_columns(SAMPLE.X[:, ::-1])
    np.testing.assert_array_equal(back.X[:, :, 6::-1], drawn.X)
    np.testing.assert_array_equal(back.y, drawn.y)
    np.testing.assert_array_equal(back.query[:, 6::-1], drawn.query)
    np.testing.assert_array_equal(SAMPLE.where[:, 1:], drawn.support)


def test_the_target_is_a_function_of_the_tokens_that_matter():
    for tokens, y, where in zip(*(np.asarray(part) for part in SAMPLE), strict=True):
        columns, values = tokens[where][1:], tokens[0, :5]
        beta = np.linalg.lstsq(columns[:, :5].T, values, rcond=None)[0]
        assert y == pytest.approx(beta @ columns[:, 5], abs=1e-9)


def test_the_best_predictor_is_exact_without_noise_whatever_the_other_columns_are():
    np.testing.assert_allclose(TASK.best(SAMPLE.X), SAMPLE.y, atol=1e-6)
    other = TASK.sample(jax.random.key(1), 40).X
    altered = jnp.where(SAMPLE.where[:, :, None], SAMPLE.X, other)
    np.testing.assert_allclose(TASK.best(altered), SAMPLE.y, atol=1e-6)


def test_the_best_predictor_is_the_posterior_mean():
    """Against importance sampling: vectors from the prior, weighted by their likelihood."""
    task = ColumnsAsTokens(SparseRecovery.create(4, 3, 2, noise=0.7, block=2))
    X, y, query, _ = (np.asarray(part)[0] for part in read_columns(task.sample(KEY, 1).X))
    beta = np.asarray(task.recovery.sample(jax.random.key(5), 200_000).beta)
    weights = np.exp(-((y - beta @ X[:, 1:].T) ** 2).sum(1) / (2 * 0.7**2))
    expected = (weights * (beta @ query[1:])).sum() / weights.sum()
    assert float(task.best(task.sample(KEY, 1).X)[0]) == pytest.approx(expected, abs=0.02)


def test_too_many_supports_are_refused():
    with pytest.raises(InvalidInput, match="supports"):
        ColumnsAsTokens(SparseRecovery.create(40, 5, 10)).best(jnp.zeros((1, 41, 7)))


@pytest.mark.parametrize("name", MODELS)
def test_models_keep_the_contract(name):
    model = MODELS[name](KEY)
    assert isinstance(model, contracts.Model) and name in SYMMETRIES
    mask = jnp.ones((40, 8), bool).at[:, 2].set(False)
    rubbish = SAMPLE.X.at[:, 2].set(jnp.nan)
    np.testing.assert_array_equal(model(SAMPLE.X, mask), model(rubbish, mask))
    looks = np.asarray(model.attention(rubbish, mask))
    assert (looks[:, 2] == 0).all() and (looks[:, 0] == 0).all() and (looks >= 0).all()
    np.testing.assert_allclose(looks.sum(1), 1)


def test_the_lasso_finds_the_target_and_looks_at_the_support():
    few = ColumnsAsTokens(SparseRecovery.create(7, 6, 1)).sample(KEY, 200)
    assert (np.abs(np.asarray(CONVERGED(few.X) - few.y)) < 0.05).mean() > 0.98
    looks = np.asarray(CONVERGED.attention(few.X))
    assert ((looks * np.asarray(few.where)).sum(1) > 0.9).mean() > 0.98


def test_without_values_nothing_is_known():
    mask = jnp.ones((40, 8), bool).at[:, 0].set(False)
    assert (np.asarray(CONVERGED(SAMPLE.X, mask)) == 0).all()
    np.testing.assert_allclose(CONVERGED.attention(SAMPLE.X, mask)[:, 1:], 1 / 7)
