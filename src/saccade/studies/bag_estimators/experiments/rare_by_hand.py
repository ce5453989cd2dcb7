"""Rarer parts of the estimators beside plain versions: what advice compares and recommends,
weighted mixtures, sparse recovery under masks, truths of the generators, starts, and what is chosen
or said where little was judged."""

import warnings
from itertools import product
from typing import Any

import numpy as np
import xarray
from scipy.stats import t
from sklearn.linear_model import Lasso
from sklearn.model_selection import RepeatedStratifiedKFold

from saccade.estimators import (
    EvidenceClassifier,
    LogMeanExpClassifier,
    PatchAssociationClassifier,
    PooledClassifier,
    SparseRecovery,
    TwoStepAttentionClassifier,
    make_group_bags,
    make_patch_bags,
    make_single_location_bags,
    make_sparse_token_bags,
)
from saccade.estimators.advise.advice import recommend
from saccade.estimators.advise.comparing import Comparison, compare
from saccade.estimators.advise.signal import climb
from saccade.estimators.heads import LogMeanExp
from saccade.estimators.held_out import HeldOut, Target
from saccade.estimators.objective import Data, Objective
from saccade.estimators.patch_layer import Layer, PatchModel
from saccade.lab.experiment import experiment
from saccade.studies.bag_estimators.experiments.by_hand import DIM, PLACES, Drawn, draw, shares_of
from saccade.studies.bag_estimators.experiments.choice_by_hand import balanced
from saccade.studies.bag_estimators.task import generator

COUNT = 36
PARTS = (
    "compared folds", "recommendation", "bags to tell", "weighted mixture", "masked recovery",
    "gap of one matrix", "made truths", "radius of prototypes", "association", "no better",
    "nothing judged")


def _compared(drawn: Drawn, folds: int) -> float:
    """How far areas, errors and the ratio of test to training bags are from those of mean pooling
    fold by fold, the ratio by hand of so many `folds`."""
    inside = drawn.target.y > 0
    found, off = compare(drawn.bags, inside, ["mean"], 3, 2, 4), []
    splits = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=4)
    for number, (train, test) in enumerate(splits.split(inside, inside)):
        model = PooledClassifier().fit(drawn.bags.take(train), inside[train])
        F, y = model.decision_function(drawn.bags.take(test)), inside[test]
        area = np.mean([a > b for a in F[y] for b in F[~y]])
        missed = (np.mean(F[y] <= 0) + np.mean(F[~y] > 0)) / 2
        off += [found.auc["mean"][number] - area, found.error["mean"][number] - missed]
    return float(np.abs([*off, found.ratio - 1 / (folds - 1)]).max())


def _recommended(random: np.random.Generator, pairs: int) -> tuple[float, float]:
    """How often a recommendation is another than by hand, at a level shared among so many `pairs`
    of what looks and what pools; and how far the bags it asks for are off, over their number."""
    wrong, off = [], [0.0]
    for _ in range(60):
        shift: dict[str, float] = dict(
            zip(("lme", "attention"), random.uniform(-0.06, 0.1, 2), strict=True))
        auc = {
            name: 0.75 + shift.get(name, 0.0) + 0.02 * random.standard_normal(10)
            for name in ("mean", "all", "lme", "attention")}
        seconds = dict.fromkeys(auc, 1.0)
        made = recommend(200, Comparison(auc, auc, seconds, 0.25))
        means = {name: float(values.mean()) for name, values in auc.items()}
        look, pool = (
            max(names, key=lambda name: means[name])
            for names in (("lme", "attention"), ("mean", "all")))
        gap = auc[look] - auc[pool]
        half = t.isf(0.025 / pairs, 9) * gap.std(ddof=1) * np.sqrt(1 / 10 + 0.25)
        told = abs(gap.mean()) > half
        choice = look if told and gap.mean() > 0 else pool
        wrong.append((made.choice, made.told) != (choice, told))
        if " about " in made.reason and not told:
            said = float(made.reason.split(" about ")[1].split()[0].replace(",", ""))
            off.append(abs(said / (200 * (half / gap.mean()) ** 2) - 1))
    return float(np.mean(wrong)), float(max(off))


def _mixture(random: np.random.Generator, more: int) -> float:
    """How far three steps on tokens with weights 1, 2 and 3 are from those on as many copies, and
    `more` of each."""
    z, counts = random.standard_normal((30, 3)) + 0.5, np.arange(30) % 3 + 1
    start = random.standard_normal(3)
    weighted = climb(z, counts.astype(float), 0.2, start, 3)
    copied = np.repeat(z, counts + more, axis=0)
    plain = climb(copied, np.ones(len(copied)), 0.2, start, 3)
    return float(np.abs([
        weighted.share - plain.share, weighted.gain - plain.gain,
        *(weighted.shift - plain.shift)]).max())


