"""Fitted estimators beside plain versions of them, on weighted bags of different lengths: that they
stand at a minimum of J, say F at their own parameters, and that bags taken keep their places."""

from typing import Any

import numpy as np
import xarray

from saccade.estimators import (
    AttentionClassifier,
    AttentionRegressor,
    EvidenceClassifier,
    GroupAttentionClassifier,
    LogMeanExpClassifier,
)
from saccade.estimators.bags import Bags
from saccade.estimators.held_out import Target
from saccade.lab.experiment import experiment
from saccade.studies.bag_estimators.experiments import by_hand
from saccade.studies.bag_estimators.experiments.by_hand import (
    RATIO,
    RIDGE,
    Drawn,
    Plain,
    draw,
    standardising,
)
from saccade.studies.bag_estimators.experiments.choice_by_hand import balanced
from saccade.studies.bag_estimators.task import generator

COUNT, SHARP = 36, 1.6
PARTS = ("slopes", "decisions", "attention", "predicted numbers", "tokens taken", "places taken")
ONCE: Any = {"ridges": (RIDGE,), "max_iter": 500}


def _classifiers(drawn: Drawn) -> list[tuple[Any, Plain]]:
    """Estimators at one ridge, each with the same written out."""
    few: Any = {"n_starts": 2, "n_prototypes": 1, "radius": 2.0}
    statistics = by_hand.statistics_of(drawn)
    return [
        (LogMeanExpClassifier(SHARP, **ONCE), by_hand.log_mean_exp(SHARP, True, 1)),
        (EvidenceClassifier(2, SHARP, **few, **ONCE), by_hand.log_mean_exp(SHARP, False)),
        (
            EvidenceClassifier(2, SHARP, normalise=True, **few, **ONCE),
            by_hand.log_mean_exp(SHARP, True)),
        (
            AttentionClassifier(2, "all", query_ridge_ratio=RATIO, **ONCE),
            by_hand.softmax(statistics)),
        (GroupAttentionClassifier(score_ridge_ratio=RATIO, **ONCE), by_hand.groups())]


def _parameters(model: Any, drawn: Drawn) -> np.ndarray:
    """theta of standardised tokens from a model in the units of the tokens."""
    standard = standardising(drawn)
    mean = -standard(np.zeros(by_hand.DIM))
    inverse = standard(np.ones(by_hand.DIM)) + mean
    if hasattr(model, "scores"):
        v = model.value / inverse
        return np.concatenate([[model.intercept + v @ mean], model.scores, v])
    W = model.weights / inverse
    return np.concatenate([[model.intercept], W.ravel(), model.coefficients])


def _against(
    model: Any, plain: Plain, drawn: Drawn, fresh: Drawn, ridge: float, moved: float
) -> list[float]:
    """The steepest slope of J, and how far F and weights are from those by hand, at the model's
    parameters, by hand larger by `moved` of their size."""
    theta, standard = _parameters(model, drawn), standardising(drawn)
    by_theta = (1 + moved) * theta

    def J(at: np.ndarray) -> float:
        return by_hand.objective(at, drawn, plain, ridge)

    said = [plain.says(by_theta, places, standard(x)) for places, x in fresh.listed]
    weights = [plain.weighs(by_theta, places, standard(x)) for places, x in fresh.listed]
    return [
        float(np.abs(by_hand.slopes(J, theta)).max()),
        float(np.abs(model.decision(fresh.bags) - said).max()),
        float(np.abs(model.attention(fresh.bags) - np.concatenate(weights)).max())]


def _numbers(drawn: Drawn, fresh: Drawn, ridge: float, moved: float) -> tuple[list[float], float]:
    """Of attention for numbers: as above, for weighted targets of mean 0 and deviation 1; and how
    far what is predicted is from F in the units of y."""
    model = AttentionRegressor(2, query_ridge_ratio=RATIO, **(ONCE | {"n_starts": 0}))
    y, share = 2.5 * drawn.target.y + 4, drawn.weight / drawn.weight.sum()
    model.fit(drawn.bags, y, sample_weight=drawn.weight)
    mean = sum(share * y)
    deviation = np.sqrt(sum(share * (y - mean) ** 2))
    scaled = drawn._replace(target=Target((y - mean) / deviation, share))
    fitted: Any = model.models_[0]
    plain = by_hand.softmax()
    off = _against(fitted, plain, scaled, fresh, ridge, moved)
    standard, theta = standardising(drawn), (1 + moved) * _parameters(fitted, drawn)
    said = [mean + deviation * plain.says(theta, places, standard(x)) for places, x in fresh.listed]
    return off, float(np.abs(model.predict(fresh.bags) - said).max())


def _taken(random: np.random.Generator, on: int) -> tuple[float, float]:
    """How far tokens and places of chosen bags are from those of the bags `on` further; bags that
    differ in length, and such that have one token less than there are places."""
    drawn = draw(random, True)
    X, missing = random.standard_normal((9, 4, 3)), np.arange(9) % 4
    here = np.arange(4) != missing[:, None]
    equal = [(np.flatnonzero(row), x[row]) for x, row in zip(X, here, strict=True)]
    rows, off = np.array([4, 0, 7, 7, 2]), []
    for bags, listed in ((drawn.bags, drawn.listed), (Bags.from_array(X, here), equal)):
        for some, order in ((bags.take(rows), rows), (bags[2:7], np.arange(2, 7))):
            wanted = [listed[(at + on) % 9] for at in order]
            off.append([
                _apart(np.concatenate([x for _, x in wanted]), some.tokens),
                _apart(np.concatenate([places for places, _ in wanted]), some.places)])
    tokens, places = np.max(off, axis=0)
    return float(tokens), float(places)


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    """The largest difference; 1 where there are not as many."""
    return float(np.abs(one - other).max()) if one.shape == other.shape else 1.0


@experiment("bag-estimators.fits-by-hand")
def fits_by_hand(
    key: Any, *, ridge_by_hand: float = RIDGE, moved: float = 0.0, on: int = 0
) -> xarray.Dataset:
    """The differences of PARTS, the largest over estimators; by hand the ridge is `ridge_by_hand`,
    parameters are larger by `moved` of their size, and bags are those `on` further."""
    random = generator(key)
    drawn, fresh = balanced(draw(random, True, COUNT)), draw(random, True)
    rows = []
    for estimator, plain in _classifiers(drawn):
        estimator.fit(drawn.bags, drawn.target.y, sample_weight=drawn.weight)
        rows.append(_against(estimator.models_[0], plain, drawn, fresh, ridge_by_hand, moved))
    row, predicted = _numbers(draw(random, False, COUNT), fresh, ridge_by_hand, moved)
    off = [*np.max([*rows, row], axis=0), predicted, *_taken(random, on)]
    return xarray.Dataset({"off": ("part", np.array(off))}, {"part": list(PARTS)})
