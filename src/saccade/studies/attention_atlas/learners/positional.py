"""Attention by place alone: the layers of the group-sparse and of the spatial paper."""

from typing import Any, cast

import numpy as np

from saccade.contracts import Kind
from saccade.estimators import PatchAssociationClassifier
from saccade.lab.chart import ChartedLearner
from saccade.studies.attention_atlas.learners import STUDY
from saccade.studies.attention_atlas.learners.estimated import Quiet, fitted, last_quarter
from saccade.studies.attention_atlas.models import RIDGES, STEPS, Descended, Fitted
from saccade.studies.attention_atlas.models.places import Places
from saccade.studies.attention_atlas.task import generator


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
        return fitted(model, X, y, mask)


PLACES = ChartedLearner(
    "place", STUDY, "softmax attention by place, one value vector (group-sparse's layer)",
    lambda kind: Descended(kind, Places))
SETS = ChartedLearner(
    "place-sets", STUDY, "places that look at each other, cubic read-out (spatial's layer)",
    Association, kinds=("classification",))
