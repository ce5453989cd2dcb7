"""Which group of variables decides: attention over fixed groups, and its transfer to a new task."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from saccade.estimators.bags import Bags
from saccade.estimators.fitting import Problem
from saccade.estimators.held_out import Target
from saccade.estimators.objective import Data, Loss, ridged
from saccade.estimators.places import PlacedClassifier
from saccade.estimators.segments import Segments
from saccade.estimators.solving import Solution, descend, walk


@dataclass(frozen=True)
class GroupModel:
    """F(X) = b + sum_j s_j v . x_j with s = softmax of the scores of the groups that are there."""

    intercept: float
    scores: np.ndarray
    value: np.ndarray

    def decision(self, bags: Bags) -> np.ndarray:
        weighted = (self.attention(bags) * (bags.tokens @ self.value))[None]
        return self.intercept + Segments(bags.offsets).sum(weighted)[0]

    def attention(self, bags: Bags) -> np.ndarray:
        return Segments(bags.offsets).softmax(self.scores[bags.places][None])[0][0]


class GroupObjective:
    """J of theta = (b, scores, v); `frozen` keeps the scores where they are."""

    def __init__(
        self, data: Data, target: Target, count: int, ratio: float, loss: Loss, frozen: bool = False
    ) -> None:
        self.data, self.target, self.count, self.loss = data, target, count, loss
        self.at, self.places = Segments(data.bags.offsets), data.bags.places
        width = data.tokens.shape[1]
        self.penalties = np.concatenate([[0.0], np.full(count, ratio), np.ones(width)])
        self.free = np.ones(len(self.penalties))
        if frozen:
            self.free[1 : 1 + count] = self.penalties[1 : 1 + count] = 0.0

    def parts(self, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        return theta[0], theta[1 : 1 + self.count], theta[1 + self.count :]

    def __call__(self, theta: np.ndarray, ridge: float) -> tuple[float, np.ndarray]:
        b, scores, v = self.parts(theta)
        values = self.data.along(v)
        weights = self.at.softmax(scores[self.places][None])[0][0]
        means = self.at.sum((weights * values)[None])[0]
        losses, slope = self.loss(b + means, self.target.y)
        slope = self.target.share * slope
        pulled = self.at.spread(slope) * weights
        by_score = pulled * (values - self.at.spread(means))
        gradient = np.concatenate([
            [slope.sum()], np.bincount(self.places, by_score, self.count),
            self.data.pulled(pulled)])
        value = self.target.share @ losses
        return ridged(value, self.free * gradient, theta, ridge * self.penalties)

    def starts(self, count: int) -> list[np.ndarray]:
        """All groups alike, and each of the `count` groups that tell the classes apart best, by
        |sum_i s_i y_i x_ij|: screening finds the group with fewer bags than descent does."""
        standard, places = self.data.standard, self.places
        signed = self.at.spread(self.target.share * self.target.y)
        sums = np.stack(
            [np.bincount(places, signed * column, self.count) for column in self.data.bags.tokens.T]
        )
        totals = np.bincount(places, signed, self.count)
        means = (sums.T - totals[:, None] * standard.mean) * standard.inverse
        best = np.argsort(-np.linalg.norm(means, axis=1), kind="stable")[:count]
        starts = [np.zeros(len(self.penalties))]
        for group in best:
            start = np.zeros(len(self.penalties))
            start[1 + group] = np.log(max(1, 9 * (self.count - 1)))  # nine tenths of the attention
            start[1 + self.count :] = means[group]
            starts.append(start)
        return starts

    def model(self, theta: np.ndarray) -> GroupModel:
        b, scores, v = self.parts(theta)
        raw = v * self.data.standard.inverse
        return GroupModel(float(b - raw @ self.data.standard.mean), scores.copy(), raw)


class GroupAttentionClassifier(PlacedClassifier):
    """Attention over fixed groups of variables: F(X) = b + sum_j softmax(m)_j v . x_j.

    The token at place j of every bag is the same group of variables, and one group (or a few)
    decides. This is the layer of the group-sparse paper with attention by position alone: m are the
    scores of the groups, v reads all groups alike. Trained from no preference and from the groups
    that screening ranks first (`n_starts`), along the path of ridges. `group_scores_` is
    softmax(m): the attention to each group, summing to 1.

    `fine_tune` carries the groups to a new task: with the attention kept, d + 1 numbers are left to
    learn where logistic regression on all variables has d groups + 1.

        model = GroupAttentionClassifier().fit(X, y)          # X: (n, groups, d)
        model.group_scores_.argmax()
        model.fine_tune(X_new, y_new).predict(X_test)
    """

    _whole_from_1 = ("max_iter",)
    _whole_from_0 = ("n_starts",)
    _from_0 = ("score_ridge_ratio",)

    def __init__(
        self, ridges=(0.3, 0.1, 0.03, 0.01, 0.003, 0.001), score_ridge_ratio=0.1, n_starts=3,
        max_iter=200, class_weight="balanced", cv=3, n_tokens=1, random_state=0,
    ):
        self.ridges = ridges
        self.score_ridge_ratio = score_ridge_ratio
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.cv = cv
        self.n_tokens = n_tokens
        self.random_state = random_state

    def _follow(self, data, target, problem) -> Iterator[Solution]:
        objective = GroupObjective(
            data, target, problem.n_places, self.score_ridge_ratio, problem.loss)
        starts, warm = objective.starts(self.n_starts), []
        for ridge in self._settings():
            ends = [descend(objective, one, ridge, self.max_iter) for one in (*starts, *warm)]
            best = min(ends, key=lambda one: one.value)
            warm = [best.theta]
            yield best

    def fine_tune(self, X, y, mask=None, sample_weight=None, freeze=True):
        """Learn a new task on the groups of the old one, in place: v and b anew with the attention
        kept (`freeze=True`), or everything from there. Few bags are enough."""
        self._require_target(y)
        bags = self._read(X, mask)
        self._fit_bags(
            bags, y, sample_weight, FineTuning(self, self.models_[0].scores, bool(freeze)))
        return self

    @property
    def group_scores_(self):
        """The attention to each group when all are there."""
        return softmax(self.models_[0].scores)

    @property
    def coef_(self):
        """v in the units of the tokens."""
        return self.models_[0].value[None]


class FineTuning:
    """A path that begins at known scores of the groups."""

    def __init__(self, estimator: GroupAttentionClassifier, scores: np.ndarray, frozen: bool):
        self.estimator, self.scores, self.frozen = estimator, scores, frozen

    def _settings(self) -> list[float]:
        return self.estimator._settings()

    def _statistics(self) -> None:
        return None

    def _follow(self, data: Data, target: Target, problem: Problem) -> Iterator[Solution]:
        objective = GroupObjective(
            data, target, len(self.scores), self.estimator.score_ridge_ratio, problem.loss,
            self.frozen)
        theta = np.zeros(len(objective.penalties))
        theta[1 : 1 + len(self.scores)] = self.scores
        return walk(objective, theta, self._settings(), self.estimator.max_iter)
