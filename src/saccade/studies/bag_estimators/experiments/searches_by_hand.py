"""Searches of the estimators beside the same searches written out: how many starts, which of them
go on, which ridge comes next, what is kept from one to the next. Descents end after a few steps,
long before they meet, so that where each ends tells where it began."""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import xarray
from scipy.optimize import minimize

from saccade.estimators import (
    AttentionClassifier,
    AttentionRegressor,
    EvidenceClassifier,
    GroupAttentionClassifier,
    PatchAssociationClassifier,
    TwoStepAttentionClassifier,
)
from saccade.estimators.fitting import Problem, refit
from saccade.estimators.group import FineTuning, GroupObjective
from saccade.estimators.heads import LogMeanExp, Softmax
from saccade.estimators.objective import Data, Objective, logistic, squared
from saccade.estimators.patch_layer import Layer, PatchObjective, TiedObjective
from saccade.estimators.patches import partition
from saccade.estimators.prototypes import prototypes
from saccade.lab.experiment import experiment
from saccade.studies.bag_estimators.experiments import by_hand
from saccade.studies.bag_estimators.experiments.by_hand import (
    DIM,
    PLACES,
    RATIO,
    Drawn,
    draw,
    query_of,
    shares_of,
    standardising,
)
from saccade.studies.bag_estimators.experiments.choice_by_hand import _fitted, balanced
from saccade.studies.bag_estimators.experiments.starts_by_hand import _fisher
from saccade.studies.bag_estimators.task import generator

COUNT, SEED, STEPS, RIDGES, SHARP = 24, 5, 4, (0.3, 0.1, 0.02), 1.6
PARTS = (
    "attention for numbers", "further starts", "evidence", "groups", "groups kept", "groups freed",
    "patches", "two steps at each setting", "third prototype")
Function = Callable[[np.ndarray, float], tuple[float, np.ndarray]]


class Replay(NamedTuple):
    """How descents are repeated by hand: after so many steps, of so many further or random starts,
    by these ridges."""

    steps: int
    starts: int
    ridges: Sequence[float]


class End(NamedTuple):
    theta: np.ndarray
    value: float


def _ended(J: Function, start: np.ndarray, ridge: float, steps: int) -> End:
    end = minimize(
        J, start, (ridge,), jac=True, method="L-BFGS-B",
        options={"maxcor": 10, "maxiter": steps, "ftol": 1e-7, "gtol": 1e-5})
    return End(end.x, float(end.fun))


def _lowest(ends: Iterable[End]) -> np.ndarray:
    return min(ends, key=lambda end: end.value).theta


def _down(J: Function, starts: list[np.ndarray], plan: Replay) -> list[np.ndarray]:
    """From all starts, and from where the last ridge's best ended, to the best end of each
    ridge."""
    path: list[np.ndarray] = []
    for ridge in plan.ridges:
        path.append(_lowest(_ended(J, one, ridge, plan.steps) for one in (*starts, *path[-1:])))
    return path


def _apart(estimator: Any, problem: Problem, path: list[np.ndarray]) -> float:
    """How far the estimator's parameters are from these, at every setting."""
    data = Data(problem.bags, problem.weight)
    steps = list(estimator._follow(data, problem.targets[0], problem))
    return max(float(np.abs(a.theta - b).max()) for a, b in zip(steps, path, strict=True))


def _attention(drawn: Drawn, plan: Replay) -> float:
    """Two heads for numbers: from the tied layer, and at every ridge from further random starts."""
    data = Data(drawn.bags, drawn.weight)
    tied, J = (
        Objective(data, *drawn.target, head, RATIO, squared) for head in (LogMeanExp(), Softmax(2)))
    b, *w = _ended(tied, np.zeros(1 + DIM), plan.ridges[0], plan.steps).theta
    chance = np.random.default_rng(SEED)
    noise = chance.standard_normal((2, DIM)) / np.sqrt(DIM)
    at, path = np.concatenate([[b], w, 0.3 * np.array(w) + noise[1], w, np.zeros(DIM)]), []
    for ridge in plan.ridges:
        further = [chance.standard_normal(1 + 4 * DIM) / np.sqrt(DIM) for _ in range(plan.starts)]
        at = _lowest(_ended(J, one, ridge, plan.steps) for one in (at, *further))
        path.append(at)
    asked: Any = {"query_ridge_ratio": RATIO, "max_iter": STEPS, "n_starts": 2}
    model = AttentionRegressor(2, ridges=RIDGES, **asked)
    return _apart(model, Problem(drawn.bags, drawn.weight, [drawn.target], squared, SEED), path)


