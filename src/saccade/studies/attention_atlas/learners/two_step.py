"""The two steps of the sparse-token paper: a query from two gradients, then a convex read-out."""

from typing import Any, cast

import numpy as np

from saccade.contracts import Kind
from saccade.estimators import TwoStepAttentionClassifier
from saccade.lab.chart import ChartedLearner
from saccade.studies.attention_atlas.learners import STUDY
from saccade.studies.attention_atlas.learners.estimated import Quiet, fitted, last_quarter
from saccade.studies.attention_atlas.models import Fitted

SHARPNESS, RIDGES = (1.0, 4.0), (0.1, 0.01)


class _TwoSteps(Quiet, TwoStepAttentionClassifier):
    pass


class TwoSteps:
    """Two sharpnesses and two ridges to choose from."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind

    def fit(self, X: Any, y: Any, mask: Any = None, *, key: Any) -> Fitted:
        X, y = np.asarray(X, float), np.asarray(y)
        model = cast(Any, _TwoSteps)(
            sharpness=SHARPNESS, ridges=RIDGES, class_weight=None, cv=last_quarter(len(y)))
        return fitted(model, X, y, mask)


TWO_STEPS = ChartedLearner(
    "two-step", STUDY, "a query from two gradient steps, then logistic regression", TwoSteps,
    kinds=("classification",), ragged=True)
