"""The unit tests of bag classifiers tell rule from shortcut: who knows the rule passes, who takes
the planted shortcut falls below chance, and the rotation matters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from saccade.errors import InvalidInput
from saccade.estimators import checks
from saccade.estimators.checks import CHECKS, check_bag_classifier, draw, run_check


class Pooled(ClassifierMixin, BaseEstimator):
    """Logistic regression on what `pool` makes of a bag; written here, not saccade's."""

    def __init__(self, pool=np.mean):
        self.pool = pool

    def fit(self, X, y):
        self.inner_ = LogisticRegression(max_iter=1000).fit(
            [self.pool(bag, axis=0) for bag in X], y)
        return self

    def decision_function(self, X):
        return self.inner_.decision_function([self.pool(bag, axis=0) for bag in X])


class Rule(ClassifierMixin, BaseEstimator):
    """Knows the axes: the smallest over concepts of the largest token, poison and counts aside."""

    def __init__(self, concepts=(0,)):
        self.concepts = concepts

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        back = checks._rotation(X[0].shape[1]).T
        score = [min((bag @ back)[:, axis].max() for axis in self.concepts) for bag in X]
        return np.stack([-np.array(score), np.array(score)], axis=1)


@pytest.mark.parametrize(
    ("name", "concepts"),
    [("single", (0,)), ("multi", (0, 1)), ("frequency", (0, 1)), ("size", (0,))])
def test_who_knows_the_rule_passes(name, concepts):
    outcome = run_check(Rule(concepts), name, seeds=(0, 5))
    assert outcome.verdict == "passes" and min(outcome.shifted) > 0.99


def test_the_mean_takes_every_shortcut_but_size():
    outcomes = check_bag_classifier(Pooled(np.mean), seeds=(0, 1), n_bags=200)
    assert {name: outcome.verdict for name, outcome in outcomes.items()} == {
        "single": "cheats", "multi": "cheats", "frequency": "cheats", "size": "cannot"}
    assert min(outcomes["single"].same) > 0.9 > 0.3 > max(outcomes["single"].shifted)


def test_the_maximum_passes_along_the_axes_and_fails_rotated():
    """Raff and Holt's point about axes: without the rotation max-pooling passes by luck."""
    straight = run_check(Pooled(np.max), "single", seeds=(0,), rotated=False)
    turned = run_check(Pooled(np.max), "single", seeds=(0,))
    assert straight.verdict == "passes" and turned.verdict == "cheats"


@settings(max_examples=20, deadline=None)
@given(name=st.sampled_from(sorted(CHECKS)), seed=st.integers(0, 999), dim=st.integers(3, 20))
def test_draws_are_what_they_say(name, seed, dim):
    X, y = draw(name, seed, n_bags=12, dim=dim)
    again, _ = draw(name, seed, n_bags=12, dim=dim)
    assert all(np.array_equal(a, b) for a, b in zip(X, again, strict=True))
    assert y.tolist() == [0, 1] * 6 and {bag.shape[1] for bag in X} == {dim}
    # the rotation keeps lengths: undone, a positive bag holds its concept
    back = checks._rotation(dim).T
    assert np.allclose(back @ back.T, np.eye(dim))
    assert all((bag @ back)[:, 0].max() > 2 for bag, label in zip(X, y, strict=True) if label)


def test_bags_of_the_size_check_change_places():
    for shifted in (False, True):
        X, y = draw("size", 3, shifted, n_bags=40)
        lengths = np.array([len(bag) for bag in X])
        small = lengths[y == int(shifted)]
        assert small.max() < lengths[y == 1 - int(shifted)].min()


def test_refusals():
    with pytest.raises(InvalidInput, match="There is no check of bag classifiers named 'singel'"):
        draw("singel", 0)
    with pytest.raises(InvalidInput, match="dim = 2 must be at least 3"):
        draw("single", 0, dim=2)
    with pytest.raises(InvalidInput, match="seeds"):
        run_check(Rule(), "single", seeds=())
