"""Monotone evidence: nothing absent and nothing that speaks against makes a bag positive."""

import numpy as np

from saccade.estimators.base import BagClassifier
from saccade.estimators.heads import LogMeanExp
from saccade.estimators.log_mean_exp import RIDGES
from saccade.estimators.looking import Looks
from saccade.estimators.objective import Objective
from saccade.estimators.prototypes import prototypes
from saccade.estimators.solving import Solution, descend


class EvidenceClassifier(Looks, BagClassifier):
    """Every head collects evidence for the positive class: F(X) = b + sum_h (1/beta) log sum_l
    exp(beta X_l . w_h).

    F rises in every score, so a token added to a bag can never make it less positive: the
    multiple-instance assumption holds by construction, where free-sign attention cheats with
    negative evidence. The price is accuracy where that assumption does not hold. With two heads a
    bag needs two kinds of evidence. Not convex: at every ridge `n_starts` random starts (|w_h| =
    `radius` and 1 in turn) and `n_prototypes` made of tokens of positive bags (|w_h| = `radius`;
    see `prototypes.py`) run for `screen` iterations, the best `keep` go on. `normalise=True` takes
    the mean instead of the sum over tokens. For about 100 bags widen `ridges` to (.3, .1, .03,
    .01).
    """

    _whole_from_1 = ("n_heads", "n_starts", "screen", "keep", "max_iter")
    _whole_from_0 = ("n_prototypes",)
    _above_0 = ("sharpness", "radius")

    def __init__(
        self, n_heads=2, sharpness=4.0, ridges=RIDGES, n_starts=16, n_prototypes=2, radius=6.0,
        screen=20, keep=3, max_iter=150, normalise=False, class_weight="balanced", positive=None,
        cv=3, n_tokens=1, random_state=0,
    ):
        self.n_heads = n_heads
        self.sharpness = sharpness
        self.ridges = ridges
        self.n_starts = n_starts
        self.n_prototypes = n_prototypes
        self.radius = radius
        self.screen = screen
        self.keep = keep
        self.max_iter = max_iter
        self.normalise = normalise
        self.class_weight = class_weight
        self.positive = positive
        self.cv = cv
        self.n_tokens = n_tokens
        self.random_state = random_state

    def _follow(self, data, target, problem):
        head = LogMeanExp(self.n_heads, float(self.sharpness), self.normalise)
        objective = Objective(data, *target, head, loss=problem.loss)
        rng = np.random.default_rng(problem.seed)
        further = self._prototypes(objective, rng)
        warm: list[np.ndarray] = []
        for ridge in self._settings():
            best = self._best(objective, ridge, [*self._starts(objective, rng), *further, *warm])
            warm = [best.theta]
            yield best

    def _starts(self, objective: Objective, rng: np.random.Generator) -> list[np.ndarray]:
        """Random directions."""
        starts = []
        for number in range(self.n_starts):
            W = rng.standard_normal((self.n_heads, objective.width))
            W *= (self.radius if number % 2 == 0 else 1.0) / np.linalg.norm(W, axis=1)[:, None]
            starts.append(undecided(objective, W))
        return starts

    def _prototypes(self, objective: Objective, rng: np.random.Generator) -> list[np.ndarray]:
        """Tokens that tell the classes apart together, each time from other positive bags."""
        found = (prototypes(objective, self.n_heads, rng) for _ in range(self.n_prototypes))
        return [undecided(objective, self.radius * W) for W in found if W is not None]

    def _best(self, objective: Objective, ridge: float, starts: list[np.ndarray]) -> Solution:
        """Screen all starts, finish the best few, keep the smallest J."""
        short = [descend(objective, start, ridge, self.screen) for start in starts]
        short.sort(key=lambda one: one.value)
        done = [descend(objective, one.theta, ridge, self.max_iter) for one in short[: self.keep]]
        return min(done, key=lambda one: one.value)


def undecided(objective: Objective, W: np.ndarray) -> np.ndarray:
    """Parameters of these heads with b such that the mean bag is undecided."""
    theta = np.concatenate([[0.0], W.ravel()])
    theta[0] = -objective.share @ objective.model(theta).decision(objective.data.bags)
    return theta
