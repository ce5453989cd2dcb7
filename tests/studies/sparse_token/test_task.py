"""The sparse-token task: laws of labels, places and tokens; streams repeat themselves; shortcuts
have the law of the real features."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from saccade.errors import InvalidInput
from saccade.studies.sparse_token.experiments import draws
from saccade.studies.sparse_token.models import (
    AttentionClassifier,
    attention_features,
    attention_map,
    pooled_features,
    vectorised_features,
)
from saccade.studies.sparse_token.task import SparseToken, SparseTokenSetting


def by_jax(task, seed, n):
    return map(np.asarray, task.sample(jax.random.key(seed), n))


def by_numpy(task, seed, n):
    return draws.draw_tokens(task, np.random.default_rng(seed), n)


both = pytest.mark.parametrize("sample", [by_jax, by_numpy])


@both
def test_moments_of_samples(sample):
    task = SparseToken.create(dim=6, length=5, informative=2, positive_rate=0.3, signal=2.0)
    X, y, where = sample(task, 0, 20_000)
    # Five standard errors everywhere.
    assert abs((y > 0).mean() - 0.3) < 5 * np.sqrt(0.21 / 20_000)
    assert np.all(where.sum(1) == 2)
    assert np.all(np.abs(where.mean(0) - 0.4) < 5 * np.sqrt(0.24 / 20_000))
    noise = X - 2.0 * ((y > 0)[:, None] * where)[:, :, None] * np.eye(6)[0]
    assert abs(noise.mean()) < 5 / np.sqrt(noise.size)
    assert abs(noise.var() - 1) < 5 * np.sqrt(2 / noise.size)
    assert np.abs(X[y > 0][where[y > 0]][:, 0].mean() - 2.0) < 5 / np.sqrt((y > 0).sum() * 2)


@both
def test_location_table_is_followed(sample):
    masks = [[1, 0, 0], [0, 0, 1]]
    task = SparseToken.create(
        dim=3, length=3, location_masks=masks, location_probabilities=[0.8, 0.2])
    _, _, where = sample(task, 1, 4000)
    assert not where[:, 1].any()
    assert abs(where[:, 0].mean() - 0.8) < 5 * np.sqrt(0.16 / 4000)


def test_stream_repeats_and_is_complete():
    task = SparseToken.create(dim=3, length=4)
    once, again = (list(task.stream(jax.random.key(2), 23, chunk=10)) for _ in range(2))
    assert [len(part.y) for part in once] == [8, 8, 7]
    for a, b in zip(once, again, strict=True):
        np.testing.assert_array_equal(a.X, b.X)
    assert not np.array_equal(once[0].X[:7], once[1].X[:7])


def _summary(features, y, query):
    """First and second moments of what matters, per class: along the query, along the signal, far
    from both, and the norm."""
    rows = np.stack(
        [
            features @ query / np.linalg.norm(query), features[:, 0], features[:, -1],
            (features**2).sum(1)],
        1)
    rows = np.concatenate([rows, rows**2, (rows[:, :1] * rows[:, 1:2])], 1)
    return {
        s: (rows[y == s].mean(0), rows[y == s].std(0) / np.sqrt((y == s).sum()))
        for s in (1.0, -1.0)}


@pytest.mark.parametrize("kind", ["attention", "pooled"])
def test_conditional_shortcut_has_the_law_of_the_features(kind):
    task = SparseToken.create(dim=8, length=5, informative=2, positive_rate=0.5, signal=2.0)
    query = jnp.zeros(8).at[0].set(0.6).at[1].set(0.8) * 1.5
    full = task.sample(jax.random.key(3), 30_000)
    if kind == "attention":
        direct, fast = (
            attention_features(full.X, query, 0.9),
            draws.draw_attention_features(task, np.random.default_rng(4), 30_000, query, 0.9))
    else:
        direct, fast = (
            pooled_features(full.X),
            draws.draw_pooled_features(task, np.random.default_rng(4), 30_000))
    slow = _summary(np.asarray(direct), np.asarray(full.y), np.asarray(query))
    quick = _summary(np.asarray(fast.features), np.asarray(fast.y), np.asarray(query))
    for label in (1.0, -1.0):
        gap = np.abs(slow[label][0] - quick[label][0]) / np.hypot(slow[label][1], quick[label][1])
        assert gap.max() < 5, (label, gap)


def test_zero_query_is_pooling_and_weights_sum_to_one():
    X = jax.random.normal(jax.random.key(5), (7, 4, 3))
    np.testing.assert_allclose(attention_features(X, jnp.zeros(3)), pooled_features(X), atol=1e-14)
    np.testing.assert_allclose(attention_map(X, jnp.ones(3), 2.0).sum(1), 1.0, atol=1e-14)
    np.testing.assert_allclose(vectorised_features(X)[:, 3:6], X[:, 1])


def test_sharp_attention_reads_the_best_token_and_order_does_not_matter():
    X = jax.random.normal(jax.random.key(6), (9, 4, 3))
    query = jnp.array([1.0, -0.5, 0.2])
    best = X[jnp.arange(9), (X @ query).argmax(1)]
    np.testing.assert_allclose(attention_features(X, query, 1e5), best, atol=1e-8)
    shuffled = X[:, jnp.array([2, 0, 3, 1])]
    np.testing.assert_allclose(
        attention_features(X, query), attention_features(shuffled, query), atol=1e-13)
    model = AttentionClassifier(query, jnp.ones(3), jnp.array(0.1), 2.0)
    by_hand = attention_features(X, query, 2.0).sum(1) + 0.1
    np.testing.assert_allclose(model(X), by_hand, atol=1e-13)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"informative": 6}, "informative"), ({"positive_rate": 1.0}, "positive_rate"),
        ({"positive_rate": 0.0}, "positive_rate"), ({"signal": -1.0}, "signal"),
        ({"signal": float("nan")}, "signal"), ({"length": 0}, "length"),
        ({"length": 2.5}, "length")])
def test_bad_settings_are_refused(changes, word):
    with pytest.raises(InvalidInput, match=word):
        SparseTokenSetting(
            **({"length": 5, "informative": 1, "positive_rate": 0.5, "signal": 1.0} | changes))


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"dim": 2}, "dim"), ({"direction": [1.0, 1.0, 0.0]}, "direction"),
        ({"location_masks": [[1, 1, 0]]}, "location_masks"),
        (
            {"location_masks": [[1, 0, 0]], "location_probabilities": [0.5]},
            "location_probabilities")])
def test_bad_tasks_are_refused(changes, word):
    with pytest.raises(InvalidInput, match=word):
        SparseToken.create(**({"dim": 3, "length": 3} | changes))
