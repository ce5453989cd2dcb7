"""Softmax attention with trained queries and values, for classification and regression."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from saccade.estimators.bags import DOUBLE
from saccade.estimators.base import BagClassifier, ChoosesSetting
from saccade.estimators.fitting import Problem, make_folds
from saccade.estimators.heads import LogMeanExp, Softmax
from saccade.estimators.held_out import Target
from saccade.estimators.log_mean_exp import RIDGES
from saccade.estimators.looking import Looks
from saccade.estimators.objective import Data, Objective, squared
from saccade.estimators.reading import check_choice, check_count
from saccade.estimators.solving import Solution, descend
from saccade.estimators.standard import STATISTICS
from saccade.estimators.threads import one_thread


class AttentionModel(Looks, ChoosesSetting):
    """The path of softmax attention, for either loss."""

    n_heads: int
    pooled: Any
    ridges: Any
    query_ridge_ratio: float
    max_iter: int
    _whole_from_1 = ("n_heads", "max_iter")
    _from_0 = ("query_ridge_ratio",)

    def _statistics(self):
        check_choice(self.pooled, "pooled", (None, *STATISTICS))
        return self.pooled

    def _extra_starts(self, data: Data) -> int:
        return 0

    def _follow(self, data, target, problem) -> Iterator[Solution]:
        """At the first ridge from the tied solution, then down the path, warm: never from a random
        start at a small ridge, where one in five ends far off."""
        ridges = self._settings()
        objective = Objective(
            data, *target, Softmax(self.n_heads), self.query_ridge_ratio, problem.loss)
        rng = np.random.default_rng(problem.seed)
        theta = self._start(objective, target, problem, ridges[0], rng)
        for ridge in ridges:
            step = descend(objective, theta, ridge, self.max_iter)
            for _ in range(self._extra_starts(data)):
                start = rng.standard_normal(objective.size) / np.sqrt(objective.width)
                step = min(
                    step, descend(objective, start, ridge, self.max_iter), key=lambda one: one.value
                )
            theta = step.theta
            yield step

    def _start(
        self, objective: Objective, target: Target, problem: Problem, ridge: float,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """q = w = the tied solution for the first head; q_h = 0.3 q_1 + N(0, I/d), w_h = 0 for the
        others."""
        tied = Objective(objective.data, *target, LogMeanExp(), loss=problem.loss)
        b, W, c = tied.parts(descend(tied, np.zeros(tied.size), ridge, self.max_iter).theta)
        noise = rng.standard_normal((self.n_heads, W.shape[1])) / np.sqrt(W.shape[1])
        queries, values = 0.3 * W + noise, np.zeros_like(noise)
        queries[0], values[0] = W[0], W[0]
        return np.concatenate([[b], queries.ravel(), values.ravel(), c])

    @property
    def query_(self):
        """q_h in the units of the tokens: (targets, heads, d)."""
        return np.stack([model.weights[: self.n_heads] for model in self.models_])

    @property
    def coef_(self):
        """w_h in the units of the tokens: (targets, heads, d)."""
        return np.stack([model.weights[self.n_heads :] for model in self.models_])


class AttentionClassifier(AttentionModel, BagClassifier):
    """Softmax attention: F(X) = b + sum_h sum_l softmax_l(X_l . q_h) X_l . w_h (+ c . phi(X)).

    `pooled="mean"` or `"all"` adds pooled statistics. Take one head to localise: with several,
    `attention` averages them by |w_h|. `query_ridge_ratio` is the ridge of q over that of w.

        AttentionClassifier(n_heads=1).fit(X, y).attention(X)
    """

    def __init__(
        self, n_heads=4, pooled=None, ridges=RIDGES, query_ridge_ratio=1.0, max_iter=50,
        class_weight="balanced", cv=3, n_tokens=1, random_state=0,
    ):
        self.n_heads = n_heads
        self.pooled = pooled
        self.ridges = ridges
        self.query_ridge_ratio = query_ridge_ratio
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.cv = cv
        self.n_tokens = n_tokens
        self.random_state = random_state


class AttentionRegressor(RegressorMixin, AttentionModel):
    """Softmax attention for numbers: the same F, with (F - y)^2/2 on standardised targets.

    One head finds the one token that carries y even where another direction marks it. With fewer
    than ten bags a feature, `n_starts` ["auto": 3] further random starts are tried at every ridge.
    """

    def __init__(
        self, n_heads=1, pooled=None, ridges=(*RIDGES, 0.001), query_ridge_ratio=1.0, max_iter=100,
        n_starts="auto", cv=3, n_tokens=1, random_state=0,
    ):
        self.n_heads = n_heads
        self.pooled = pooled
        self.ridges = ridges
        self.query_ridge_ratio = query_ridge_ratio
        self.max_iter = max_iter
        self.n_starts = n_starts
        self.cv = cv
        self.n_tokens = n_tokens
        self.random_state = random_state

    def fit(self, X, y, mask=None, sample_weight=None):
        """Fit to bags X with targets y (n,)."""
        self._require_target(y)
        bags = self._read(X, mask, reset=True)
        y = check_array(column_or_1d(y, warn=True), ensure_2d=False, dtype=DOUBLE, input_name="y")
        check_consistent_length(np.empty(len(bags)), y)
        weight = _check_sample_weight(sample_weight, y, dtype=np.float64, ensure_non_negative=True)
        share = weight / weight.sum()
        self.target_mean_ = float(share @ y)
        self.target_scale_ = float(np.sqrt(share @ np.square(y - self.target_mean_))) or 1.0
        target = Target((y - self.target_mean_) / self.target_scale_, share)
        problem = Problem(bags, weight, [target], squared, self._seed())
        with one_thread():
            self._fit_problem(problem, make_folds(y, self.cv, problem.seed, classes=False))
        return self

    def _extra_starts(self, data: Data) -> int:
        few = len(data.bags) < 10 * data.tokens.shape[1]
        return (3 if few else 0) if self.n_starts == "auto" else int(self.n_starts)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_starts != "auto":
            check_count(self.n_starts, "n_starts", 0)

    def predict(self, X, mask=None):
        bags = self._read(X, mask)
        return self.target_mean_ + self.target_scale_ * self.models_[0].decision(bags)
