"""What fitted estimators say beside what it is made of: several classes, another positive class,
numbers in other units, groups that are kept."""

from typing import Any

import numpy as np
import xarray
from scipy.special import expit

from saccade.estimators import AttentionRegressor, GroupAttentionClassifier, LogMeanExpClassifier
from saccade.lab.experiment import experiment
from saccade.studies.bag_estimators.experiments.by_hand import draw
from saccade.studies.bag_estimators.task import generator

COUNT, RIDGES = 36, (0.1,)
PARTS = ("probabilities", "attention", "other positive", "units of y", "kept groups")


@experiment("bag-estimators.classes-by-hand")
def classes_by_hand(key: Any, *, otherwise: bool = False, freeze: bool = True) -> xarray.Dataset:
    """The differences of PARTS. By hand, `otherwise`: softmax of the decisions, the attention of
    the last class, decisions that are not turned round, and numbers larger by a hundredth; groups
    are fine-tuned with `freeze`."""
    random = generator(key)
    drawn, fresh = draw(random, True, COUNT), draw(random, True)
    several = LogMeanExpClassifier(ridges=RIDGES).fit(drawn.bags, np.arange(COUNT) % 3)
    F = several.decision_function(fresh.bags)
    chances = np.exp(F) if otherwise else expit(F)
    weights = np.stack([model.attention(fresh.bags) for model in several.models_])
    class_of = np.full(len(F), 2) if otherwise else F.argmax(axis=1)
    own = weights[np.repeat(class_of, fresh.bags.lengths), np.arange(weights.shape[1])]
    y = drawn.target.y
    turned, plain = (
        LogMeanExpClassifier(ridges=RIDGES, positive=positive).fit(drawn.bags, labels)
        for positive, labels in ((-1.0, y), (None, -y)))
    sign = 1 if otherwise else -1
    numbers = random.standard_normal(COUNT)
    once: Any = {"ridges": RIDGES, "n_starts": 0}
    small, large = (
        AttentionRegressor(**once).fit(drawn.bags, values).predict(fresh.bags)
        for values in (numbers, 2.5 * numbers + 4))
    groups = GroupAttentionClassifier(ridges=RIDGES).fit(drawn.bags, y)
    before = groups.group_scores_
    pairs = (
        (several.predict_proba(fresh.bags), chances / chances.sum(axis=1)[:, None]),
        (np.concatenate(several.attention(fresh.bags)), own),
        (turned.decision_function(fresh.bags), sign * plain.decision_function(fresh.bags)),
        (large, (2.5 * small + 4) * (1.01 if otherwise else 1)),
        (groups.fine_tune(drawn.bags, np.sign(numbers), freeze=freeze).group_scores_, before))
    off = [np.abs(np.subtract(*pair)).max() for pair in pairs]
    return xarray.Dataset({"off": ("part", np.array(off))}, {"part": list(PARTS)})
