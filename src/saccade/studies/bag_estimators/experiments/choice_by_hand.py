"""Choosing and judging beside plain versions of it: held-out losses and the model that they choose,
with scikit-learn's logistic regression in the place of the fits; two gradient steps to the end;
when a model is called better; where weights lie."""

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray
from scipy.stats import t as student
from sklearn.linear_model import LogisticRegression

from saccade.estimators import BagClassifierCV, PooledClassifier, TwoStepAttentionClassifier
from saccade.estimators.fitting import Problem, refit
from saccade.estimators.held_out import HeldOut, Target, is_better
from saccade.estimators.looking import Interval, localisation
from saccade.lab.experiment import experiment
from saccade.studies.bag_estimators.experiments.by_hand import (
    Drawn,
    draw,
    query_of,
    shares_of,
    standardising,
)
from saccade.studies.bag_estimators.task import generator

COUNT, FOLDS, RIDGES, SHARP = 36, 3, (1.0, 0.2, 0.02), 1.7
PARTS = (
    "held-out losses", "chosen model", "each setting", "two steps", "best loss", "better",
    "localisation", "weighted classes", "best of pooling", "flat rows")
STIFF = (30.0, 20.0)
Features = Callable[[np.ndarray], np.ndarray]


def balanced(drawn: Drawn) -> Drawn:
    """With shares that give each class half."""
    y, weight = drawn.target.y, drawn.weight
    share = [one / (2 * weight[y == side].sum()) for one, side in zip(weight, y, strict=True)]
    return drawn._replace(target=Target(y, np.array(share)))


def _some(drawn: Drawn, inside: np.ndarray) -> Drawn:
    """The listed bags of a fold, with shares that sum to one; `bags` are left as they are."""
    y, share = drawn.target.y[inside], drawn.target.share[inside]
    listed = [one for one, keep in zip(drawn.listed, inside, strict=True) if keep]
    return Drawn(drawn.bags, listed, Target(y, share / share.sum()), drawn.weight[inside])


def _fitted(drawn: Drawn, features: Features, ridge: float) -> Callable[[np.ndarray], float]:
    """F of a bag's standardised tokens, by logistic regression on standardised features of them."""
    standard = standardising(drawn)
    table = np.array([features(standard(x)) for _, x in drawn.listed])
    mean = np.average(table, axis=0, weights=drawn.weight)
    deviation = np.sqrt(np.average((table - mean) ** 2, axis=0, weights=drawn.weight))
    peer = LogisticRegression(C=1 / ridge, solver="newton-cholesky", tol=1e-11, max_iter=200)
    peer.fit((table - mean) / deviation, drawn.target.y, drawn.target.share)
    slope, first = np.asarray(peer.coef_)[0], float(np.asarray(peer.intercept_)[0])
    return lambda x: first + float(slope @ ((features(standard(x)) - mean) / deviation))


def _mean(T: np.ndarray) -> np.ndarray:
    return T.mean(axis=0)


def _held_out(
    drawn: Drawn, fold: np.ndarray, factor: float, ridges: tuple[float, ...] = RIDGES
) -> np.ndarray:
    """The mean loss of each ridge times `factor`, bags by their share."""
    total = np.zeros(len(ridges))
    for place, ridge in enumerate(ridges):
        for number in range(FOLDS):
            F = _fitted(_some(drawn, fold != number), _mean, factor * ridge)
            for at in np.flatnonzero(fold == number):
                y, share = drawn.target.y[at], drawn.target.share[at]
                total[place] += share * np.log1p(np.exp(-y * F(drawn.listed[at][1])))
    return total / drawn.target.share.sum()


FOLD = np.arange(COUNT) % FOLDS
CUTS: Any = [(np.flatnonzero(k != FOLD), np.flatnonzero(k == FOLD)) for k in range(FOLDS)]


