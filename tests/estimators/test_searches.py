"""Which of many ends a search keeps and what it hands on: with a minimiser that is a fake and knows
how each start ends, and by trying everything."""

from itertools import combinations

import numpy as np
import pytest
from scipy.special import softmax

from saccade.estimators import (
    AttentionRegressor,
    BagClassifierCV,
    EvidenceClassifier,
    GroupAttentionClassifier,
    LogMeanExpClassifier,
    PatchAssociationClassifier,
    TwoStepAttentionClassifier,
    attention,
    evidence,
    group,
    make_patch_bags,
    make_sparse_token_bags,
    patches,
    prototypes,
)
from saccade.estimators.bags import Bags
from saccade.estimators.fitting import Problem
from saccade.estimators.heads import LogMeanExp, Softmax
from saccade.estimators.held_out import Target
from saccade.estimators.objective import Data, Objective, logistic, squared
from saccade.estimators.patch_layer import Layer, PatchObjective, TiedObjective
from saccade.estimators.patches import partition
from saccade.estimators.segments import Segments, blocks
from saccade.estimators.solving import Solution


class Minimiser:
    """Ends where it began, plus 1 in the first parameter; the k-th call at the k-th of `values`."""

    def __init__(self, values):
        self.values = list(values)
        self.starts, self.ridges, self.steps = [], [], []

    def __call__(self, objective, theta, ridge, max_iter, *tolerances):
        for kept, given in zip((self.starts, self.ridges, self.steps), (theta, ridge, max_iter)):
            kept.append(given)
        end = theta + np.eye(len(theta))[0]
        return Solution(objective.model(end), end, self.values[len(self.starts) - 1], 1, True)


def small(n=12, places=4, width=3, loss=logistic):
    X = np.random.default_rng(0).standard_normal((n, places, width))
    target = Target(np.where(np.arange(n) % 2, 1.0, -1.0), np.full(n, 1 / n))
    data = Data(Bags.from_array(X), np.ones(n))
    return data, target, Problem(data.bags, np.ones(n), [target], loss)


def test_evidence_screens_all_finishes_few_and_begins_the_next_ridge_there_too(monkeypatch):
    """Four starts end at 5, 1, 3, 2 after the screening; the two best go on, to 0.9 and 0.4. At the
    next ridge the winner is one start more."""
    fake = Minimiser([5, 1, 3, 2, 0.9, 0.4, 5, 6, 7, 8, 9, 0.3, 0.2])
    monkeypatch.setattr(evidence, "descend", fake)
    data, target, problem = small()
    model = EvidenceClassifier(n_starts=4, n_prototypes=0, keep=2, screen=7, ridges=(0.1, 0.03))
    first, second = model._follow(data, target, problem)
    assert first.value == 0.4 and second.value == 0.2
    assert np.array_equal(fake.starts[4], fake.starts[1] + np.eye(7)[0])
    assert np.array_equal(fake.starts[5], fake.starts[3] + np.eye(7)[0])
    assert np.array_equal(fake.starts[10], first.theta) and len(fake.starts) == 13
    assert fake.steps == [7] * 4 + [150] * 2 + [7] * 5 + [150] * 2
    assert fake.ridges == [0.1] * 6 + [0.03] * 7


def test_starts_made_of_tokens_have_the_radius():
    data, target, _ = small()
    objective = Objective(data, *target, LogMeanExp(2, 4.0, False))
    starts = EvidenceClassifier(radius=2.5)._prototypes(objective, np.random.default_rng(0))
    assert len(starts) == 2
    for start in starts:
        assert np.allclose(np.linalg.norm(start[1:].reshape(2, 3), axis=1), 2.5)


def test_groups_keep_the_lowest_of_all_starts_and_hand_it_on(monkeypatch):
    fake = Minimiser([4, 2, 1, 3, 9, 8, 7, 6, 5])
    monkeypatch.setattr(group, "descend", fake)
    data, target, problem = small()
    ends = list(GroupAttentionClassifier(ridges=(0.3, 0.1))._follow(data, target, problem))
    assert [end.value for end in ends] == [1, 5] and len(fake.starts) == 9
    assert np.array_equal(fake.starts[8], ends[0].theta)


