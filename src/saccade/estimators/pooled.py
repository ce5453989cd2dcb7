"""The yardstick: logistic regression on statistics of a bag's tokens."""

from saccade.estimators.base import BagClassifier
from saccade.estimators.fitting import POOLED_RIDGES, MeanPooling
from saccade.estimators.reading import check_choice
from saccade.estimators.standard import STATISTICS


class PooledClassifier(BagClassifier):
    """Logistic regression on pooled tokens: F(X) = b + w . phi(X).

    phi is the mean token, or with `statistics="all"` the mean, maximum, minimum and deviation of
    every feature. On moderate tasks nothing beats it: measure against it first. The ridge is chosen
    in cross-validation (that of scikit-learn's C is 1/(n ridge) when classes are not weighted).

        PooledClassifier(statistics="all").fit(X, y).predict(X)
    """

    looks = False
    _whole_from_1 = ("max_iter",)

    def __init__(
        self, statistics="mean", ridges=POOLED_RIDGES, class_weight="balanced", cv=3, max_iter=1000,
        n_tokens=1, random_state=0,
    ):
        self.statistics = statistics
        self.ridges = ridges
        self.class_weight = class_weight
        self.cv = cv
        self.max_iter = max_iter
        self.n_tokens = n_tokens
        self.random_state = random_state

    def _statistics(self):
        check_choice(self.statistics, "statistics", tuple(STATISTICS))
        return self.statistics

    def _follow(self, data, target, problem):
        path = MeanPooling(self.statistics, self._settings(), self.max_iter)
        return path._follow(data, target, problem)