def _recovered(random: np.random.Generator, alpha: float) -> tuple[float, float]:
    """How far problems with hidden measurements, as an array and as rows, are from scikit-learn's
    LASSO without an intercept; and gaps of one matrix after two steps from objective less dual."""
    X, y = random.standard_normal((3, 8, 4)) + 0.3, random.standard_normal((3, 8)) + 1
    mask, fresh = random.random((3, 8)) < 0.8, random.standard_normal((3, 8, 4))
    mask[:, :4] = True
    peers = [
        Lasso(alpha=alpha, fit_intercept=False, tol=1e-14, max_iter=100_000).fit(x[m], v[m])
        for x, v, m in zip(X, y, mask, strict=True)]
    said = np.array([peer.predict(x) for peer, x in zip(peers, fresh, strict=True)]) * mask
    kinds: Any = (({}, X, fresh), ({"n_tokens": 8}, X.reshape(3, -1), fresh.reshape(3, -1)))
    off = []
    for more, table, other in kinds:
        model = SparseRecovery(0.07, tol=1e-13, **more).fit(table, y, mask=mask)
        off.append(np.abs(model.predict(other, mask=mask) - said).max())
    model = SparseRecovery(0.07, 2, fit_intercept=True).fit(X[0], y.T)
    A, gaps = X[0] - X[0].mean(axis=0), []
    for values, b in zip(y - y.mean(axis=1)[:, None], model.coef_, strict=True):
        r = values - A @ b
        s = r * min(1.0, alpha * 8 / np.abs(A.T @ r).max())
        gaps.append((r @ r + (values - s) @ (values - s) - values @ values) / 16)
        gaps[-1] += alpha * np.abs(b).sum()
    return float(max(off)), float(np.abs(np.subtract(model.dual_gap_, gaps)).max())


def _truths(random: np.random.Generator, on: int) -> float:
    """The share of marks that are not what the labels were made from, or of another bag `on`
    further."""
    axis = np.array([0.3, -1.0, 0.0, 0.5])
    X, y, where = make_group_bags(50, 5, 4, 1, axis, random_state=random)
    wrong = [(X[where] @ axis > 0) != np.roll(y, on)]
    X, y, where = make_patch_bags(50, (0, 0, 1, 2), 4, 0.3, random_state=random)
    wrong += [(X[:, :, 0] != np.roll(y, on)[:, None]) & where, where.sum(axis=1) < 1]
    X, numbers, where = make_single_location_bags(50, 5, 4, 0.5, 0.0, random_state=random)
    wrong.append(X[where][:, 1] != np.roll(numbers, on))
    X, y, where = make_sparse_token_bags(50, 5, 4, 2, random_state=random)
    wrong.append(where.sum(axis=1) != 2 * np.roll(y, on))
    return float(max(np.mean(one) for one in wrong))


def _said(drawn: Drawn, random: np.random.Generator, other: float) -> tuple[float, ...]:
    """How far prototypes are from the length asked for, association from softmax of the rows of A,
    and what is called no better, or chosen where nothing could be judged, from what is said; by
    hand lengths and rows are larger by `other`, sharpnesses not 0 and the setting another."""
    objective = Objective(Data(drawn.bags, drawn.weight), *drawn.target, LogMeanExp(2))
    starts = EvidenceClassifier(radius=3.0, n_prototypes=3)._prototypes(objective, random)
    heads = np.array([objective.parts(one)[1] for one in starts])
    lengths = np.linalg.norm(heads, axis=2) - 3 * (1 + other)
    patches, A = PatchAssociationClassifier(), random.standard_normal((PLACES, PLACES))
    patches.models_ = [PatchModel(Layer(3, 0.2), 0.0, A, np.zeros(DIM), 0.0)]
    rows = [shares_of((1 + other) * row) for row in A]
    steps, wrong = TwoStepAttentionClassifier(), []
    for sharp in product((0.0, 2.0), repeat=2):
        steps.better_than_pooling_ = True
        steps._keep([], [(one, 0.1) for one in sharp])
        wrong.append(steps.better_than_pooling_ == (max(sharp) + other == 0))
    ridges, few = (
        (0.3, 0.2, 0.1, 0.05, 0.02), (np.arange(4 * PLACES * DIM) / 9).reshape(4, PLACES, DIM))
    alone = LogMeanExpClassifier(ridges=ridges, max_iter=5).fit(np.sin(few), [0, 1, 1, 1])
    held = HeldOut([Target(np.ones(3), np.ones(3) / 3)], 4)
    middle = [alone.chosen_[0] - ridges[2 if other == 0 else 3], held.best()[0] - 2]
    return (
        float(np.abs(lengths).max()), float(np.abs(patches.association_ - rows).max()),
        float(np.mean(wrong)), float(np.abs(middle).max()))


@experiment("bag-estimators.rare-by-hand")
def rare_by_hand(
    key: Any, *, folds: int = 3, pairs: int = 4, alpha: float = 0.07, on: int = 0,
    other: float = 0.0,
) -> xarray.Dataset:
    """The differences of PARTS. By hand the ratio is that of so many `folds`, the level is shared
    among so many `pairs`, the penalty is `alpha`, truths are those of the bag `on` further and
    copies more by that, and lengths, rows and settings are `other` ones."""
    random = generator(key)
    drawn = balanced(draw(random, True, COUNT))
    with warnings.catch_warnings():  # of few steps
        warnings.simplefilter("ignore", UserWarning)
        off = [
            _compared(drawn, folds), *_recommended(random, pairs), _mixture(random, on),
            *_recovered(random, alpha), _truths(random, on), *_said(drawn, random, other)]
    return xarray.Dataset({"off": ("part", np.array(off))}, {"part": list(PARTS)})
