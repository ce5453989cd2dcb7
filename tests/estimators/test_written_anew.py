"""Every model at one ridge against its objective written anew, without a line of the package: loops
over bags, scipy's softmax and logsumexp, BFGS with numerical slopes."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from saccade.estimators import (
    AttentionClassifier,
    AttentionRegressor,
    EvidenceClassifier,
    GroupAttentionClassifier,
    LogMeanExpClassifier,
    PooledClassifier,
    TwoStepAttentionClassifier,
)
from saccade.estimators.bags import Bags
from saccade.estimators.fitting import Problem
from saccade.estimators.heads import Softmax
from saccade.estimators.held_out import Target
from saccade.estimators.objective import Data, Objective

RIDGE = 0.1


def drawn(n, seed):
    """Ragged bags with columns of different scale and centre, labels, and unequal weights."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % 2
    bags = [random.standard_normal((random.integers(1, 7), 3)) * [1, 10, 0.1] for _ in y]
    for bag, label in zip(bags, y):
        bag += [0, 5, -2]
        bag[0] += 2.0 * label * np.array([1, 5, 0])
    return bags, y, random.uniform(0.2, 2, n)


BAGS, Y, WEIGHT = drawn(30, 0)
FRESH = drawn(12, 1)[0]


def standardised(bags, weight):
    """The tokens of `bags`, and of `FRESH`, in deviations of the weighted tokens of `bags`."""
    tokens = np.concatenate(bags)
    each = np.repeat(weight, [len(bag) for bag in bags])
    mean = np.average(tokens, axis=0, weights=each)
    deviation = np.sqrt(np.average((tokens - mean) ** 2, axis=0, weights=each))
    return [[(bag - mean) / deviation for bag in some] for some in (bags, FRESH)]


def shares(weight, balanced=True):
    if not balanced:
        return weight / weight.sum()
    return np.where(Y == 1, weight / weight[Y == 1].sum(), weight / weight[Y == 0].sum()) / 2


def minimum(decide, size, share, penalised, ridge=RIDGE, starts=None):
    """The parameters with the smallest J, over starts [one: 0]; `decide(theta)` are the logits."""

    def J(theta):
        losses = np.log1p(np.exp(-(2 * Y - 1) * decide(theta)))
        return share @ losses + ridge / 2 * theta[penalised] @ theta[penalised]

    ends = [
        minimize(J, start, tol=1e-9)
        for start in (starts if starts is not None else [np.zeros(size)])]
    return min(ends, key=lambda end: end.fun)


@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("beta", [1.0, 2.5])
def test_log_mean_exp(beta, balanced):
    old, new = standardised(BAGS, WEIGHT)

    def decide(theta, bags=old):
        return np.array(
            [theta[0] + (logsumexp(beta * (z @ theta[1:])) - np.log(len(z))) / beta for z in bags])

    end = minimum(decide, 4, shares(WEIGHT, balanced), slice(1, None))
    weights = "balanced" if balanced else None
    model = LogMeanExpClassifier(beta, RIDGE, 1000, weights).fit(BAGS, Y, sample_weight=WEIGHT)
    assert np.abs(model.decision_function(FRESH) - decide(end.x, new)).max() < 3e-3
    attention = [softmax(beta * (z @ end.x[1:])) for z in new]
    assert max(np.abs(a - b).max() for a, b in zip(model.attention(FRESH), attention)) < 1e-3


def statistics(bags, which):
    made = [[z.mean(0), z.max(0), z.min(0), z.std(0)] for z in bags]
    return np.array([row[0] if which == "mean" else np.concatenate(row) for row in made])


@pytest.mark.parametrize("which", ["mean", "all"])
def test_pooled_statistics(which):
    old, new = (statistics(bags, which) for bags in standardised(BAGS, WEIGHT))
    mean = np.average(old, axis=0, weights=WEIGHT)
    deviation = np.sqrt(np.average((old - mean) ** 2, axis=0, weights=WEIGHT))
    old, new = (old - mean) / deviation, (new - mean) / deviation
    end = minimum(
        lambda theta: theta[0] + old @ theta[1:], 1 + old.shape[1], shares(WEIGHT), slice(1, None))
    model = PooledClassifier(which, RIDGE).fit(BAGS, Y, sample_weight=WEIGHT)
    assert np.abs(model.decision_function(FRESH) - end.x[0] - new @ end.x[1:]).max() < 1e-4


@pytest.mark.parametrize("ratio", [1.0, 0.3])
def test_attention(ratio):
    """Not convex: J of ours is that of the best of several starts."""
    old, new = standardised(BAGS, np.ones(30))
    root = np.sqrt(ratio)  # theta holds root times the query, so that one ridge serves both

    def decide(theta, bags=old):
        query, value = theta[1:4] / root, theta[4:]
        return np.array([theta[0] + softmax(z @ query) @ (z @ value) for z in bags])

    starts = np.random.default_rng(0).standard_normal((5, 7))
    end = minimum(decide, 7, shares(np.ones(30)), slice(1, None), starts=starts)
    model = AttentionClassifier(1, None, RIDGE, ratio, 1000).fit(BAGS, Y)
    assert np.abs(model.decision_function(FRESH) - decide(end.x, new)).max() < 1e-2