def _further(random: np.random.Generator, starts: int) -> float:
    """How far the numbers of further starts are from three with fewer than ten bags a feature, none
    with ten, as many as are asked for, and none for labels."""
    few, enough = (
        Data(one.bags, one.weight) for one in (draw(random, False, 29), draw(random, False, 30)))
    five: Any = {"n_starts": 5}
    made = [
        AttentionRegressor()._extra_starts(few), AttentionRegressor()._extra_starts(enough),
        AttentionRegressor(**five)._extra_starts(enough), AttentionClassifier()._extra_starts(few)]
    return float(np.abs(np.subtract(made, [1 + starts, 0, 5, 0])).max())


def _evidence(drawn: Drawn, plan: Replay) -> float:
    """Random starts of length 2 and 1 in turn at every ridge, with the mean bag undecided, and the
    last end: one step each, the best two go on."""
    objective = Objective(
        Data(drawn.bags, drawn.weight), *drawn.target, LogMeanExp(2, SHARP, False))
    chance, path, plain = np.random.default_rng(SEED), [], by_hand.log_mean_exp(SHARP, False)
    standard = standardising(drawn)
    for ridge in plan.ridges:
        starts = []
        for number in range(4 + plan.starts):
            W = chance.standard_normal((2, DIM))
            W = np.array([(1 if number % 2 else 2) * w / np.sqrt(w @ w) for w in W])
            theta = np.append(0.0, W)
            said = [plain.says(theta, places, standard(x)) for places, x in drawn.listed]
            theta[0] = -drawn.target.share @ said
            starts.append(theta)
        short = [_ended(objective, one, ridge, 1) for one in (*starts, *path[-1:])]
        best = sorted(short, key=lambda end: end.value)[:2]
        path.append(_lowest(_ended(objective, one.theta, ridge, plan.steps) for one in best))
    model = EvidenceClassifier(
        2, SHARP, RIDGES, n_starts=6, n_prototypes=0, radius=2.0, screen=1, keep=2, max_iter=STEPS)
    return _apart(model, Problem(drawn.bags, drawn.weight, [drawn.target], seed=SEED), path)


def _groups(drawn: Drawn, plan: Replay) -> float:
    """From all groups alike and from those with the longest sum_i s_i y_i T_ij."""
    J = GroupObjective(Data(drawn.bags, drawn.weight), drawn.target, PLACES, RATIO, logistic)
    standard, sums = standardising(drawn), np.zeros((PLACES, DIM))
    for (places, x), y, share in zip(drawn.listed, *drawn.target, strict=True):
        sums[places] += share * y * standard(x)
    first = sorted(range(PLACES), key=lambda place: -np.linalg.norm(sums[place]))[: plan.starts]
    starts = [np.zeros(1 + PLACES + DIM)] + [
        np.concatenate([[0.0], np.log(27) * np.eye(PLACES)[place], sums[place]]) for place in first]
    model = GroupAttentionClassifier(RIDGES, RATIO, n_starts=2, max_iter=STEPS)
    problem = Problem(drawn.bags, drawn.weight, [drawn.target])
    return _apart(model, problem, _down(J, starts, plan))


def _tuned(drawn: Drawn, random: np.random.Generator, plan: Replay) -> tuple[float, float]:
    """Known groups for a new task: kept, only b and v go from 0, without a ridge on the groups; not
    kept, all numbers go from the known groups and b = v = 0."""
    J = GroupObjective(Data(drawn.bags, drawn.weight), drawn.target, PLACES, RATIO, logistic)
    problem = Problem(drawn.bags, drawn.weight, [drawn.target])
    scores = random.standard_normal(PLACES)
    inner = np.r_[0, 1 + PLACES : 1 + PLACES + DIM]

    def kept(theta: np.ndarray, ridge: float) -> tuple[float, np.ndarray]:
        value, slope = J(np.concatenate([theta[:1], scores, theta[1:]]), 0.0)
        pull = ridge * np.append(0.0, theta[1:])
        return value + float(pull @ theta) / 2, slope[inner] + pull

    off = []
    for frozen, own, at in (
        (True, kept, np.zeros(1 + DIM)), (False, J, np.concatenate([[0.0], scores, np.zeros(DIM)])),
    ):
        path = []
        for ridge in plan.ridges:
            at = _ended(own, at, ridge, plan.steps).theta
            path.append(np.concatenate([at[:1], scores, at[1:]]) if frozen else at)
        estimator = GroupAttentionClassifier(RIDGES, RATIO, max_iter=STEPS)
        off.append(_apart(FineTuning(estimator, scores, frozen), problem, path))
    return off[0], off[1]


