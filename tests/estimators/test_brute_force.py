"""Formulas that a fit hides, because it ends well all the same: where searches begin, how far
intervals reach, what patches receive. Each against loops or a closed form."""

import numpy as np
import pytest
from scipy.special import softmax

from saccade.estimators.advise import signal as parts
from saccade.estimators.bags import Bags
from saccade.estimators.group import GroupObjective
from saccade.estimators.held_out import Target
from saccade.estimators.looking import Interval
from saccade.estimators.objective import Data, logistic
from saccade.estimators.patch_layer import Layer, PatchModel, PatchObjective
from saccade.estimators.standard import Standard


def placed(seed=0, n=12, places=4, width=3):
    """Equal bags with columns of different scale, labels +-1 and unequal shares."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, places, width)) * [1, 5, 0.2] + [0, 3, -1]
    share = random.random(n)
    return X, np.where(np.arange(n) % 2, 1.0, -1.0), share / share.sum()


def test_where_the_search_for_a_group_begins():
    """At no preference, and at nine tenths of the attention on each of the groups whose class means
    lie furthest apart, read along that difference."""
    X, y, share = placed()
    X[:, 2] += y[:, None] * [0.5, 4.0, 0.1]
    Z = (X - X.mean((0, 1))) / X.std((0, 1))
    objective = GroupObjective(
        Data(Bags.from_array(X), np.ones(12)), Target(y, share), 4, 0.1, logistic)
    gaps = np.array(
        [sum(s * label * Z[i, j] for i, (s, label) in enumerate(zip(share, y))) for j in range(4)])
    order = np.argsort(-np.linalg.norm(gaps, axis=1))
    blank, *starts = objective.starts(3)
    assert order[0] == 2 and not blank.any() and len(starts) == 3
    for group, start in zip(order, starts):
        assert softmax(start[1:5])[group] == pytest.approx(0.9)
        assert start[0] == 0 and np.allclose(start[5:], gaps[group])


def test_where_patches_begin():
    """No attention but to oneself, v of length 1 along the difference of the mean tokens."""
    X, y, share = placed(1)
    objective = PatchObjective(
        Data(Bags.from_array(X), np.ones(12)), Target(y, share), 4, Layer(3, 0.1), 0.1, logistic)
    Z = (X - X.mean((0, 1))) / X.std((0, 1))
    gap = sum(s * label * z.mean(0) for s, label, z in zip(share, y, Z))
    b, v, A = objective.parts(objective.start())
    assert b == 0 and np.array_equal(A, np.eye(4))
    assert np.allclose(v, gap / np.linalg.norm(gap))


def test_patches_by_loops():
    """F and what each patch receives, with patches missing: for every patch that looks, softmax
    over those that are there; the lookers count by |z sigma'(z)|."""
    random = np.random.default_rng(2)
    A, value, shift = random.standard_normal((4, 4)), random.standard_normal(3), 0.3
    model = PatchModel(Layer(3, 0.2), 0.7, A, value, shift)
    X, mask = random.standard_normal((5, 4, 3)), random.random((5, 4)) < 0.7
    mask[:, 1] = True
    bags = Bags.from_array(X, mask)
    decisions, weights = model.decision(bags), bags.split(model.attention(bags))
    for bag, here, F, own in zip(X, mask, decisions, weights):
        there = np.flatnonzero(here)
        u = bag[there] @ value - shift
        rows = [softmax(A[i, there]) for i in there]
        z = np.array([row @ u for row in rows])
        assert pytest.approx(0.7 + sum(one**3 + 0.2 * one for one in z)) == F
        moved = np.abs(z * (3 * z**2 + 0.2))
        received = sum(part / moved.sum() * row for part, row in zip(moved, rows))
        assert np.allclose(own, received) and own.sum() == pytest.approx(1)


def test_patches_that_say_nothing_are_looked_at_alike():
    A = np.random.default_rng(3).standard_normal((3, 3))
    model = PatchModel(Layer(3, 0.2), 0.0, A, np.zeros(2), 0.0)
    weights = model.attention(Bags.from_array(np.ones((1, 3, 2))))
    assert np.allclose(weights, softmax(A, axis=1).mean(axis=0))


def test_how_far_the_interval_of_a_signal_reaches(monkeypatch):
    """1.96 deviations: those of the bootstrap and of the halves as a right angle, in logarithms for
    the share; theta is the root of the median product of halves."""
    random = np.random.default_rng(4)
    kept = random.uniform(4, 9, parts.SPLITS)
    products = iter(kept.tolist())
    along, shares = random.normal(2.5, 0.2, parts.DRAWS), random.uniform(0.1, 0.2, parts.DRAWS)
    monkeypatch.setattr(parts, "_halves", lambda *given: next(products))
    monkeypatch.setattr(parts, "_bootstrap", lambda *given: (along, shares))
    monkeypatch.setattr(
        parts, "fit_mixture", lambda *given: parts.Mixture(0.15, np.array([2.5, 0]), 0.1))
    X, y = random.standard_normal((20, 4, 2)), np.arange(20) % 2 == 1
    told = parts.estimate_signal(Bags.from_array(X), y)
    roots = np.sqrt(kept)
    reach = 1.96 * np.sqrt(along.var() + roots.var())
    theta = np.sqrt(np.median(kept))
    assert told.signal == pytest.approx(Interval(theta, theta - reach, theta + reach))
    factor = np.exp(1.96 * np.log(shares).std())
    assert told.share == pytest.approx(Interval(0.15, 0.15 / factor, 0.15 * factor)) and told.told


def test_halves_share_no_bag(monkeypatch):
    """Each half is fitted to its own positive bags, minus the mean of its own negative ones."""
    random = np.random.default_rng(5)
    bags = Bags.from_array(random.standard_normal((7, 3, 2)))
    centre = parts.Centre(random.standard_normal((5, 2)), np.array([1, 2, 3, 4, 5]))
    seen = []
    monkeypatch.setattr(
        parts, "fit_mixture",
        lambda tokens, weights: (seen.append(tokens), parts.Mixture(0.1, tokens.sum(axis=0), 0.0))[
            1])
    found = parts._halves(bags.tokens, bags, centre, np.random.default_rng(0))
    order = np.random.default_rng(0)
    first, calm = order.permutation(7) < 3.5, order.permutation(5) < 2.5
    for side, quiet, tokens in ((first, calm, seen[0]), (~first, ~calm, seen[1])):
        mean = centre.sums[quiet].sum(axis=0) / centre.lengths[quiet].sum()
        assert np.allclose(tokens, bags.take(np.flatnonzero(side)).tokens - mean)
    assert found == pytest.approx(seen[0].sum(axis=0) @ seen[1].sum(axis=0))


@pytest.mark.parametrize(
    ("scale", "noise", "kept"),
    [(1.0, 2e-6, True), (1.0, 5e-7, False), (1e-9, 1e-14, True), (1e-9, 1e-16, False)])
def test_which_columns_are_constant(scale, noise, kept):
    """Deviations up to a millionth of 1 and the mean; of the largest one, where none reaches 1."""
    wave = np.where(np.arange(40) % 2, 1.0, -1.0)
    tokens = np.column_stack([scale * np.roll(wave, 1) * (1 + np.arange(40) % 3), noise * wave])
    found = Standard.of_tokens(Bags.from_lengths(tokens, [4] * 10), np.ones(10))
    assert (found.inverse[1] > 0) is np.bool_(kept) and found.inverse[0] > 0
    if kept:
        assert found.inverse[1] == pytest.approx(1 / noise)
