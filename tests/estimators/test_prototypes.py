"""Starts made of tokens: concepts are found together, and the search ends where it should."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from saccade.errors import InvalidInput
from saccade.estimators import Bags, EvidenceClassifier, checks
from saccade.estimators.heads import LogMeanExp
from saccade.estimators.objective import Data, Objective
from saccade.estimators.prototypes import prototypes


def concepts(seed, count, n=60, dim=6):
    """A positive bag holds each of `count` concepts (5 along an axis), a negative one a single
    concept, so many times; four ordinary tokens besides."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    bags = []
    for label in y:
        axes = np.arange(count) if label else np.full(count, rng.integers(count))
        tokens = 0.3 * rng.standard_normal((count + 4, dim))
        tokens[np.arange(count), axes] += 5
        bags.append(rng.permutation(tokens))
    return bags, y


def objective_of(bags, y, n_heads=2):
    data = Data(Bags.from_list(bags), np.ones(len(y)))
    return Objective(
        data, 2.0 * y - 1, np.full(len(y), 1 / len(y)), LogMeanExp(n_heads, 4.0, False))


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_concepts_are_found_together(count, seed):
    """Each head begins at another concept: the axis of its largest entry."""
    bags, y = concepts(seed, count) if count > 1 else single(seed)
    found = prototypes(objective_of(bags, y, count), count, np.random.default_rng(0))
    assert found is not None
    assert sorted(found.argmax(axis=1)) == list(range(count))
    assert np.allclose(np.linalg.norm(found, axis=1), 1)


def single(seed):
    """Only positive bags hold the concept."""
    bags, y = concepts(seed, 2)
    return [
        np.minimum(bag, 1) if not label else bag * ([1] + [0.2] * 5) for bag, label in zip(bags, y)
    ], y


def test_heads_never_begin_alike():
    """Every token of a positive bag is one and the same but one."""
    bags = [
        np.array([[1.0, 0], [1, 0], [0, 1]]) if label else np.array([[-1.0, 0], [0, -1]])
        for label in [0, 1] * 5]
    found = prototypes(objective_of(bags, np.array([0, 1] * 5)), 2, np.random.default_rng(0))
    assert found is not None and found[0] @ found[1] < 0.99


def test_without_candidates_there_is_no_start():
    flat = [np.ones((2, 3))] * 4
    y = np.array([0, 1, 0, 1])
    assert prototypes(objective_of(flat, y), 2, np.random.default_rng(0)) is None
    assert np.isfinite(EvidenceClassifier(ridges=0.1).fit(flat, y).decision_function(flat)).all()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_many_ordinary_tokens_do_not_hide_two_concepts(seed, monkeypatch):
    """Two starts of tokens find what a random one does not."""
    monkeypatch.setattr(checks, "BACKGROUND", (20, 40))
    train, (X, y) = checks.draw("frequency", seed), checks.draw("frequency", 103, shifted=True)
    options = {"ridges": 0.01, "n_starts": 1}
    found = EvidenceClassifier(n_prototypes=2, **options).fit(*train)
    blind = EvidenceClassifier(n_prototypes=0, **options).fit(*train)
    assert roc_auc_score(y, found.decision_function(X)) > 0.99
    assert roc_auc_score(y, blind.decision_function(X)) < 0.9


def test_refusals():
    with pytest.raises(
        InvalidInput, match="n_prototypes = -1 must be a whole number of at least 0"
    ):
        EvidenceClassifier(n_prototypes=-1).fit(np.zeros((4, 2, 1)), [0, 1, 0, 1])
