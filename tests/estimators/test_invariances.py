"""What may not matter: order, padding, names, units, whether a bag is repeated or weighs double."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from saccade.estimators import (
    AttentionClassifier,
    AttentionRegressor,
    Bags,
    EvidenceClassifier,
    GroupAttentionClassifier,
    LogMeanExpClassifier,
    PatchAssociationClassifier,
    PooledClassifier,
    TwoStepAttentionClassifier,
)

# One ridge each: cross-validation depends on which bags meet in a fold, and so on their order.
SETS = {
    "mean": PooledClassifier(ridges=0.1), "all": PooledClassifier(statistics="all", ridges=0.1),
    "lme": LogMeanExpClassifier(ridges=0.1), "att": AttentionClassifier(n_heads=2, ridges=0.1),
    "two": TwoStepAttentionClassifier(sharpness=2.0, ridges=0.1),
    "ev": EvidenceClassifier(ridges=0.3, n_starts=2, keep=1, sharpness=1.0),
    "number": AttentionRegressor(ridges=0.1, n_starts=0)}
PLACED = {
    "group": GroupAttentionClassifier(ridges=0.1, n_starts=1),
    "patch": PatchAssociationClassifier(n_sets=2, ridges=(0.1, 0.03), max_iter=60)}
EVERY = SETS | PLACED
seeds = st.integers(0, 10_000)
few = settings(max_examples=8)  # each example fits twice


def bags(seed, n=24, width=3):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 5, n)
    y = np.arange(n) % 2
    return [rng.standard_normal((k, width)) + 0.7 * label for k, label in zip(lengths, y)], y, rng


def answer(model, X, mask=None):
    return (
        model.predict(X, mask) if not hasattr(model, "decision_function")
        else (model.decision_function(X, mask)))


def padded(listed, rng):
    """(n, L, d) with NaN where there is no token, and the mask; tokens begin at place 0."""
    X = np.full((len(listed), max(map(len, listed)), listed[0].shape[1]), np.nan)
    mask = np.zeros(X.shape[:2], bool)
    for row, keep, bag in zip(X, mask, listed):
        row[: len(bag)], keep[: len(bag)] = bag, True
    return X, mask


@pytest.mark.parametrize("name", EVERY)
def test_a_masked_array_is_the_list_of_its_kept_tokens(name):
    listed, y, rng = bags(1)
    X, mask = padded(listed, rng)
    one = EVERY[name].fit(X, y, mask=mask)
    first = answer(one, X, mask), answer(one, listed)
    other = EVERY[name].fit(listed, y)
    assert np.abs(first[0] - answer(other, listed)).max() < 1e-9
    assert np.abs(first[0] - first[1]).max() < 1e-9


@pytest.mark.parametrize("name", SETS)
def test_any_mask_will_do_where_places_do_not_count(name):
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((24, 5, 3)), np.arange(24) % 2
    mask = rng.random((24, 5)) < 0.6
    mask[:, 2] = True
    X[~mask] = np.nan
    kept = [bag[keep] for bag, keep in zip(X, mask)]
    model = SETS[name].fit(X, y, mask=mask)
    first = answer(model, X, mask)
    assert np.abs(first - answer(SETS[name].fit(kept, y), kept)).max() < 1e-9


@pytest.mark.parametrize("name", SETS)
@few
@given(seed=seeds)
def test_the_order_of_tokens_does_not_matter(name, seed):
    listed, y, rng = bags(seed)
    mixed = [rng.permutation(bag) for bag in listed]
    first = answer(SETS[name].fit(listed, y), listed)
    assert np.allclose(first, answer(SETS[name].fit(mixed, y), mixed), atol=2e-4)


@pytest.mark.parametrize("name", [name for name in EVERY if name != "patch"])
@few
@given(seed=seeds)
def test_the_order_of_bags_does_not_matter(name, seed):
    listed, y, rng = bags(seed)
    order = rng.permutation(len(y))
    mixed = [listed[index] for index in order]
    first = answer(EVERY[name].fit(listed, y), listed)
    assert np.allclose(first, answer(EVERY[name].fit(mixed, y[order]), listed), atol=2e-4)


@pytest.mark.parametrize("name", [name for name in EVERY if name != "number"])
@few
@given(seed=seeds, names=st.sampled_from([("a", "b"), (-1, 1), (0.5, 2.25), (False, True)]))
def test_names_of_labels_do_not_matter(name, seed, names):
    listed, y, _ = bags(seed)
    model = EVERY[name]
    first, called = model.fit(listed, y).decision_function(listed), model.predict(listed)
    renamed = model.fit(listed, np.array(names)[y])
    assert (renamed.decision_function(listed) == first).all()
    assert (renamed.predict(listed) == np.array(names)[called]).all()


@pytest.mark.parametrize("name", EVERY)
@few
@given(
    seed=seeds, scale=st.tuples(*[st.floats(0.01, 100)] * 3),
    shift=st.tuples(*[st.floats(-10, 10)] * 3))
def test_units_of_features_do_not_matter(name, seed, scale, shift):
    listed, y, _ = bags(seed)
    other = [bag * scale + np.array(shift) * scale for bag in listed]
    first = answer(EVERY[name].fit(listed, y), listed)
    assert np.allclose(first, answer(EVERY[name].fit(other, y), other), atol=1e-3)


@pytest.mark.parametrize("name", [name for name in EVERY if name != "patch"])
@few
@given(seed=seeds, index=st.integers(0, 23))
def test_a_bag_twice_is_a_bag_of_weight_two(name, seed, index):
    listed, y, _ = bags(seed)
    weight = np.ones(len(y))
    weight[index] = 2
    twice = EVERY[name].fit([*listed, listed[index]], [*y, y[index]])
    first = answer(twice, listed)
    heavy = EVERY[name].fit(listed, y, sample_weight=weight)
    assert np.allclose(first, answer(heavy, listed), atol=2e-4)


@pytest.mark.parametrize("name", EVERY)
def test_all_ways_in_lead_to_the_same_model(name):
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((24, 4, 3)), np.arange(24) % 2
    flat = X.reshape(24, -1)
    model = EVERY[name]
    first = answer(model.fit(X, y), X)
    assert (answer(model, list(X)) == first).all()
    assert (answer(model, Bags.from_array(X)) == first).all()
    model.set_params(n_tokens=4)
    try:
        assert (answer(model.fit(flat, y), flat) == first).all()
        assert model.n_features_in_ == 12 and (answer(model, X) == first).all()
    finally:
        model.set_params(n_tokens=1)