def _pooling(drawn: Drawn, fresh: Drawn, factor: float) -> tuple[float, float, float]:
    """How far held-out losses, the chosen model, and models of each setting are from those by
    hand."""
    model = PooledClassifier(ridges=RIDGES, cv=CUTS)
    model.fit(drawn.bags, drawn.target.y, sample_weight=drawn.weight)
    losses = _held_out(drawn, FOLD, factor)
    F = _fitted(drawn, _mean, factor * RIDGES[int(np.argmin(losses))])
    said = [F(x) for _, x in fresh.listed]
    problem = Problem(drawn.bags, drawn.weight, [drawn.target] * len(RIDGES))
    order = np.arange(len(RIDGES))[::-1]
    settings = [
        np.abs(one.model.decision(fresh.bags) - [G(x) for _, x in fresh.listed]).max()
        for one, G in zip(
            refit(model, problem, order),
            (_fitted(drawn, _mean, factor * RIDGES[at]) for at in order), strict=True)]
    return (
        float(np.abs(model.cv_losses_[0] - losses).max()),
        float(np.abs(model.decision_function(fresh.bags) - said).max()), float(max(settings)))


def _two_steps(drawn: Drawn, fresh: Drawn, factor: float) -> float:
    model = TwoStepAttentionClassifier(sharpness=(SHARP,), ridges=(RIDGES[1],))
    model.fit(drawn.bags, drawn.target.y, sample_weight=drawn.weight)
    query = SHARP * query_of(drawn, 0.5)
    F = _fitted(drawn, lambda T: shares_of(T @ query) @ T, factor * RIDGES[1])
    return float(
        np.abs(model.decision_function(fresh.bags) - [F(x) for _, x in fresh.listed]).max())


def _weighted_classes(drawn: Drawn, fresh: Drawn, factor: float) -> float:
    """How far a fit with three times the weight on one class is from that by hand."""
    threefold: Any = {-1.0: 1.0, 1.0: 3.0}
    model = PooledClassifier(ridges=(RIDGES[1],), class_weight=threefold)
    model.fit(drawn.bags, drawn.target.y, sample_weight=drawn.weight)
    y = drawn.target.y
    share = drawn.weight * np.where(y > 0, 3.0, 1.0)
    F = _fitted(drawn._replace(target=Target(y, share / share.sum())), _mean, factor * RIDGES[1])
    return float(
        np.abs(model.decision_function(fresh.bags) - [F(x) for _, x in fresh.listed]).max())


def _best_of_pooling(drawn: Drawn, factor: float) -> float:
    """How far the loss to which a choice is compared is from the smallest of two poolings', the
    second of which is hardly fitted."""
    model = BagClassifierCV(
        [("soft", PooledClassifier(ridges=RIDGES)), ("stiff", PooledClassifier(ridges=STIFF))],
        cv=CUTS)
    model.fit(drawn.bags, drawn.target.y, sample_weight=drawn.weight)
    losses = [_held_out(drawn, FOLD, factor, ridges).min() for ridges in (RIDGES, STIFF)]
    return abs(model.pooling_loss_ - min(losses))


def _flat_rows(random: np.random.Generator, by_feature: bool) -> float:
    """How far a fit to rows, token after token (by hand feature after feature, if `by_feature`), is
    from one to the list of their bags."""
    listed = [random.standard_normal((4, 3)) * [1.0, 2.0, 0.5] for _ in range(COUNT)]
    rows = [[number for token in bag for number in token] for bag in listed]
    shown = [np.reshape(row, (3, 4)).T for row in rows] if by_feature else listed
    y = np.where(np.arange(COUNT) % 3 == 0, 1.0, -1.0)
    by_rows = PooledClassifier("all", ridges=(RIDGES[1],), n_tokens=4).fit(rows, y)
    by_bags = PooledClassifier("all", ridges=(RIDGES[1],)).fit(shown, y)
    return float(np.abs(by_rows.decision_function(rows) - by_bags.decision_function(shown)).max())