def test_regression_keeps_the_best_of_its_starts_at_every_ridge(monkeypatch):
    """The tied start comes first; then at each ridge the path and two random starts."""
    fake = Minimiser([9, 5, 7, 4, 3, 6, 8])
    monkeypatch.setattr(attention, "descend", fake)
    data, target, problem = small(loss=squared)
    ends = list(AttentionRegressor(n_starts=2, ridges=(0.3, 0.1))._follow(data, target, problem))
    assert [end.value for end in ends] == [4, 3]
    assert np.array_equal(fake.starts[4], ends[0].theta)
    assert fake.ridges == [0.3] * 4 + [0.1] * 3


def test_patches_associate_first_then_walk_both_ways(monkeypatch):
    """A against its own strong ridge; then, from there, the sets found in it with gamma = 1/2, and
    A free, each down the path."""
    fake = Minimiser(range(5))
    monkeypatch.setattr(patches, "descend", fake)
    data, target, problem = small()
    model = PatchAssociationClassifier(association_ridge=0.7, ridges=(0.1, 0.03), n_sets=2)
    ends = list(model._follow(data, target, problem))
    step = np.eye(16)[0]
    associated = fake.starts[0] + step
    assert fake.ridges == [0.7, 0.1, 0.03, 0.1, 0.03] and len(ends) == 4
    assert np.array_equal(fake.starts[1], [*associated[:4], 0.5])
    assert np.array_equal(fake.starts[2], fake.starts[1] + step[:5])
    assert np.array_equal(fake.starts[3], associated)
    assert np.array_equal(fake.starts[4], associated + step)
    assert all(np.array_equal(end.model.sets, ends[0].model.sets) for end in ends)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_directions_are_chosen_as_by_trying_all(count):
    """R = (difference of weighted class means)^2/(sum of weighted variances) of the summed peaks:
    the best one, the best pair of all pairs, and what joins that pair best."""
    for seed in range(5):
        random = np.random.default_rng(seed)
        peaks, positive = random.standard_normal((6, 40)), np.arange(40) % 3 == 0
        peaks[3:] -= np.array([[1.0], [0.7], [-1.5]]) * peaks[:3]  # some noise cancels, some adds
        peaks[:, positive] += 1.0
        peaks[1, positive] -= 4.0  # tells the classes apart, but the wrong way round
        share = random.random(40)

        def merit(rows, peaks=peaks, positive=positive, share=share):
            total, means, variance = peaks[list(rows)].sum(axis=0), [], 0.0
            for side in (positive, ~positive):
                means.append(np.average(total[side], weights=share[side]))
                variance += np.average((total[side] - means[-1]) ** 2, weights=share[side])
            gap = means[0] - means[1]
            return np.sign(gap) * gap**2 / variance

        alike = np.eye(6, dtype=bool)
        found = prototypes._together(peaks, positive, share, count, alike)
        pair = max(combinations(range(6), min(count, 2)), key=merit)
        best = set(pair)
        if count == 3:
            best.add(max(set(range(6)) - best, key=lambda row: merit([*pair, row])))
        assert set(found) == best and len(found) == count


