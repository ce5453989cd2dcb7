"""From bags and targets to a model: minimise along a path of ridges, choose in cross-validation.

Folds are made of whole bags. In every fold tokens are standardised anew and the whole path is
walked, from the largest ridge to the smallest, each step started where the last one ended; on all
bags the same path is walked again and left at the chosen ridge.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.optimize import minimize
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from saccade.estimators.bags import Bags
from saccade.estimators.held_out import HeldOut, Target
from saccade.estimators.objective import Data, Loss, Objective, logistic

POOLED_RIDGES = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 1e-4)
FLAT = 1e-2
"""A run that used up its iterations is called unfinished if a slope of J is still above this; J is
log 2 for a model that knows nothing."""


class Model(Protocol):
    """What a fitted objective says about bags: F, and the weight of each token (flat)."""

    def decision(self, bags: Bags) -> np.ndarray: ...

    def attention(self, bags: Bags) -> np.ndarray: ...


class Minimised(Protocol):
    """J and its gradient at parameters and a ridge, and the model of parameters."""

    def __call__(self, theta: np.ndarray, ridge: float) -> tuple[float, np.ndarray]: ...

    def model(self, theta: np.ndarray) -> Model: ...


class Solution(NamedTuple):
    """Where a minimisation ended."""

    model: Any
    theta: np.ndarray
    value: float
    n_iter: int
    finished: bool


def descend(
    objective: Minimised, theta: np.ndarray, ridge: float, max_iter: int, ftol: float = 1e-7,
    gtol: float = 1e-5,
) -> Solution:
    """L-BFGS with ten pairs."""
    end = minimize(
        objective, theta, (ridge,), jac=True, method="L-BFGS-B",
        options={"maxcor": 10, "maxiter": max_iter, "ftol": ftol, "gtol": gtol})
    finished = end.nit < max_iter or bool(np.abs(end.jac).max() <= FLAT)
    return Solution(objective.model(end.x), end.x, float(end.fun), max(1, end.nit), finished)


CONVEX = 1e-10, 1e-7
"""Tolerances where the minimum is unique: worth reaching."""


def walk(
    objective: Minimised, theta: np.ndarray, ridges: Sequence[float], max_iter: int,
    ftol: float = 1e-7, gtol: float = 1e-5,
) -> Iterator[Solution]:
    """Down the path of ridges, each step from where the last one ended."""
    for ridge in ridges:
        step = descend(objective, theta, ridge, max_iter, ftol, gtol)
        theta = step.theta
        yield step


@dataclass(frozen=True)
class Problem:
    """Bags with their weights, and one target for each class that is told from the rest."""

    bags: Bags
    weight: np.ndarray
    targets: Sequence[Target]
    loss: Loss = logistic
    seed: int = 0

    @property
    def n_places(self) -> int:
        """How many places a bag can have, for models to which places mean something."""
        return int(self.bags.places.max()) + 1

    def data(self, statistics: str | None, indices: np.ndarray | None = None) -> Data:
        if indices is None:
            return Data(self.bags, self.weight, statistics)
        return Data(self.bags.take(indices), self.weight[indices], statistics)


class Follower(Protocol):
    """What an estimator brings: its settings, the pooled features it wants, and its path."""

    def _settings(self) -> list[Any]: ...

    def _statistics(self) -> str | None: ...

    def _follow(self, data: Data, target: Target, problem: Problem) -> Iterator[Solution]: ...


Folds = Sequence[tuple[np.ndarray, np.ndarray]]


def cross_validate(follower: Follower, problem: Problem, folds: Folds) -> HeldOut:
    """Walk the path in every fold and judge each setting on the bags left out."""
    held = HeldOut(problem.targets, len(follower._settings()))
    for train, test in folds:
        data = problem.data(follower._statistics(), train)
        for row, target in enumerate(problem.targets):
            inside = within(target, train, problem.loss is logistic)
            if inside is None:
                continue
            models = [step.model for step in follower._follow(data, inside, problem)]
            F = decide(models, problem.bags, test)
            held.add(row, test, problem.loss(F, target.y[test])[0])
        del data  # before the next fold is copied
    return held


def decide(
    models: Sequence[Model], bags: Bags, indices: np.ndarray, chunk: int = 250
) -> np.ndarray:
    """Decisions of each model (rows) on some bags, a chunk at a time: a fold is never copied
    whole."""
    pieces = (bags.take(indices[at : at + chunk]) for at in range(0, len(indices), chunk))
    return np.concatenate(
        [np.stack([one.decision(piece) for one in models]) for piece in pieces], 1)


def within(target: Target, indices: np.ndarray, labels: bool) -> Target | None:
    """The target on some bags, shares made to sum to 1; None where a class has no weight there."""
    y, share = target.y[indices], target.share[indices]
    if share.sum() == 0 or (labels and min(share[y > 0].sum(), share[y < 0].sum()) == 0):
        return None
    return Target(y, share / share.sum())


def refit(follower: Follower, problem: Problem, chosen: np.ndarray) -> list[Solution]:
    """On all bags, along the same path, up to the chosen setting of each target."""
    data = problem.data(follower._statistics())
    paths = (follower._follow(data, target, problem) for target in problem.targets)
    return [next(islice(path, int(last), None)) for path, last in zip(paths, chosen)]


def make_folds(y: np.ndarray, cv: Any, seed: int, classes: bool) -> Folds:
    """Stratified by class and shuffled, no more than the smallest class has members; an empty list
    where not even two can be made."""
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        if cv < 2:
            raise ValueError(f"cv must be at least 2 folds, got {cv}.")
        most = int(np.unique(y, return_counts=True)[1].min()) if classes else len(y)
        if min(cv, most) < 2:
            return []
        kind = StratifiedKFold if classes else KFold
        cv = kind(int(min(cv, most)), shuffle=True, random_state=seed)
    splitter: Any = check_cv(cv, y, classifier=classes)
    return list(splitter.split(np.zeros((len(y), 1)), y))


class MeanPooling:
    """The yardstick: logistic (or least squares) on the mean token, at its own best ridge."""

    def __init__(
        self, statistics: str = "mean", ridges: Sequence[float] = POOLED_RIDGES,
        max_iter: int = 1000,
    ) -> None:
        self.statistics, self.ridges, self.max_iter = statistics, ridges, max_iter

    def _settings(self) -> list[float]:
        return list(self.ridges)

    def _statistics(self) -> str:
        return self.statistics

    def _follow(self, data: Data, target: Target, problem: Problem) -> Iterator[Solution]:
        """Convex: the path only saves iterations."""
        objective = Objective(data, *target, None, loss=problem.loss)
        return walk(objective, np.zeros(objective.size), self.ridges, self.max_iter, *CONVEX)