def _patches(drawn: Drawn, plan: Replay) -> float:
    """First A against its own ridge of .2; then, from there, down the path with one number for two
    sets, from .5, and down it again with A free."""
    data, layer = Data(drawn.bags, drawn.weight), Layer(5, 0.3)
    free = PatchObjective(data, drawn.target, PLACES, layer, RATIO, logistic)
    first = _ended(free, free.start(), 0.2, plan.steps).theta
    sets = partition(free.parts(first)[2], 2)
    tied = np.append(first[: 1 + DIM], 0.5)
    path = []
    for J, start in ((TiedObjective(free, sets, RATIO), tied), (free, first)):
        for ridge in plan.ridges:
            start = _ended(J, start, ridge, plan.steps).theta
            path.append(start)
    model = PatchAssociationClassifier(2, 5, 0.3, 0.2, RIDGES, RATIO, STEPS)
    return _apart(model, Problem(drawn.bags, drawn.weight, [drawn.target]), path)


def _settings(drawn: Drawn, fresh: Drawn, plan: Replay) -> float:
    """How far two steps are, at every sharpness and ridge, from logistic regression on what the
    query attends to."""
    sharpness, off = (0.7, 2.1), []
    model = TwoStepAttentionClassifier(sharpness, RIDGES)
    problem = Problem(drawn.bags, drawn.weight, [drawn.target] * 6)
    settings = [(sharp, ridge) for sharp in sharpness for ridge in plan.ridges]
    query = query_of(drawn, 0.5)
    for made, (sharp, ridge) in zip(refit(model, problem, np.arange(6)), settings, strict=True):
        F = _fitted(drawn, lambda T, q=sharp * query: shares_of(T @ q) @ T, ridge)
        off.append(np.abs(made.model.decision(fresh.bags) - [F(x) for _, x in fresh.listed]).max())
    return float(max(off))


def _third(drawn: Drawn, random: np.random.Generator, heads: int) -> float:
    """By how much three prototypes tell classes apart otherwise than the best pair of tokens of
    positive bags with what joins it best, up to so many `heads`; each found by going through
    all."""
    objective = Objective(Data(drawn.bags, drawn.weight), *drawn.target, LogMeanExp(3))
    standard = standardising(drawn)
    tokens = [standard(x) for (_, x), y in zip(drawn.listed, drawn.target.y, strict=True) if y > 0]
    rows = np.concatenate(tokens)
    directions = rows / np.linalg.norm(rows, axis=1)[:, None]

    def told(chosen: np.ndarray) -> float:
        peaks = [sum((standard(x) @ u).max() for u in chosen) for _, x in drawn.listed]
        return _fisher(np.array(peaks), drawn)

    best: Any = max(
        combinations(range(len(directions)), 2), key=lambda two: told(directions[[*two]]))
    while len(best) < heads:
        others = [one for one in range(len(directions)) if one not in best]
        best = max(((*best, one) for one in others), key=lambda some: told(directions[[*some]]))
    found = prototypes(objective, 3, random)
    assert found is not None
    return abs(told(found) - told(directions[[*best]]))


@experiment("bag-estimators.searches-by-hand")
def searches_by_hand(
    key: Any, *, steps: int = STEPS, starts: int = 2, last_ridge: float = RIDGES[-1], heads: int = 3
) -> xarray.Dataset:
    """The differences of PARTS; by hand descents have so many `steps`, there are so many further
    `starts`, the last ridge is `last_ridge`, and there are so many prototypes (`heads`)."""
    random, plan = generator(key), Replay(steps, starts, (*RIDGES[:-1], last_ridge))
    drawn, numbers = balanced(draw(random, True, COUNT)), draw(random, False, COUNT)
    off = [
        _attention(numbers, plan), _further(random, starts), _evidence(drawn, plan),
        _groups(drawn, plan), *_tuned(drawn, random, plan), _patches(drawn, plan),
        _settings(drawn, draw(random, True), plan),
        max(_third(draw(random, True, 10), random, heads) for _ in range(3))]
    return xarray.Dataset({"off": ("part", np.array(off))}, {"part": list(PARTS)})
