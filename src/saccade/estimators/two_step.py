"""The two steps of the sparse-token paper: a query from two gradients, then a convex read-out."""

from itertools import product

import numpy as np

from saccade.estimators.base import BagClassifier
from saccade.estimators.heads import Softmax
from saccade.estimators.looking import Looks
from saccade.estimators.newton import reach_minimum
from saccade.estimators.objective import Data, Objective
from saccade.estimators.reading import check_numbers, check_ridges
from saccade.estimators.standard import Standard


class TwoStepAttentionClassifier(Looks, BagClassifier):
    """One gradient step for the value, one for the query, then logistic regression on what the
    query attends to.

    w_1 = sum_i s_i y_i mean(X_i)/2 and b_1 = sum_i s_i y_i/2; q = -dJ/dq at (q = 0, w_1, b_1),
    normalised; F(X) = b + w . sum_l softmax_l(beta X_l . q) X_l. The sharpness beta and the ridge
    are chosen in cross-validation, q anew in every fold; beta = 0 is mean pooling, so the grid
    holds its own fall-back.
    """

    _whole_from_1 = ("max_iter",)

    def __init__(
        self, sharpness=(0, 0.5, 1, 2, 4, 8), ridges=(1, 0.1, 0.01, 0.001), max_iter=1000,
        class_weight="balanced", cv=3, n_tokens=1, random_state=0,
    ):
        self.sharpness = sharpness
        self.ridges = ridges
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.cv = cv
        self.n_tokens = n_tokens
        self.random_state = random_state

    def _settings(self):
        sharp = check_numbers(self.sharpness, "sharpness", zero=True)
        return list(product(sharp, check_ridges(self.ridges)))

    def _follow(self, data, target, problem):
        objective = Objective(data, *target, Softmax(1))
        query = first_query(objective)
        sharp, theta = None, np.zeros(0)
        for sharpness, ridge in self._settings():
            if sharpness != sharp:
                sharp, readout = sharpness, Readout(objective, target, sharpness * query)
                theta = np.zeros(1 + objective.width)
            step = reach_minimum(readout.objective, theta, ridge, self.max_iter)
            theta = step.theta
            full = readout.theta(theta)
            yield step._replace(model=objective.model(full), theta=full)

    def _keep(self, solutions, chosen):
        """A model that gives all tokens the same weight is mean pooling, and not better than it."""
        super()._keep(solutions, chosen)
        if self.better_than_pooling_ and all(sharp == 0 for sharp, _ in chosen):
            self.better_than_pooling_ = False

    @property
    def query_(self):
        """beta q in the units of the tokens, one row a target."""
        return np.stack([model.weights[0] for model in self.models_])

    @property
    def coef_(self):
        """w in the units of the tokens, one row a target."""
        return np.stack([model.weights[1] for model in self.models_])


def first_query(objective: Objective) -> np.ndarray:
    """q after one step of (w, b) and one of q, of length 1 (0 if the gradient vanishes)."""
    start = np.zeros(objective.size)
    step = -objective(start, 0.0)[1]  # sum s y/2 for b, sum s y mean(X)/2 for w, 0 for q
    gradient = objective(step, 0.0)[1]
    query = -objective.parts(gradient)[1][0]
    length = np.linalg.norm(query)
    return query / length if length > 0 else query


class Readout:
    """Logistic regression on the attended tokens, standardised over bags."""

    def __init__(self, objective: Objective, target, query: np.ndarray) -> None:
        attended = attend(objective.data, query)
        self.query = query
        self.standard = Standard.of_features(attended, objective.data.weight)
        self.objective = Objective(_Table(self.standard(attended)), target.y, target.share, None)

    def theta(self, fitted: np.ndarray) -> np.ndarray:
        """(b, q, w) of the attention model that says the same."""
        w = fitted[1:] * self.standard.inverse
        return np.concatenate([[fitted[0] - w @ self.standard.mean], self.query, w])


class _Table(Data):
    """Features alone, as data of an objective without a head."""

    def __init__(self, features: np.ndarray) -> None:
        self.features = features
        self.tokens = np.empty((0, 0))
        self.statistics = self.feature_standard = None
        self.standard = Standard(np.empty(0), np.empty(0))


def attend(data: Data, query: np.ndarray) -> np.ndarray:
    """sum_l softmax_l(T_l . query) T_l of each bag, in standardised units."""
    fold = data.fold
    raw = query * fold.inverse
    pooled = np.empty((len(data.bags), len(query)))
    for part in data.blocks:
        rows = data.tokens[part.tokens]
        weights, _ = part.segments.softmax(np.ascontiguousarray(rows @ raw)[None])
        pooled[part.bags] = np.add.reduceat(rows * weights.T, part.segments.starts, axis=0)
    return (pooled - fold.mean) * fold.inverse
