"""Several classifiers on the same folds, and intervals that know that folds share bags."""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import t
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold

from saccade.estimators.attention import AttentionClassifier
from saccade.estimators.bags import Bags
from saccade.estimators.log_mean_exp import LogMeanExpClassifier
from saccade.estimators.looking import Interval
from saccade.estimators.pooled import PooledClassifier
from saccade.estimators.standard import Standard, pooled

Report = Callable[[float, str], None]


class FlattenedClassifier(ClassifierMixin, BaseEstimator):
    """Logistic regression on all tokens of a bag side by side: needs bags of one length."""

    def fit(self, X, y):
        self.inner_ = PooledClassifier(ridges=(10, 1, 0.1, 0.01, 0.001)).fit(_side_by_side(X), y)
        self.classes_ = self.inner_.classes_
        return self

    def decision_function(self, X):
        return self.inner_.decision_function(_side_by_side(X))


def _side_by_side(bags: Bags) -> Bags:
    """Every bag as one long token."""
    return Bags(bags.tokens.reshape(len(bags), -1), np.arange(len(bags) + 1))


class ForestClassifier(ClassifierMixin, BaseEstimator):
    """A random forest on mean, maximum, minimum and deviation of the tokens; its logit."""

    def fit(self, X, y):
        self.standard_ = Standard.of_tokens(X, np.ones(len(X)))
        self.forest_ = RandomForestClassifier(
            300, min_samples_leaf=2, class_weight="balanced", random_state=0)
        self.forest_.fit(pooled(X, self.standard_, "all"), y)
        self.classes_ = self.forest_.classes_
        return self

    def decision_function(self, X):
        chances = np.asarray(self.forest_.predict_proba(pooled(X, self.standard_, "all")))
        chance = np.clip(chances[:, 1], 1e-3, 1 - 1e-3)
        return np.log(chance / (1 - chance))


class Candidate(NamedTuple):
    """`looks`: it weighs the tokens of a bag; `cost`: about how long a fit takes, relative to the
    mean's, for the time left."""

    label: str
    build: Callable[[], Any]
    looks: bool = False
    cost: float = 1.0


CANDIDATES: dict[str, Candidate] = {
    "mean": Candidate("mean pooling", PooledClassifier),
    "all": Candidate("four pooled statistics", lambda: PooledClassifier("all"), cost=3),
    "lme": Candidate("log-mean-exp", LogMeanExpClassifier, looks=True, cost=10),
    "attention": Candidate("attention, four heads", AttentionClassifier, looks=True, cost=60),
    "flat": Candidate("flattened logistic regression", FlattenedClassifier, cost=5),
    "forest": Candidate("forest on four statistics", ForestClassifier, cost=10)}


class Comparison(NamedTuple):
    """By candidate: AUC, error and seconds of each fold; `ratio` is test bags over training bags.
    The error is the mean of those of the two classes."""

    auc: dict[str, np.ndarray]
    error: dict[str, np.ndarray]
    seconds: dict[str, float]
    ratio: float

    def score(self, name: str) -> Interval:
        return corrected_interval(self.auc[name], self.ratio)

    def mistakes(self, name: str) -> Interval:
        return corrected_interval(self.error[name], self.ratio)

    def difference(self, name: str, other: str, chance: float = 0.05) -> Interval:
        """AUC of `name` minus that of `other`, paired by folds."""
        return corrected_interval(self.auc[name] - self.auc[other], self.ratio, chance)


def corrected_interval(values: np.ndarray, ratio: float, chance: float = 0.05) -> Interval:
    """Mean +- t s sqrt(1/J + ratio) of J fold results: the corrected resampled t interval of Nadeau
    and Bengio (2003). Training sets overlap, so s^2/J alone is far too small."""
    count, mean = len(values), float(np.mean(values))
    if count < 2:
        return Interval(mean, -np.inf, np.inf)
    half = t.ppf(1 - chance / 2, count - 1) * values.std(ddof=1) * np.sqrt(1 / count + ratio)
    return Interval(mean, mean - float(half), mean + float(half))


def compare(
    bags: Bags, positive: np.ndarray, names: Sequence[str], folds: int = 5, repeats: int = 2,
    seed: int = 0, report: Report = lambda amount, text: None,
    known: Mapping[str, Candidate] = CANDIDATES,
) -> Comparison:
    """Fit the candidates `names` to the same stratified folds. `report(amount, text)` is told of
    every fit; amounts add up to 1."""
    folds = int(min(folds, positive.sum(), (~positive).sum()))
    splitter = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=seed)
    auc: dict[str, list[float]] = {name: [] for name in names}
    error: dict[str, list[float]] = {name: [] for name in names}
    seconds = dict.fromkeys(names, 0.0)
    total = folds * repeats * sum(known[name].cost for name in names)
    for number, (train, test) in enumerate(splitter.split(positive, positive), 1):
        sides = bags.take(train), bags.take(test)
        for name in names:
            start = time.process_time()
            scores = _scores(known[name].build(), sides, positive[train])
            seconds[name] += time.process_time() - start
            auc[name].append(float(roc_auc_score(positive[test], scores)))
            error[name].append(1 - float(balanced_accuracy_score(positive[test], scores > 0)))
            report(
                known[name].cost / total, f"fold {number} of {folds * repeats}: {known[name].label}"
            )
    arrays = [{name: np.array(one[name]) for name in names} for one in (auc, error)]
    return Comparison(arrays[0], arrays[1], seconds, 1 / max(folds - 1, 1))


def _scores(model: Any, sides: tuple[Bags, Bags], positive: np.ndarray) -> np.ndarray:
    """Logits of the test side, for classes of equal weight."""
    with warnings.catch_warnings():
        # A path that stops at max_iter is what these models are; the folds tell what it is worth.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(sides[0], positive).decision_function(sides[1])