def test_objectives_of_patches_by_loops():
    """J with A free, with one number for all pairs of a set, with patches missing."""
    random = np.random.default_rng(5)
    X, mask = random.standard_normal((7, 4, 2)) * [1, 3] + [2, 0], random.random((7, 4)) < 0.7
    mask[:, 2] = True
    bags, y = Bags.from_array(X, mask), np.where(np.arange(7) % 2, 1.0, -1.0)
    share = random.random(7)
    free = PatchObjective(Data(bags, np.ones(7)), Target(y, share), 4, Layer(5, 0.2), 0.3, logistic)
    sets = np.array([0, 1, 0, 1])
    tied = TiedObjective(free, sets, 0.3)
    tokens = X[mask]
    Z = (X - tokens.mean(0)) / tokens.std(0)
    b, v, pairs, gamma = 0.4, random.standard_normal(2), random.standard_normal(12), 0.8
    A, same = np.eye(4), np.eye(4)
    A[~np.eye(4, dtype=bool)] = pairs
    same[(sets[:, None] == sets) & ~np.eye(4, dtype=bool)] = gamma

    def loss(A):
        total = 0.0
        for z, here, label, part in zip(Z, mask, y, share):
            u, own = z[here] @ v, A[np.ix_(here, here)]
            mixed = softmax(own, axis=1) @ u
            total += part * np.log1p(np.exp(-label * (b + (mixed**5 + 0.2 * mixed).sum())))
        return total

    ridge = 0.07
    expected = loss(A) + ridge / 2 * (v @ v + 0.3 * pairs @ pairs)
    assert free(np.array([b, *v, *pairs]), ridge)[0] == pytest.approx(expected)
    expected = loss(same) + ridge / 2 * (v @ v + 0.3 * gamma**2)
    assert tied(np.array([b, *v, gamma]), ridge)[0] == pytest.approx(expected)
    model = tied.model(np.array([b, *v, gamma]))
    assert np.allclose(model.A, same)


def test_the_objective_of_groups_with_groups_missing_by_loops():
    random = np.random.default_rng(6)
    X, mask = random.standard_normal((7, 4, 2)) * [1, 3] + [2, 0], random.random((7, 4)) < 0.6
    mask[:, 1] = True
    bags, y = Bags.from_array(X, mask), np.where(np.arange(7) % 2, 1.0, -1.0)
    share, tokens = random.random(7), X[mask]
    objective = group.GroupObjective(Data(bags, np.ones(7)), Target(y, share), 4, 0.3, logistic)
    Z = (X - tokens.mean(0)) / tokens.std(0)
    b, m, v = 0.4, random.standard_normal(4), random.standard_normal(2)
    F = np.array([b + softmax(m[here]) @ (z[here] @ v) for z, here in zip(Z, mask)])
    expected = share @ np.log1p(np.exp(-y * F)) + 0.07 / 2 * (0.3 * m @ m + v @ v)
    theta = np.array([b, *m, *v])
    assert objective(theta, 0.07)[0] == pytest.approx(expected)
    assert np.allclose(objective.model(theta).decision(bags), F)


def test_sets_are_read_off_both_directions_and_by_average_linkage():
    """A_ij and A_ji count alike; a chain of neighbours is no set."""
    sets = np.array([0, 1, 0, 1, 2, 2])
    same = (sets[:, None] == sets).astype(float)
    upper = np.triu(np.ones((6, 6)), 1)
    above = np.where(
        upper > 0, 0.5, 2 * same - 0.5)  # (A + A^T)/2 is `same`, the half above is flat
    assert (partition(above, 3) == sets).all() and (partition(above.T, 3) == sets).all()
    place = np.array([0.0, 1, 2.2, 3.2, 4.6])  # the widest gap is the last, and no place to cut
    chain = -np.abs(place[:, None] - place)
    assert partition(chain, 2).tolist() == [0, 0, 1, 1, 1]


def test_the_attention_of_evidence_is_the_mean_of_its_heads():
    scores, at = np.random.default_rng(1).standard_normal((3, 5)), Segments(np.array([0, 2, 5]))
    weights = LogMeanExp(3, 1.5, normalise=False).attention(scores.copy(), np.ones(3), at)
    parts = (scores[:, :2], scores[:, 2:])
    expected = [softmax(1.5 * part, axis=1).mean(axis=0) for part in parts]
    assert np.allclose(weights, np.concatenate(expected))


def test_heads_that_say_nothing_share_the_attention():
    scores = np.random.default_rng(2).standard_normal((4, 5))
    weights = Softmax(2).attention(
        scores.copy(), np.array([1.0, 3, 0, 0]), Segments(np.array([0, 5])))
    assert np.allclose(weights, softmax(scores[:2], axis=1).mean(axis=0))


