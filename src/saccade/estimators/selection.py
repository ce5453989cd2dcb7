"""The choice among pooling and attention, made inside cross-validation."""

from typing import Any

import numpy as np
from sklearn.base import clone

from saccade.errors import require, unknown
from saccade.estimators.attention import AttentionClassifier
from saccade.estimators.bags import Bags
from saccade.estimators.base import BagClassifier
from saccade.estimators.evidence import EvidenceClassifier
from saccade.estimators.fitting import Folds, Problem, cross_validate, refit
from saccade.estimators.held_out import HeldOut, is_better
from saccade.estimators.log_mean_exp import LogMeanExpClassifier
from saccade.estimators.looking import Looks
from saccade.estimators.places import PlacedClassifier, count_places
from saccade.estimators.pooled import PooledClassifier
from saccade.estimators.progress import Progress, wanted

CANDIDATES = {
    "mean": lambda: PooledClassifier(), "all": lambda: PooledClassifier(statistics="all"),
    "lme": lambda: LogMeanExpClassifier(),
    "mlme2": lambda: EvidenceClassifier(
        sharpness=1.0, n_starts=1, n_prototypes=0, radius=0.3, keep=1, normalise=True, max_iter=100
    ),
    "ev2": lambda: EvidenceClassifier(), "att": lambda: AttentionClassifier(n_heads=1),
    "att4": lambda: AttentionClassifier(),
    "attall": lambda: AttentionClassifier(n_heads=1, pooled="all")}
"""Short names of what is compared; any classifier of this package may be given by an own name."""
OWN = ("candidate_losses_", "best_name_", "best_estimator_")
DEFAULT = ("mean", "all", "lme", "mlme2", "att4", "attall")


class BagClassifierCV(Looks, BagClassifier):
    """The candidate with the smallest held-out log-loss, refitted to all bags: begin with this one.

    Candidates are short names (`mean`, `all`, `lme`, `mlme2`, `att4`, `attall`; also `att`, `ev2`)
    or pairs (name, classifier of this package). All see the same folds, each at its own best
    setting. Expect a tie with pooling on moderate tasks, and a large gain where few tokens matter.
    How far the fit is and the time left go to standard error, where that is a terminal (`verbose`:
    True, False or "auto").

        model = BagClassifierCV().fit(X, y)
        model.best_name_, model.candidate_losses_, model.best_estimator_
    """

    def __init__(
        self, candidates=DEFAULT, class_weight="balanced", positive=None, cv=3, n_tokens=1,
        random_state=0, verbose="auto",
    ):
        self.candidates = candidates
        self.class_weight = class_weight
        self.positive = positive
        self.cv = cv
        self.n_tokens = n_tokens
        self.random_state = random_state
        self.verbose = verbose

    def _read(self, X: Any, mask: Any = None, reset: bool = False) -> Bags:
        bags = super()._read(X, mask, reset)
        if reset or isinstance(self.best_estimator_, PlacedClassifier):
            count_places(self, bags, reset)
        return bags

    def _fit_problem(self, problem: Problem, folds: Folds, follower=None) -> None:
        named = self._named()
        placed = any(isinstance(one, PlacedClassifier) for one in named.values())
        if placed and len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported by candidates to which places count. The"
                " type of the target is multiclass.")
        with Progress([*named] * len(folds), wanted(self.verbose)) as done:
            held = cross_validate(named, problem, folds, done)
            self._choose(named, held)
            done.say(f"fitting {self.best_name_} to all bags")
            settings, chosen = self.best_estimator_._settings(), held[self.best_name_].best()
            solutions = refit(self.best_estimator_, problem, chosen)
        self._keep(solutions, [settings[index] for index in chosen])
        fitted = {
            name: value for name, value in vars(self).items()
            if name.endswith("_") and name not in OWN}
        vars(self.best_estimator_).update(fitted)

    def _choose(self, named: dict[str, Any], held: dict[str, HeldOut]) -> None:
        """The smallest held-out loss; the first candidate where nothing was judged."""
        losses = {name: one.loss() for name, one in held.items()}
        judged = {name: loss for name, loss in losses.items() if not np.isnan(loss)}
        self.candidate_losses_ = losses
        self.best_name_ = (
            min(judged, key=lambda name: judged[name]) if judged else next(iter(named)))
        self.best_estimator_ = named[self.best_name_]
        self.cv_losses_, self.cv_loss_ = held[self.best_name_].mean, losses[self.best_name_]
        self._compare_with_pooling(held)

    def _compare_with_pooling(self, held: dict[str, HeldOut]) -> None:
        """With the best of the pooled candidates; None if there is none, or nothing was judged."""
        self.pooling_loss_, self.better_than_pooling_ = np.nan, None
        pools = [name for name in held if not self._named()[name].looks]
        if pools and not np.isnan(self.cv_loss_):
            best = min(pools, key=lambda name: self.candidate_losses_[name])
            self.pooling_loss_ = self.candidate_losses_[best]
            self.better_than_pooling_ = is_better(held[self.best_name_], held[best])

    def _named(self) -> dict[str, Any]:
        """Fresh candidates, each with this classifier's weights, positive class, folds and seed."""
        given = self.candidates
        listed = isinstance(given, list | tuple) and len(given) > 0
        require(listed, "candidates", given, "must be a list that names at least one")
        named = dict(self._candidate(one) for one in given)
        require(len(named) == len(given), "candidates", given, "must not name two alike")
        return named

    def _candidate(self, one: Any) -> tuple[str, Any]:
        if isinstance(one, str):
            if one not in CANDIDATES:
                raise unknown("candidate", one, CANDIDATES)
            one = one, CANDIDATES[one]()
        require(
            _is_named(one), "candidate", one,
            "must be a short name, or a pair of a name and a classifier of this package")
        name, estimator = one
        known = estimator.get_params(deep=False)
        shared = {key: value for key, value in self.get_params(deep=False).items() if key in known}
        fresh: Any = clone(estimator)
        fresh.set_params(**shared)._check_parameters()
        return name, fresh


def _is_named(one: Any) -> bool:
    """A pair of a name and a classifier that has a path of its own to walk."""
    if not isinstance(one, list | tuple) or len(one) != 2 or not isinstance(one[0], str):
        return False
    return isinstance(one[1], BagClassifier) and not isinstance(one[1], BagClassifierCV)
