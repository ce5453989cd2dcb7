"""J and its gradient: segments against loops, gradients against central differences, J against a
second way of writing it."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from saccade.estimators import newton
from saccade.estimators.bags import Bags
from saccade.estimators.group import GroupObjective
from saccade.estimators.heads import LogMeanExp, Softmax
from saccade.estimators.held_out import Target
from saccade.estimators.objective import Data, Objective, logistic, squared
from saccade.estimators.patch_layer import Layer, PatchObjective, TiedObjective
from saccade.estimators.segments import Segments, blocks
from saccade.estimators.solving import descend

HEADS = [
    LogMeanExp(), LogMeanExp(3, 2.5), LogMeanExp(2, 4.0, normalise=False), Softmax(1), Softmax(3),
    None]


def example(seed=0, equal=False, n=7, width=3):
    rng = np.random.default_rng(seed)
    lengths = np.full(n, 4) if equal else rng.integers(1, 6, n)
    tokens = 1.5 + rng.standard_normal((lengths.sum(), width)) * [0.5, 2.0, 1.0][:width]
    y, share = rng.choice([-1.0, 1.0], n), rng.random(n)
    return Bags.from_lengths(tokens, lengths), y, share / share.sum(), rng


def differences(function, at, step=1e-6):
    """Central differences, one coordinate at a time."""
    moves = step * np.eye(len(at))
    return np.array([(function(at + move) - function(at - move)) / (2 * step) for move in moves])


@pytest.mark.parametrize("equal", [True, False])
def test_segments_are_loops(equal):
    bags, _, _, rng = example(equal=equal)
    at, scores = Segments(bags.offsets), rng.standard_normal((2, len(bags.tokens)))
    pieces = [scores[:, a:b] for a, b in zip(bags.offsets, bags.offsets[1:])]
    assert np.allclose(at.sum(scores), np.stack([one.sum(1) for one in pieces], 1))
    assert (at.max(scores) == np.stack([one.max(1) for one in pieces], 1)).all()
    weights, level = at.softmax(scores.copy())
    assert np.allclose(level, np.stack([np.log(np.exp(one).sum(1)) for one in pieces], 1))
    naive = [np.exp(one) / np.exp(one).sum(1, keepdims=True) for one in pieces]
    assert np.allclose(weights, np.concatenate(naive, axis=1))


def test_blocks_cover_every_bag_once():
    offsets = np.concatenate([[0], np.cumsum(np.random.default_rng(0).integers(1, 9, 50))])
    parts = blocks(offsets, width=3, size=30)
    assert [part.bags.start for part in parts[1:]] == [part.bags.stop for part in parts[:-1]]
    assert parts[0].tokens.start == 0 and parts[-1].tokens.stop == offsets[-1] and len(parts) > 5


@pytest.mark.parametrize("loss", [logistic, squared])
@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize("head", HEADS)
def test_the_gradient_is_that_of_central_differences(head, equal, loss):
    bags, y, share, rng = example(equal=equal)
    data = Data(bags, np.ones(len(bags)), "all" if head is None else "mean")
    objective = Objective(data, y, share, head, ratio=1.7, loss=loss)
    theta = rng.standard_normal(objective.size)
    numeric = differences(lambda at: objective(at, 0.3)[0], theta)
    assert np.abs(objective(theta, 0.3)[1] - numeric).max() < 2e-8


def test_the_tied_objective_is_the_sum_it_says():
    """J of log-mean-exp written with Python loops on standardised tokens."""
    bags, y, share, rng = example()
    objective = Objective(Data(bags, np.ones(len(bags))), y, share, LogMeanExp(1, 2.5))
    theta = rng.standard_normal(objective.size)
    T = (bags.tokens - bags.tokens.mean(0)) / bags.tokens.std(0)
    total = 0.35 * theta[1:] @ theta[1:]
    for a, b, label, part in zip(bags.offsets, bags.offsets[1:], y, share):
        F = theta[0] + np.log(np.mean(np.exp(2.5 * T[a:b] @ theta[1:]))) / 2.5
        total += part * np.log1p(np.exp(-label * F))
    assert objective(theta, 0.7)[0] == pytest.approx(total, abs=1e-12)


def test_the_softmax_objective_is_the_sum_it_says():
    bags, y, share, rng = example(3)
    objective = Objective(Data(bags, np.ones(len(bags))), y, share, Softmax(2), ratio=0.4)
    theta = rng.standard_normal(objective.size)
    q, w = theta[1:7].reshape(2, 3), theta[7:].reshape(2, 3)
    T = (bags.tokens - bags.tokens.mean(0)) / bags.tokens.std(0)
    total = 0.25 * (0.4 * (q**2).sum() + (w**2).sum())
    for a, b, label, part in zip(bags.offsets, bags.offsets[1:], y, share):
        p = np.exp(T[a:b] @ q.T)
        F = theta[0] + (p / p.sum(0) * (T[a:b] @ w.T)).sum()
        total += part * np.log1p(np.exp(-label * F))
    assert objective(theta, 0.5)[0] == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize("head", [LogMeanExp(), Softmax(1)])
def test_another_optimiser_finds_no_lower_value(head):
    """Tiny problem, many starts of a method that uses neither our gradient nor our path."""
    bags, y, share, rng = example(5, n=8, width=2)
    objective = Objective(Data(bags, np.ones(len(bags))), y, share, head)
    ours = min(
        descend(objective, start, 0.1, 500, 1e-12, 1e-9).value
        for start in (np.zeros(objective.size), *rng.standard_normal((4, objective.size))))
    theirs = min(
        minimize(
            lambda at: objective(at, 0.1)[0], start, method="Powell",
            options={"xtol": 1e-8, "ftol": 1e-12, "maxiter": 20000}).fun
        for start in 2 * rng.standard_normal((8, objective.size)))
    assert ours == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("frozen", [True, False])
def test_gradient_of_groups(frozen):
    bags, y, share, rng = example(1)
    data = Data(bags, np.ones(len(bags)))
    objective = GroupObjective(data, Target(y, share), 6, 0.3, logistic, frozen)
    theta = rng.standard_normal(len(objective.penalties))
    numeric = differences(lambda at: objective(at, 0.2)[0], theta)
    numeric[1:7] *= not frozen
    assert np.abs(objective(theta, 0.2)[1] - numeric).max() < 1e-8


def test_gradient_of_patches_with_patches_missing():
    bags, y, share, rng = example(2)
    data = Data(bags, np.ones(len(bags)))
    free = PatchObjective(data, Target(y, share), 6, Layer(3, 0.2), 0.3, logistic)
    tied = TiedObjective(free, np.array([0, 1, 0, 1, 2, 2]), 0.3)
    for objective in (free, tied):
        theta = 0.5 * rng.standard_normal(len(objective.penalties))
        numeric = differences(lambda at, of=objective: of(at, 0.2)[0], theta)
        assert np.abs(objective(theta, 0.2)[1] - numeric).max() < 1e-7


def test_tokens_far_from_zero_lose_no_digits():
    """float32 tokens 300 deviations from 0: standardised in a copy, J is that of the same tokens in
    float64, where the mean is taken off after the product."""
    rng = np.random.default_rng(0)
    tokens = (rng.standard_normal((40, 3)) + 300).astype(np.float32)
    y, share = np.where(np.arange(10) % 2, 1.0, -1.0), np.full(10, 0.1)
    values = []
    for kind, copied in ((np.float32, True), (np.float64, False)):
        data = Data(Bags.from_lengths(tokens.astype(kind), [4] * 10), np.ones(10))
        assert data.copied is copied
        objective = Objective(data, y, share, Softmax(1))
        values.append(objective(np.linspace(-1, 1, objective.size), 0.1)[0])
    assert values[0] == pytest.approx(values[1], rel=1e-6)


def test_a_numerical_derivative_would_see_a_wrong_gradient():
    bags, y, share, rng = example()
    objective = Objective(Data(bags, np.ones(len(bags))), y, share, Softmax(1))
    theta = rng.standard_normal(objective.size)
    numeric = approx_fprime(theta, lambda at: objective(at, 0.0)[0])
    assert np.abs(objective(theta, 0.0)[1][::-1] - numeric).max() > 1e-3


@pytest.mark.parametrize("loss", [logistic, squared])
@pytest.mark.parametrize("width", [3, 40])
def test_newton_ends_where_the_slopes_vanish(loss, width, monkeypatch):
    """From 0 and from afar, at large and small ridges; L-BFGS on the same J ends there too."""
    rng = np.random.default_rng(width)
    bags = Bags.from_lengths(rng.standard_normal((90, width)), [3] * 30)
    y, share = rng.choice([-1.0, 1.0], 30), np.full(30, 1 / 30)
    objective = Objective(Data(bags, np.ones(30), "mean"), y, share, None, loss=loss)
    for ridge in (1.0, 1e-3):
        for start in (np.zeros(objective.size), 5 * rng.standard_normal(objective.size)):
            end = newton.reach_minimum(objective, start, ridge, 100)
            slopes = differences(lambda at, r=ridge: objective(at, r)[0], end.theta)
            assert np.abs(slopes).max() < 1e-8
            assert end.finished and end.n_iter < 20
        monkeypatch.setattr(newton, "FEW", 0)
        other = newton.reach_minimum(objective, np.zeros(objective.size), ridge, 1000)
        monkeypatch.undo()
        assert np.allclose(other.theta, end.theta, atol=1e-3)


def test_newton_s_second_derivatives_are_differences_of_the_first():
    bags, y, share, rng = example(4)
    for loss in (logistic, squared):
        objective = Objective(Data(bags, np.ones(7), "mean"), y, share, None, loss=loss)
        theta = rng.standard_normal(objective.size)
        numeric = differences(lambda at, of=objective: of(at, 0.3)[1], theta)
        assert np.abs(newton._curvature(objective, theta, 0.3) - numeric).max() < 1e-8


def test_newton_stops_where_rounding_decides(monkeypatch):
    """No slope is ever 0 to the last digit: it ends when no step lowers J any more."""
    monkeypatch.setattr(newton, "SLOPE", 0.0)
    bags, y, share, _ = example(4)
    objective = Objective(Data(bags, np.ones(7), "mean"), y, share, None)
    end = newton.reach_minimum(objective, np.zeros(objective.size), 0.1, 500)
    assert end.n_iter < 20 and end.finished and np.abs(objective(end.theta, 0.1)[1]).max() < 1e-7


def test_a_step_too_long_is_shortened():
    """Far out the logistic loss is flat, and a whole step of Newton would overshoot."""
    bags, y, share, _ = example(6)
    objective = Objective(Data(bags, np.ones(7), "mean"), y, share, None)
    theta = np.full(4, 6.0)
    value, gradient = objective(theta, 0.01)
    move = np.linalg.solve(newton._curvature(objective, theta, 0.01), gradient)
    assert objective(theta - move, 0.01)[0] > value
    trial, lower, slopes = newton._shorter(objective, theta, 0.01, move, value)
    assert lower < value and not np.array_equal(slopes, gradient)
    tried = (theta - move / 2**halving for halving in range(30))  # the first that is lower
    assert np.array_equal(trial, next(one for one in tried if objective(one, 0.01)[0] < value))
