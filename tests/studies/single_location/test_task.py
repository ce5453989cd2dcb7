"""The task against its definition: moments within five standard errors of 20000 draws, laws of the
location, refusals."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from saccade.errors import InvalidInput
from saccade.studies.single_location.task import SingleLocation

DRAWS = 20_000
# Samples come from keys of JAX or from generators of NumPy: two draws of one law.
SOURCES = {"jax": jax.random.key, "numpy": np.random.default_rng}


@pytest.fixture(params=SOURCES, scope="module")
def source(request):
    return SOURCES[request.param]


def within(values, expected, errors=5.0):
    """The mean of independent values is `expected` within so many standard errors (five: one false
    alarm in two million)."""
    values = np.asarray(values)
    assert abs(values.mean() - expected) < errors * values.std(ddof=1) / np.sqrt(len(values))


@pytest.fixture(scope="module")
def drawn(source):
    task = SingleLocation.create(jax.random.key(0), dim=12, length=4, gamma=0.6, noise=0.3)
    return task, task.sample(source(1), DRAWS)


def rows_at(X, location):
    return np.take_along_axis(np.asarray(X), np.asarray(location)[:, :, None], axis=1)


def test_truth_is_an_orthonormal_pair():
    for dim in (2, 3, 50):
        task = SingleLocation.create(jax.random.key(dim), dim=dim, length=3)
        pair = np.stack([task.k_star, task.v_star])
        np.testing.assert_allclose(pair @ pair.T, np.eye(2), atol=1e-14)


def test_informative_token_has_its_mean_and_spread(drawn):
    task, sample = drawn
    token = rows_at(sample.X, sample.location)[:, 0]
    along = token @ np.asarray(task.k_star)
    within(along, np.sqrt(12 / 2))
    within((along - np.sqrt(6)) ** 2, 0.36)
    within(token @ np.asarray(task.v_star), 0.0)
    within(np.sum(token**2, axis=1), 12 / 2 + 0.36 * 12)


def test_other_tokens_are_standard_normal(drawn):
    task, sample = drawn
    others = np.delete(np.arange(4), 0)
    shifted = (np.asarray(sample.location) + others) % 4
    tokens = rows_at(sample.X, shifted)
    for token in tokens.transpose(1, 0, 2):
        within(np.sum(token**2, axis=1), 12.0)
        within(token @ np.asarray(task.k_star), 0.0)


def test_all_tokens_have_the_same_norm_when_gamma_squared_is_half():
    task = SingleLocation.create(jax.random.key(2), dim=12, length=3)
    X = np.asarray(task.sample(jax.random.key(3), DRAWS).X)
    for token in X.transpose(1, 0, 2):
        within(np.sum(token**2, axis=1), 12.0)


def test_target_reads_the_informative_token(drawn):
    task, sample = drawn
    read = rows_at(sample.X, sample.location)[:, 0] @ np.asarray(task.v_star)
    residual = np.asarray(sample.y) - read
    within(np.asarray(sample.y) ** 2, 0.36 + 0.09)
    within(residual**2, 0.09)
    within(residual * read, 0.0)


def test_location_follows_its_law(source):
    law = np.array([0.5, 0.0, 0.2, 0.3])
    task = SingleLocation.create(
        jax.random.key(4), dim=3, length=4, location_probabilities=jnp.asarray(law))
    location = np.asarray(task.sample(source(5), DRAWS).location)
    counts = np.bincount(location[:, 0], minlength=4)
    assert counts[1] == 0
    seen = law > 0
    assert stats.chisquare(counts[seen], DRAWS * law[seen]).pvalue > 1e-5


def test_several_informative_tokens_are_a_uniform_subset(source):
    task = SingleLocation.create(jax.random.key(6), dim=6, length=4, informative=2)
    sample = task.sample(source(7), DRAWS)
    location = np.asarray(sample.location)
    assert np.all(location[:, 0] < location[:, 1])
    counts = np.bincount(location[:, 0] * 4 + location[:, 1], minlength=16)
    assert stats.chisquare(counts[counts > 0], np.full(6, DRAWS / 6)).pvalue > 1e-5
    read = (rows_at(sample.X, location) @ np.asarray(task.v_star)).sum(axis=1) / np.sqrt(2)
    np.testing.assert_allclose(sample.y, read, atol=1e-12)
    within(np.asarray(sample.y) ** 2, 0.5)


def test_same_key_same_draw_and_batches_of_tasks():
    def first_target(key):
        return SingleLocation.create(key, dim=5, length=3).sample(key, 1).y[0]

    keys = jax.random.split(jax.random.key(8), 4)
    batch = jax.jit(jax.vmap(first_target))(keys)
    np.testing.assert_allclose(batch, [first_target(key) for key in keys], rtol=1e-12)
    assert len(np.unique(batch)) == 4


UNIT = np.eye(3)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"k_star": 2 * UNIT[0]}, "norm of k_star = 2.0"),
        ({"v_star": (UNIT[0] + UNIT[1]) / np.sqrt(2)}, "k_star . v_star"),
        ({"location_probabilities": np.array([0.5, 0.6])}, "sum of location_probabilities"),
        ({"location_probabilities": np.array([1.5, -0.5])}, "location_probabilities"),
        ({"location_probabilities": np.ones(3) / 3}, "shape of location_probabilities"),
        ({"gamma": 0.0}, "gamma = 0.0"), ({"noise": -1.0}, "noise = -1.0"),
        ({"noise": float("nan")}, "noise = nan"), ({"informative": 3}, "informative = 3"),
        ({"informative": 2, "location_probabilities": np.array([0.9, 0.1])}, "uniform"),
        ({"k_star": np.ones(2)}, "shape of k_star")])
def test_refusals_name_the_parameter(change, named):
    good = dict(
        dim=3, length=2, gamma=1.0, noise=0.0, location_probabilities=np.ones(2) / 2,
        k_star=UNIT[0], v_star=UNIT[1])
    SingleLocation(**good)
    with pytest.raises(InvalidInput, match=named.replace(".", r"\.")):
        SingleLocation(**{**good, **change})


@pytest.mark.parametrize(("dim", "length"), [(1, 3), (4, 0)])
def test_create_refuses_impossible_sizes(dim, length):
    with pytest.raises(InvalidInput):
        SingleLocation.create(jax.random.key(0), dim=dim, length=length)
