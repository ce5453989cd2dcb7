"""What classifiers and regressors share: labels and weights, the choice of a setting in
cross-validation, decisions."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import expit, log_expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import assert_all_finite, check_consistent_length
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from saccade.errors import require, shown
from saccade.estimators.bags import Bags
from saccade.estimators.fitting import (
    Folds,
    Follower,
    MeanPooling,
    Problem,
    cross_validate,
    make_folds,
    refit,
)
from saccade.estimators.held_out import Target, is_better
from saccade.estimators.objective import Data
from saccade.estimators.reading import BagEstimator, check_ridges
from saccade.estimators.solving import Solution
from saccade.estimators.threads import one_thread


class ChoosesSetting(BagEstimator):
    """Fits each target at the setting with the smallest held-out loss."""

    cv: Any
    ridges: Any = ()
    looks = True
    """whether the model gives tokens of a bag different weights"""

    def _settings(self) -> list[Any]:
        """What cross-validation chooses from, in the order of the path: ridges, large to small."""
        return check_ridges(self.ridges)

    def _statistics(self) -> str | None:
        return None

    def _follow(self, data: Data, target: Target, problem: Problem) -> Iterator[Solution]:
        raise NotImplementedError

    def _fit_problem(
        self, problem: Problem, folds: Folds, follower: Follower | None = None
    ) -> None:
        """Choose, refit, and note how the choice compares with mean pooling."""
        self._check_parameters()
        follower = self if follower is None else follower
        settings = follower._settings()
        judged = folds if len(settings) > 1 else []
        paths: dict[str, Follower] = {"own": follower}
        if self.looks:
            paths["pooling"] = MeanPooling()
        losses = cross_validate(paths, problem, judged)
        held, pooling = losses["own"], losses.get("pooling")
        self.cv_losses_, self.cv_loss_ = held.mean, held.loss()
        self.pooling_loss_, self.better_than_pooling_ = np.nan, None
        if pooling is not None and not np.isnan(self.cv_loss_):
            self.pooling_loss_ = pooling.loss()
            self.better_than_pooling_ = is_better(held, pooling)
        chosen = held.best()
        self._keep(refit(follower, problem, chosen), [settings[index] for index in chosen])

    def _keep(self, solutions: list[Solution], chosen: list[Any]) -> None:
        self.models_ = [one.model for one in solutions]
        self.n_iter_ = np.array([one.n_iter for one in solutions])
        self.chosen_ = chosen
        if not all(one.finished for one in solutions):
            warnings.warn(
                f"{type(self).__name__} stopped after max_iter={self.n_iter_.max()} iterations"
                " before it converged; raise max_iter.", ConvergenceWarning, stacklevel=4)


class BagClassifier(ClassifierMixin, ChoosesSetting):
    """A classifier of bags. Several classes are each told from the rest."""

    class_weight: Any
    positive: Any = None

    def fit(self, X, y, mask=None, sample_weight=None):
        """Fit to bags X with labels y; `mask` (n, L) is False where there is no token."""
        self._require_target(y)
        self._fit_bags(self._read(X, mask, reset=True), y, sample_weight)
        return self

    def _fit_bags(
        self, bags: Bags, y: Any, sample_weight: Any, follower: Follower | None = None
    ) -> None:
        codes = self._read_labels(y, len(bags))
        weight = _check_sample_weight(
            sample_weight, codes, dtype=np.float64, ensure_non_negative=True)
        problem = self._problem(bags, codes, weight)
        folds = make_folds(codes, self.cv, problem.seed, classes=True)
        with one_thread():
            self._fit_problem(problem, folds, follower)

    def _read_labels(self, y: Any, n: int) -> np.ndarray:
        """The number of each bag's class; `classes_` are the labels in order. Two values are two
        classes whatever they are, 0.5 and 2.5 too; more that are not whole are numbers."""
        labels = column_or_1d(y, warn=True)
        if labels.dtype.kind == "f":
            assert_all_finite(labels, input_name="y")
        if labels.dtype.kind != "f" or len(np.unique(labels)) != 2:
            check_classification_targets(labels)
        check_consistent_length(np.empty(n), labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes in the data, but the"
                f" data contains only one class: {shown(self.classes_[0])}")
        if len(self.classes_) > 2 and not self.__sklearn_tags__().classifier_tags.multi_class:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass.")
        return codes

    def _problem(self, bags: Bags, codes: np.ndarray, weight: np.ndarray) -> Problem:
        """One target for two classes, else one a class."""
        told = [self._positive_code()] if len(self.classes_) == 2 else range(len(self.classes_))
        factor = weight
        if isinstance(self.class_weight, dict):
            factor = (
                weight
                * compute_class_weight(
                    self.class_weight, classes=self.classes_, y=self.classes_[codes])[codes])
        elif self.class_weight not in (None, "balanced"):
            require(
                False, "class_weight", self.class_weight, "must be 'balanced', None or a dictionary"
            )
        targets = [self._target(codes == code, factor) for code in told]
        return Problem(bags, weight, targets, seed=self._seed())

    def _target(self, inside: np.ndarray, weight: np.ndarray) -> Target:
        """+1 inside the class; balanced shares give each side half of the weight."""
        sides = weight[inside].sum(), weight[~inside].sum()
        if min(sides) <= 0:
            raise ValueError("sample_weight leaves a class without weight.")
        if self.class_weight == "balanced":
            share = weight / (2 * np.where(inside, *sides))
        else:
            share = weight / weight.sum()
        return Target(np.where(inside, 1.0, -1.0), share)

    def _positive_code(self) -> int:
        if self.positive is None:
            return 1
        known = list(self.classes_)
        require(self.positive in known, "positive", self.positive, f"must be one of {known}")
        return known.index(self.positive)

    def decision_function(self, X, mask=None):
        """Logits: (n,) for two classes, above 0 for `classes_[1]`; else (n, classes)."""
        return self._decide(self._read(X, mask))

    def _decide(self, bags: Bags) -> np.ndarray:
        if len(self.classes_) == 2:
            sign = 1 if self._positive_code() == 1 else -1
            return sign * self.models_[0].decision(bags)
        return np.stack([model.decision(bags) for model in self.models_], axis=1)

    def predict_proba(self, X, mask=None):
        """(n, classes). With balanced weights these are for classes that are equally frequent."""
        F = self.decision_function(X, mask)
        if F.ndim == 1:
            return np.stack([expit(-F), expit(F)], axis=1)
        return softmax(log_expit(F), axis=1)  # expit(F), to one; also where all of them underflow

    def predict(self, X, mask=None):
        F = self.decision_function(X, mask)
        return self.classes_[(F > 0).astype(int) if F.ndim == 1 else F.argmax(axis=1)]
