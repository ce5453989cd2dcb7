"""From bags and targets to a model: minimise along a path of ridges, choose in cross-validation.

Folds are made of whole bags. In every fold tokens are standardised anew and the whole path is
walked, from the largest ridge to the smallest, each step started where the last one ended; on all
bags the same path is walked again and left at the chosen ridge.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol, cast

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from saccade.estimators.bags import Bags
from saccade.estimators.held_out import HeldOut, Target
from saccade.estimators.newton import walk_down
from saccade.estimators.objective import BagModel, Data, Loss, Objective, logistic
from saccade.estimators.solving import Model, Solution
from saccade.estimators.solving import descend as descend  # learners of the atlas look here

POOLED_RIDGES = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 1e-4)


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


def cross_validate(
    followers: Mapping[str, Follower], problem: Problem, folds: Folds,
    done: Callable[[str], None] = lambda name: None,
) -> dict[str, HeldOut]:
    """Walk each path in every fold and judge its settings on the bags left out. A fold is copied
    and standardised once for all; `done` is told whenever one of them has finished a fold."""
    held = {name: HeldOut(problem.targets, len(one._settings())) for name, one in followers.items()}
    for fold in folds:
        data = problem.data(None, fold[0])
        for name, follower in followers.items():
            _judge(follower, data.with_features(follower._statistics()), problem, fold, held[name])
            done(name)
        del data  # before the next fold is copied
    return held


def _judge(
    follower: Follower, data: Data, problem: Problem, fold: tuple[np.ndarray, np.ndarray],
    held: HeldOut,
) -> None:
    train, test = fold
    for row, target in enumerate(problem.targets):
        inside = within(target, train, problem.loss is logistic)
        if inside is None:
            continue
        models = [step.model for step in follower._follow(data, inside, problem)]
        held.add(row, test, problem.loss(decide(models, problem.bags, test), target.y[test])[0])


def decide(
    models: Sequence[Model], bags: Bags, indices: np.ndarray, chunk: int = 250
) -> np.ndarray:
    """Decisions of each model (rows) on some bags, a chunk at a time: a fold is never copied
    whole."""
    pieces = (bags.take(indices[at : at + chunk]) for at in range(0, len(indices), chunk))
    return np.concatenate([_of_path(models, piece) for piece in pieces], 1)


def _of_path(models: Sequence[Model], bags: Bags) -> np.ndarray:
    """Pooled features are the same for all models of one path, and made once."""
    first = models[0]
    if not isinstance(first, BagModel):
        return np.stack([one.decision(bags) for one in models])
    features = first.features(bags)
    return np.stack([cast(BagModel, one).decision(bags, features) for one in models])


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
        objective = Objective(data, *target, None, loss=problem.loss)
        return walk_down(objective, self.ridges, self.max_iter)
