"""One token decides: the tied log-mean-exp model."""

import numpy as np

from saccade.estimators.base import BagClassifier
from saccade.estimators.heads import LogMeanExp
from saccade.estimators.looking import Looks
from saccade.estimators.objective import Objective
from saccade.estimators.solving import walk

RIDGES = (0.3, 0.1, 0.03, 0.01, 0.003)


class LogMeanExpClassifier(Looks, BagClassifier):
    """A bag is as positive as its most positive tokens: F(X) = b + (1/beta) log mean_l
    exp(beta X_l . w).

    One vector w both finds and reads the tokens. With sharpness beta = 1 this is the form of the
    best classifier when one Gaussian token in a positive bag is shifted; it localises well from few
    bags, and it loses where the evidence is not in single tokens, so compare it with pooling
    (`better_than_pooling_`) or let `BagClassifierCV` choose. The model is not symmetric: tokens are
    evidence for `positive` [`classes_[1]`]. Deterministic: from w = 0 down the path of ridges.

        model = LogMeanExpClassifier().fit(X, y)
        model.attention(X)               # softmax_l(beta X_l . w)
    """

    _whole_from_1 = ("max_iter",)
    _above_0 = ("sharpness",)

    def __init__(
        self, sharpness=1.0, ridges=RIDGES, max_iter=100, class_weight="balanced", positive=None,
        cv=3, n_tokens=1, random_state=0,
    ):
        self.sharpness = sharpness
        self.ridges = ridges
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.positive = positive
        self.cv = cv
        self.n_tokens = n_tokens
        self.random_state = random_state

    def _follow(self, data, target, problem):
        head = LogMeanExp(1, float(self.sharpness))
        objective = Objective(data, *target, head, loss=problem.loss)
        return walk(objective, np.zeros(objective.size), self._settings(), self.max_iter)

    @property
    def coef_(self):
        """w in the units of the tokens, one row a target."""
        return np.stack([model.weights[0] for model in self.models_])
