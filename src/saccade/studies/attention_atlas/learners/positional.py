"""Attention by place alone: the layers of the group-sparse and of the spatial paper, from saccade's
estimators."""

from collections.abc import Iterator
from functools import partial
from typing import Any, cast

import numpy as np

from saccade.contracts import Kind
from saccade.estimators import PatchAssociationClassifier
from saccade.estimators.bags import Bags
from saccade.estimators.fitting import descend
from saccade.estimators.group import GroupModel, GroupObjective
from saccade.estimators.held_out import Target
from saccade.estimators.objective import Data as BagData
from saccade.lab.chart import ChartedLearner
from saccade.studies.attention_atlas.learners import STUDY
from saccade.studies.attention_atlas.learners.softmax import Quiet, fitted, last_quarter
from saccade.studies.attention_atlas.models import LOSSES, RIDGES, Data, Fitted, Tuned, scaled
from saccade.studies.attention_atlas.task import generator

STEPS, STARTS, RATIO = 40, 2, 0.1


def bags_of(X: np.ndarray) -> Bags:
    """Samples of one length as bags."""
    n, length, dim = X.shape
    return Bags(X.reshape(-1, dim), np.arange(n + 1) * length)


def _path(data: Data) -> Iterator[Fitted]:
    """The layer of groups: from no preference and from the places that screening ranks first."""
    y, level, spread = scaled(data)
    bags, n = bags_of(data.X), len(y)
    target = Target(y, np.full(n, 1 / n))
    objective = GroupObjective(
        BagData(bags, np.ones(n)), target, data.X.shape[1], RATIO, LOSSES[data.kind])
    starts = objective.starts(STARTS)
    for ridge in RIDGES:
        best = min(
            (descend(objective, start, ridge, STEPS) for start in starts), key=lambda end: end.value
        )
        starts = [*starts[:1], best.theta]
        yield Fitted(partial(_predict, best.model, level, spread), partial(_weigh, best.model))


def _predict(model: GroupModel, level: float, spread: float, X: np.ndarray) -> np.ndarray:
    return level + spread * model.decision(bags_of(X))


def _weigh(model: GroupModel, X: np.ndarray) -> np.ndarray:
    scores = model.scores - model.scores.max()
    return (np.exp(scores) / np.exp(scores).sum())[None]


class _Patches(Quiet, PatchAssociationClassifier):
    pass


class Association:
    """The layer of sets of places: A free or tied, two ridges each."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind

    def fit(self, X: Any, y: Any, mask: Any = None, *, key: Any) -> Fitted:
        X, y = np.asarray(X, float), np.asarray(y)
        seed = int(generator(key).integers(2**31))
        model = cast(Any, _Patches)(
            ridges=RIDGES[1::2], max_iter=STEPS, class_weight=None, cv=last_quarter(len(y)),
            random_state=seed)
        return fitted(model, X, y, mask, np.asarray)


PLACES = ChartedLearner(
    "place", STUDY, "softmax attention by place, one value vector (group-sparse's layer)",
    lambda kind: Tuned(kind, _path))
SETS = ChartedLearner(
    "place-sets", STUDY, "places that look at each other, cubic read-out (spatial's layer)",
    Association, kinds=("classification",))
