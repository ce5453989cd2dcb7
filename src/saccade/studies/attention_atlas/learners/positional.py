"""Attention by place alone: the layers of the group-sparse and of the spatial paper."""

from functools import partial
from typing import Any, cast

from saccade.estimators import PatchAssociationClassifier
from saccade.lab.chart import ChartedLearner
from saccade.studies.attention_atlas.learners import STUDY
from saccade.studies.attention_atlas.learners.estimated import Estimated, Quiet, Split
from saccade.studies.attention_atlas.models import RIDGES, STEPS, Descended
from saccade.studies.attention_atlas.models.places import Places


class _Patches(Quiet, PatchAssociationClassifier):
    pass


def _build(split: Split, seed: int) -> Any:
    """The layer of sets of places: A free or tied, two ridges each."""
    return cast(Any, _Patches)(
        ridges=RIDGES[1::2], max_iter=STEPS, class_weight=None, cv=split, random_state=seed)


PLACES = ChartedLearner(
    "place", STUDY, "softmax attention by place, one value vector (group-sparse's layer)",
    lambda kind: Descended(kind, Places))
SETS = ChartedLearner(
    "place-sets", STUDY, "places that look at each other, cubic read-out (spatial's layer)",
    partial(Estimated, build=_build), kinds=("classification",))
