"""The two steps of the sparse-token paper: a query from two gradients, then a convex read-out."""

from functools import partial
from typing import Any, cast

from saccade.estimators import TwoStepAttentionClassifier
from saccade.lab.chart import ChartedLearner
from saccade.studies.attention_atlas.learners import STUDY
from saccade.studies.attention_atlas.learners.estimated import Estimated, Quiet, Split

SHARPNESS, RIDGES = (1.0, 4.0), (0.1, 0.01)


class _TwoSteps(Quiet, TwoStepAttentionClassifier):
    pass


def _build(split: Split, seed: int) -> Any:
    """Two sharpnesses and two ridges to choose from."""
    return cast(Any, _TwoSteps)(sharpness=SHARPNESS, ridges=RIDGES, class_weight=None, cv=split)


TWO_STEPS = ChartedLearner(
    "two-step", STUDY, "a query from two gradient steps, then logistic regression",
    partial(Estimated, build=_build), kinds=("classification",), ragged=True)