def _better(random: np.random.Generator, errors: float, twice: int) -> tuple[float, float]:
    """How far the best of three settings' losses is from that by hand, and how often it is called
    otherwise whether another model lost more, by so many standard errors of a weighted mean. Two
    targets have settings and shares of their own, in turn nearly alike and very unequal; the first
    four bags are held out twice and lose thrice as much then; by hand they count `twice`."""
    apart, otherwise = [], []
    first_four = np.arange(COUNT) < 4
    for number in range(120):
        share = random.dirichlet(np.full(COUNT, 3.0 if number % 2 else 0.2), 2)
        losses = random.uniform(0.2, 1.4, (2, 2, 3, COUNT))
        losses[1] += random.uniform(0.3, 3.3) * 0.5 * np.sqrt(np.sum(share.mean(axis=0) ** 2))
        made = [HeldOut([Target(np.ones(COUNT), one) for one in share], 3) for _ in losses]
        for one, tables in zip(made, losses, strict=True):
            for row, table in enumerate(tables):
                one.add(row, np.arange(COUNT), table)
                one.add(row, np.arange(4), 3 * table[:, :4])
        shown, counted = losses * np.where(first_four, 2, 1), np.where(first_four, twice, 1)
        means = (shown * (share * counted)[:, None]).sum(axis=3) / (share @ counted)[:, None]
        first, second = (
            np.array([rows[np.argmin(mean)] for rows, mean in zip(*pair, strict=True)])
            for pair in zip(shown, means, strict=True))
        apart.append(abs(made[0].loss() - means[0].min(axis=1).mean()))
        gain = np.mean([one @ gap for one, gap in zip(share, second - first, strict=True)])
        own = [np.mean(share[:, i] * (second - first - gain)[:, i]) for i in range(COUNT)]
        spread = np.sum(np.square(own)) * COUNT / (COUNT - 1)
        otherwise.append(is_better(*made) != (gain > errors * np.sqrt(spread)))
    return max(apart), float(np.mean(otherwise))


def _ends(values: np.ndarray) -> list[float]:
    """The mean and its 95 % interval inside [0, 1]."""
    error = values.std(ddof=1) / np.sqrt(len(values))
    low, high = student.interval(0.95, len(values) - 1, values.mean(), error)
    return [float(values.mean()), max(0.0, float(low)), min(1.0, float(high))]


def _located(random: np.random.Generator, tie: float) -> float:
    """How far localisation is from loops over pairs of tokens, in which a tie counts `tie`."""
    weights = [random.integers(0, 4, 6) / 6.0 for _ in range(COUNT)]
    where = [random.random(6) < 0.4 for _ in range(COUNT)]
    areas, hits, chances = [], [], []
    for row, marks in zip(weights, where, strict=True):
        if marks.all() or not marks.any():
            continue
        pairs = [(a, b) for a in row[marks] for b in row[~marks]]
        areas.append(np.mean([1.0 if a > b else tie if a == b else 0.0 for a, b in pairs]))
        hits.append(np.mean(marks[row == max(row)]))
        chances.append(np.mean(marks))
    found = localisation(weights, where)
    by_hand = [*_ends(np.array(areas)), *_ends(np.array(hits)), np.mean(chances), len(areas)]
    said = [*Interval(*found.auroc), *Interval(*found.hit), found.chance, found.bags]
    return float(np.abs(np.subtract(said, by_hand)).max())


@experiment("bag-estimators.choice-by-hand")
def choice_by_hand(
    key: Any, *, ridge_factor: float = 1.0, errors: float = 2.0, tie: float = 0.5, twice: int = 2,
    by_feature: bool = False,
) -> xarray.Dataset:
    """The differences of PARTS; by hand ridges are `ridge_factor` times as large, `errors` standard
    errors make a difference, a tie counts `tie`, what is held out twice counts `twice`, and rows
    are read feature after feature (`by_feature`)."""
    random = generator(key)
    drawn, fresh = balanced(draw(random, True, COUNT)), draw(random, True)
    off = [
        *_pooling(drawn, fresh, ridge_factor), _two_steps(drawn, fresh, ridge_factor),
        *_better(random, errors, twice), _located(random, tie),
        _weighted_classes(drawn, fresh, ridge_factor), _best_of_pooling(drawn, ridge_factor),
        _flat_rows(random, by_feature)]
    return xarray.Dataset({"off": ("part", np.array(off))}, {"part": list(PARTS)})
