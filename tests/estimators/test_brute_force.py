"""Formulas that a fit hides, because it ends well all the same: where searches begin, how far
intervals reach, what patches receive. Each against loops or a closed form."""

import numpy as np
import pytest
from scipy.special import softmax

from saccade.estimators import AttentionRegressor, EvidenceClassifier
from saccade.estimators.advise import signal as parts
from saccade.estimators.advise.advice import _bags_needed
from saccade.estimators.advise.comparing import ForestClassifier
from saccade.estimators.bags import Bags
from saccade.estimators.group import GroupObjective
from saccade.estimators.heads import LogMeanExp
from saccade.estimators.held_out import Target
from saccade.estimators.looking import Interval
from saccade.estimators.objective import Data, Objective, logistic
from saccade.estimators.patch_layer import Layer, PatchModel, PatchObjective
from saccade.estimators.solving import descend
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


def test_every_draw_takes_whole_bags_of_both_kinds(monkeypatch):
    """Refits begin at the fit to all bags; measured along its v, each by its own centre."""
    random = np.random.default_rng(6)
    bags = Bags.from_list([random.standard_normal((k, 2)) for k in (1, 3, 2, 4)])
    centre = parts.Centre(random.standard_normal((3, 2)), np.array([2, 1, 4]))
    whole = parts.Mixture(0.2, np.array([3.0, 4.0]), 0.0)
    seen = []

    def fit(tokens, weights, start):
        seen.append((tokens, weights, start))
        return parts.Mixture(weights.mean() / 10, tokens.mean(axis=0), 0.0)

    monkeypatch.setattr(parts, "fit_mixture", fit)
    along, shares = parts._bootstrap(bags.tokens, bags, centre, whole, np.random.default_rng(0))
    order = np.random.default_rng(0)
    for (tokens, weights, start), one, share in zip(seen, along, shares, strict=True):
        mine, calm = (np.bincount(order.integers(0, k, k), minlength=k) for k in (4, 3))
        mean = calm @ centre.sums / (calm @ centre.lengths)
        assert np.allclose(tokens, bags.tokens - mean) and start is whole
        assert np.array_equal(weights, np.repeat(mine, [1, 3, 2, 4]))
        assert one == pytest.approx((bags.tokens - mean).mean(axis=0) @ [0.6, 0.8])
        assert share == pytest.approx(weights.mean() / 10)
    assert len(seen) == parts.DRAWS


def test_pooled_statistics_that_differ_by_rounding_are_constant():
    """Every bag holds the same tokens in another order: means and deviations are one number but for
    the last digit, which is not blown up to 1."""
    random = np.random.default_rng(7)
    column = random.standard_normal(9)
    bags = Bags.from_array(
        np.stack([np.column_stack([random.permutation(column), random.random(9)]) for _ in "x" * 8])
    )
    features = Data(bags, np.ones(8), "all").features.reshape(8, 4, 2)
    assert not features[:, :, 0].any() and (features[:, :, 1].std(axis=0) > 0.9).all()


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


def test_where_evidence_begins():
    """Directions of length 6 and 1 in turn; b such that the mean bag is undecided."""
    X, y, share = placed(6)
    data = Data(Bags.from_array(X), np.ones(12))
    objective = Objective(data, y, share, LogMeanExp(2, 4.0, normalise=False))
    starts = EvidenceClassifier(n_starts=4)._starts(objective, np.random.default_rng(0))
    lengths = [np.linalg.norm(start[1:].reshape(2, 3), axis=1) for start in starts]
    assert np.allclose(lengths, [[6, 6], [1, 1], [6, 6], [1, 1]])
    Z = (X - X.mean((0, 1))) / X.std((0, 1))
    for start in starts:
        heads = start[1:].reshape(2, 3)
        F = start[0] + (np.log(np.exp(4 * Z @ heads.T).sum(axis=1)) / 4).sum(axis=1)
        assert share @ F == pytest.approx(0, abs=1e-9)


def test_the_best_of_all_starts_is_kept():
    """Screening keeps the `keep` smallest J, and of these the smallest when finished."""
    X, y, share = placed(7)
    objective = Objective(
        Data(Bags.from_array(X), np.ones(12)), y, share, LogMeanExp(2, 4.0, normalise=False))
    model = EvidenceClassifier(n_starts=6, keep=6, screen=2, max_iter=2)
    starts = model._starts(objective, np.random.default_rng(1))
    ends = [
        descend(objective, descend(objective, one, 0.01, 2).theta, 0.01, 2).value for one in starts]
    assert np.ptp(ends) > 1e-4  # so early they are still apart
    assert model._best(objective, 0.01, starts).value == pytest.approx(min(ends), abs=1e-12)


@pytest.mark.parametrize(
    ("bags", "given", "extra"), [(29, "auto", 3), (30, "auto", 0), (29, 0, 0), (30, 5, 5)])
def test_few_bags_a_feature_ask_for_more_starts(bags, given, extra):
    """Fewer than ten a feature: three."""
    data = Data(Bags.from_array(np.random.default_rng(0).random((bags, 2, 3))), np.ones(bags))
    assert AttentionRegressor(n_starts=given)._extra_starts(data) == extra


def test_how_many_bags_would_tell():
    """Half-widths shrink as 1/sqrt n: a gain of .02 with a half-width of .06 needs nine times as
    many."""
    assert "about 900 bags" in _bags_needed(100, Interval(0.02, -0.04, 0.08))
    assert "about 900 bags" in _bags_needed(100, Interval(-0.02, -0.08, 0.04))
    assert "would not be worth" in _bags_needed(100, Interval(0.004, -0.04, 0.048))


def test_the_forest_s_logit_is_that_of_its_votes():
    X, y, _ = placed(8, n=40)
    bags = Bags.from_array(X)
    model = ForestClassifier().fit(bags, y > 0)
    Z = (X - X.mean((0, 1))) / X.std((0, 1))
    features = np.concatenate([Z.mean(1), Z.max(1), Z.min(1), Z.std(1)], axis=1)
    chance = np.clip(np.asarray(model.forest_.predict_proba(features))[:, 1], 1e-3, 1 - 1e-3)
    assert np.allclose(model.decision_function(bags), np.log(chance) - np.log1p(-chance))
    assert ((model.decision_function(bags) > 0) == (chance > 0.5)).all()
