"""The task and the models: laws, Bayes, and weights of the scores."""

import jax
import numpy as np
import pytest
from scipy import stats

from saccade.errors import InvalidInput
from saccade.studies.softmax_location.models import ScoreAttention, SoftmaxAttention
from saccade.studies.softmax_location.task import Search


def test_the_law_of_the_tokens(getkey):
    task = Search(6, 5, 0.6, 0.3, informative=2)
    X, y, where = (np.asarray(x) for x in task.sample(getkey(), 20_000))
    assert (where.sum(axis=1) == 2).all()
    assert X[where][:, 0].mean() == pytest.approx(np.sqrt(3), abs=0.02)
    assert X[where][:, 1:].std() == pytest.approx(0.6, rel=0.02)
    assert X[~where].std() == pytest.approx(1.0, rel=0.02)
    assert np.var(y) == pytest.approx(0.36 / 2 + 0.09, rel=0.05)


def test_best_is_the_posterior_mean(getkey):
    task = Search(4, 5, 0.7)
    X = np.asarray(task.sample(getkey(), 50).X)
    centre = np.eye(4)[0] * np.sqrt(2)
    ratio = stats.multivariate_normal(centre, 0.49).pdf(X) / stats.multivariate_normal(
        np.zeros(4)).pdf(X)
    expected = np.sum(ratio * X[:, :, 1], axis=1) / ratio.sum(axis=1)
    np.testing.assert_allclose(task.best(X), expected, rtol=1e-9)


def test_scores_beat_softmax_on_samples(getkey):
    task = Search(10, 6, 0.7)
    sample, (k, v) = task.sample(getkey(), 20_000), task.truth
    errors = [
        float(np.mean((np.asarray(model(sample.X)) - np.asarray(sample.y)) ** 2))
        for model in (ScoreAttention(k, v, 0.7), SoftmaxAttention(k[None], v[None], 2.3))]
    assert errors[0] < errors[1]


def test_bad_sizes_are_refused():
    for change in ({"length": 1}, {"gamma": 0.0}, {"informative": 5}, {"dim": 1}):
        with pytest.raises(InvalidInput, match=next(iter(change))):
            Search(**{"dim": 6, "length": 5} | change)
    with pytest.raises(InvalidInput, match="shapes"):
        SoftmaxAttention(jax.numpy.ones(3), jax.numpy.ones(3))
