"""Does a bag classifier respect what a bag is? Unit tests after Raff and Holt (2023), for any
classifier with `fit` and `decision_function`.

A bag is positive if it holds what makes it positive; nothing it holds besides, and nothing it
lacks, may take that away. Each test plants a shortcut in the training bags that a classifier which
breaks this rule will find, and turns the shortcut round in the test bags: who took it falls below
chance.

    single     a token of concept A makes a bag positive. In training negative bags hold poison; at
               test the positive ones do.
    multi      A and C together make it positive; negatives hold two A or two C. The same poison.
    frequency  A and C once each make it positive; negatives hold ten of one. At test positives hold
               five of each and negatives one of one.
    size       A makes it positive; in training positives are the large bags, at test the small.

A is 5 along one axis, C 5 along another, poison -10 along a third, each with deviation 1/2 in all
directions; other tokens are standard normal. All is turned by one random rotation: along the axes
a classifier that takes the maximum of each feature passes by luck.

The paper's own tests use other numbers; its text was not at hand, the idea is what is taken.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from saccade.errors import require, unknown

CONCEPT, POISON, SPREAD = 5.0, -10.0, 0.5
BACKGROUND = (8, 13)  # how many ordinary tokens a bag has, from .. below
LARGE, SMALL = (20, 31), (4, 8)
ROTATION_SEED = 7
PASS, BELOW_CHANCE = 0.9, 0.4

Bags = list[np.ndarray]
Plan = dict[str, int]
"""How many tokens of each concept a bag gets: {"A": 1, "poison": 1}."""


class Check(NamedTuple):
    """`plan(positive, shifted, random)` says what a bag holds, `size` how many ordinary tokens."""

    name: str
    about: str
    plan: Callable[[bool, bool, np.random.Generator], Plan]
    size: Callable[[bool, bool], tuple[int, int]]


class Outcome(NamedTuple):
    """AUC on bags drawn as in training, and on those with the shortcut turned round, by seed."""

    check: str
    same: tuple[float, ...]
    shifted: tuple[float, ...]

    @property
    def verdict(self) -> str:
        """passes: at least .9 on every seed and both kinds of bags; cheats: below .4 on most, it
        took the shortcut; cannot: it neither learned the rule nor the shortcut well enough."""
        if min(self.same + self.shifted) >= PASS:
            return "passes"
        return "cheats" if np.median(self.shifted) < BELOW_CHANCE else "cannot"


def _single(positive: bool, shifted: bool, random: np.random.Generator) -> Plan:
    return {"A": int(positive), "poison": int(positive == shifted)}


def _multi(positive: bool, shifted: bool, random: np.random.Generator) -> Plan:
    concepts = {"A": 1, "C": 1} if positive else {random.choice(["A", "C"]): 2}
    return concepts | {"poison": int(positive == shifted)}


def _frequency(positive: bool, shifted: bool, random: np.random.Generator) -> Plan:
    if positive:
        return {"A": 5, "C": 5} if shifted else {"A": 1, "C": 1}
    return {random.choice(["A", "C"]): 1 if shifted else 10}


def _size(positive: bool, shifted: bool, random: np.random.Generator) -> Plan:
    return {"A": int(positive)}


def _usual(positive: bool, shifted: bool) -> tuple[int, int]:
    return BACKGROUND


def _large_or_small(positive: bool, shifted: bool) -> tuple[int, int]:
    return SMALL if positive == shifted else LARGE


CHECKS = {
    check.name: check
    for check in (
        Check("single", "one concept; poison in negatives, then in positives", _single, _usual),
        Check("multi", "two concepts together; the same poison", _multi, _usual),
        Check("frequency", "two concepts; many of one in negatives, then few", _frequency, _usual),
        Check("size", "one concept; positives large, then small", _size, _large_or_small))}


def draw(
    name: str, seed: int, shifted: bool = False, n_bags: int = 400, dim: int = 16,
    rotated: bool = True,
) -> tuple[Bags, np.ndarray]:
    """Bags and labels (0 or 1, in turn) of the check `name`, as in training or `shifted`."""
    if name not in CHECKS:
        raise unknown("check of bag classifiers", name, CHECKS)
    require(n_bags >= 4, "n_bags", n_bags, "must be at least 4")
    require(dim >= 3, "dim", dim, "must be at least 3")
    random = np.random.default_rng(seed)
    rotation = _rotation(dim) if rotated else np.eye(dim)
    labels = np.arange(n_bags) % 2
    return [
        _bag(CHECKS[name], bool(label), shifted, dim, random) @ rotation for label in labels
    ], labels


def _rotation(dim: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(ROTATION_SEED).standard_normal((dim, dim)))[0]


def _bag(
    check: Check, positive: bool, shifted: bool, dim: int, random: np.random.Generator
) -> np.ndarray:
    plan = check.plan(positive, shifted, random)
    ordinary = random.standard_normal((random.integers(*check.size(positive, shifted)), dim))
    planted = [_concept(name, count, dim, random) for name, count in plan.items()]
    return random.permutation(np.concatenate([ordinary, *planted]))


def _concept(name: str, count: int, dim: int, random: np.random.Generator) -> np.ndarray:
    axis, strength = {"A": (0, CONCEPT), "C": (1, CONCEPT), "poison": (2, POISON)}[name]
    centre = np.zeros(dim)
    centre[axis] = strength
    return centre + SPREAD * random.standard_normal((count, dim))


def run_check(
    classifier: Any, name: str, seeds: Sequence[int] = (0, 1, 2), n_bags: int = 400, dim: int = 16,
    rotated: bool = True,
) -> Outcome:
    """Fit a copy of `classifier` for each seed; AUC on fresh bags of both kinds."""
    from sklearn.base import clone
    from sklearn.metrics import roc_auc_score

    require(len(seeds) >= 1, "seeds", seeds, "must hold at least one seed")
    same, shifted = [], []
    for seed in seeds:
        fitted: Any = clone(classifier, safe=False)
        fitted.fit(*draw(name, seed, False, n_bags, dim, rotated))
        for scores, turned in ((same, False), (shifted, True)):
            X, y = draw(name, 100 + seed, turned, n_bags, dim, rotated)
            scores.append(float(roc_auc_score(y, _decide(fitted, X))))
    return Outcome(name, tuple(same), tuple(shifted))


def _decide(fitted: Any, X: Bags) -> np.ndarray:
    if hasattr(fitted, "decision_function"):
        return np.asarray(fitted.decision_function(X))
    return np.asarray(fitted.predict_proba(X))[:, 1]


def check_bag_classifier(
    classifier: Any, names: Iterable[str] = tuple(CHECKS), **options: Any
) -> dict[str, Outcome]:
    """All checks (or those named) by `run_check`; `outcome["single"].verdict` says how it went."""
    return {name: run_check(classifier, name, **options) for name in names}