def test_evidence():
    """Not convex either: J of ours is not above that of two other starts."""
    old, _ = standardised(BAGS, np.ones(30))

    def decide(theta):
        heads = theta[1:].reshape(2, 3)
        return np.array(
            [theta[0] + sum(logsumexp(4 * (z @ head)) / 4 for head in heads) for z in old])

    starts = np.random.default_rng(0).standard_normal((2, 7))
    end = minimum(decide, 7, shares(np.ones(30)), slice(1, None), starts=starts)
    model = EvidenceClassifier(ridges=RIDGE, max_iter=1000).fit(BAGS, Y)
    heads = model.models_[0].weights * np.concatenate(BAGS).std(axis=0)
    losses = np.log1p(np.exp(-(2 * Y - 1) * model.decision_function(BAGS)))
    value = shares(np.ones(30)) @ losses + RIDGE / 2 * (heads**2).sum()
    assert value < end.fun + 1e-5


def test_the_attention_of_several_heads_is_weighed_by_their_values():
    """|w_h| in the units of standardised tokens, which the scales of `drawn` set far apart."""
    _, new = standardised(BAGS, np.ones(30))
    model = AttentionClassifier(3, ridges=0.01).fit(BAGS, Y)
    scale = np.concatenate(BAGS).std(axis=0)
    lengths = np.linalg.norm(model.coef_[0] * scale, axis=1)
    queries = model.query_[0] * scale
    for weights, z in zip(model.attention(FRESH), new):
        expected = softmax(z @ queries.T, axis=0) @ (lengths / lengths.sum())
        assert np.allclose(weights, expected, atol=1e-9)
    assert np.ptp(lengths) > 0.1 * lengths.max()  # an average that ignores them would differ


def test_where_further_heads_begin():
    """q_1 = w_1 = the tied solution; q_h = 0.3 q_1 + N(0, I/d) and w_h = 0 for the others."""
    data = Data(Bags.from_list(BAGS), np.ones(30))
    target = Target(2.0 * Y - 1, shares(np.ones(30)))
    objective = Objective(data, *target, Softmax(3))
    model, problem = AttentionClassifier(3), Problem(data.bags, np.ones(30), [target])
    theta = model._start(objective, target, problem, RIDGE, np.random.default_rng(0))
    _, columns, _ = objective.parts(theta)
    tied = LogMeanExpClassifier(ridges=RIDGE).fit(BAGS, Y)
    first = tied.coef_[0] * np.concatenate(BAGS).std(axis=0)
    noise = np.random.default_rng(0).standard_normal((3, 3)) / np.sqrt(3)
    assert np.allclose(columns[[0, 3]], first, atol=1e-3)
    assert np.allclose(columns[1:3], 0.3 * columns[0] + noise[1:])
    assert not columns[4:].any()


def test_two_steps():
    old, new = standardised(BAGS, np.ones(30))
    share, sign = shares(np.ones(30)), 2 * Y - 1
    value = np.array([z.mean(0) for z in old]).T @ (share * sign) / 2

    def first(query):
        logits = np.array([softmax(z @ query) @ (z @ value) for z in old])
        return share @ np.log1p(np.exp(-sign * logits))

    steps = 1e-5 * np.eye(3)
    query = -np.array([first(step) - first(-step) for step in steps])
    query *= 2 / np.linalg.norm(query)
    seen, fresh = (np.array([softmax(z @ query) @ z for z in bags]) for bags in (old, new))
    mean, deviation = seen.mean(0), seen.std(0)
    seen, fresh = (seen - mean) / deviation, (fresh - mean) / deviation
    end = minimum(lambda theta: theta[0] + seen @ theta[1:], 4, share, slice(1, None))
    model = TwoStepAttentionClassifier(2.0, RIDGE).fit(BAGS, Y)
    assert np.abs(model.decision_function(FRESH) - end.x[0] - fresh @ end.x[1:]).max() < 1e-4


def test_groups():
    random = np.random.default_rng(3)
    X = random.standard_normal((30, 4, 3)) * [1, 5, 0.2] + [0, 3, 1]
    X[:, 2, 1] += 8 * Y
    Z = (X - X.reshape(-1, 3).mean(0)) / X.reshape(-1, 3).std(0)

    def decide(theta):
        return theta[0] + (Z @ theta[5:]) @ softmax(theta[1:5] / np.sqrt(0.1))

    starts = random.standard_normal((6, 8))
    end = minimum(decide, 8, shares(np.ones(30)), slice(1, None), starts=starts)
    model = GroupAttentionClassifier(RIDGE, max_iter=1000).fit(X, Y)
    assert np.abs(model.decision_function(X) - decide(end.x)).max() < 1e-2
    assert np.abs(model.group_scores_ - softmax(end.x[1:5] / np.sqrt(0.1))).max() < 1e-3


def test_numbers():
    random = np.random.default_rng(4)
    X = random.standard_normal((60, 5, 3))
    where = random.integers(0, 5, 60)
    X[np.arange(60), where, 0] += 3
    y = 7 + 4 * X[np.arange(60), where, 1]
    Z, target = (X - X.reshape(-1, 3).mean(0)) / X.reshape(-1, 3).std(0), (y - y.mean()) / y.std()

    def decide(theta):
        return theta[0] + (softmax(Z @ theta[1:4], axis=1) * (Z @ theta[4:])).sum(axis=1)

    def J(theta):
        return ((decide(theta) - target) ** 2).mean() / 2 + 0.005 * theta[1:] @ theta[1:]

    ends = [minimize(J, start, tol=1e-9) for start in random.standard_normal((5, 7))]
    end = min(ends, key=lambda one: one.fun)
    model = AttentionRegressor(ridges=0.01, max_iter=1000).fit(X, y)
    assert np.abs(model.predict(X) - y.mean() - y.std() * decide(end.x)).max() < 0.05