def test_scores_beyond_what_an_exponential_holds():
    at = Segments(np.array([0, 2, 5]))
    weights, level = at.softmax(np.array([[1e4, 1e4, -1e4, -2e4, -1e4]]))
    assert np.allclose(weights, [[0.5, 0.5, 0.5, 0, 0.5]])
    assert np.allclose(level, [[1e4 + np.log(2), -1e4 + np.log(2)]])


def test_a_bag_longer_than_a_block_is_a_block():
    parts = blocks(np.array([0, 2, 60, 63]), width=3, size=30)
    assert [(part.tokens.start, part.tokens.stop) for part in parts] == [(0, 2), (2, 60), (60, 63)]


def test_with_several_classes_the_predicted_one_looks():
    X = np.random.default_rng(0).standard_normal((60, 5, 3))
    y = np.arange(60) % 3
    X[np.arange(60), 0, y] += 5
    model = LogMeanExpClassifier(ridges=0.03).fit(X, y)
    looked = model.attention(X)
    for bag, weights, winner in zip(X, looked, model.decision_function(X).argmax(axis=1)):
        assert np.allclose(weights, softmax(bag @ model.coef_[winner]))
    assert (looked.argmax(axis=1) == 0).mean() > 0.9


def test_held_out_losses_are_those_of_fits_to_the_other_bags():
    """At the first ridge of the path, in balanced folds, every fold is a fit of its own."""
    X, _, _ = make_sparse_token_bags(48, 5, 3, signal=3.0, random_state=1)
    y = np.arange(48) % 2
    X[y == 1, 0] += 1.0
    folds = [(np.arange(24, 48), np.arange(24)), (np.arange(24), np.arange(24, 48))]
    model = LogMeanExpClassifier(ridges=(0.3, 0.01), cv=folds).fit(X, y)
    losses = np.empty(48)
    for train, test in folds:
        F = LogMeanExpClassifier(ridges=0.3).fit(X[train], y[train]).decision_function(X[test])
        losses[test] = np.log1p(np.exp(-(2 * y[test] - 1) * F))
    assert model.cv_losses_[0, 0] == pytest.approx(losses.mean())


def test_the_choice_is_compared_with_the_best_pooling_and_hands_its_parameters_on():
    """Bags that differ by the spread of their tokens: four statistics see it, the mean does not."""
    random = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = random.standard_normal((60, 8, 2)) * np.where(y, 3.0, 1.0)[:, None, None]
    model = BagClassifierCV(("mean", "all", "lme"), class_weight=None, random_state=7).fit(X, y)
    losses = model.candidate_losses_
    assert losses["all"] < losses["mean"] - 0.1 and model.pooling_loss_ == losses["all"]
    assert model.best_name_ == "all" and model.better_than_pooling_ is False
    handed = model.best_estimator_.get_params()
    assert handed["class_weight"] is None and handed["random_state"] == 7


@pytest.mark.parametrize(("sharpness", "better"), [(0.0, False), (2.0, True)])
def test_two_steps_that_do_not_look_are_not_better_than_pooling(sharpness, better):
    """Even where their own ridges are luckier than the yardstick's."""
    model = TwoStepAttentionClassifier()
    model.better_than_pooling_ = True
    model._keep([Solution(None, np.zeros(1), 0.0, 1, True)], [(sharpness, 0.1)])
    assert model.better_than_pooling_ is better


def test_partition_of_drawn_patches_does_not_depend_on_their_order():
    """Places renamed, the sets are renamed with them."""
    train = make_patch_bags(200, (0, 0, 0, 1, 1, 1), 6, random_state=0)
    order = np.array([3, 0, 5, 1, 4, 2])
    model = PatchAssociationClassifier(ridges=0.1, n_sets=2)
    first = model.fit(train.X, train.y).partition_
    second = model.fit(train.X[:, order], train.y).partition_
    together = first[:, None] == first
    assert np.array_equal(together[np.ix_(order, order)], second[:, None] == second)
