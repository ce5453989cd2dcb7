"""Options, forms of data and rarer paths of the estimators, beside plain versions: what is read
from tables and under masks, folds, classes, numbers held out, long bags, tokens in single
precision, defaults."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import xarray
from scipy.special import expit
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, StratifiedKFold

from saccade import estimators
from saccade.estimators import (
    AttentionClassifier,
    AttentionRegressor,
    BagClassifierCV,
    GroupAttentionClassifier,
    LogMeanExpClassifier,
    PooledClassifier,
    TwoStepAttentionClassifier,
    from_long,
    from_series,
    localisation,
    transpose,
)
from saccade.estimators.bags import Bags
from saccade.estimators.fitting import POOLED_RIDGES
from saccade.estimators.group import GroupObjective
from saccade.estimators.heads import LogMeanExp, Softmax
from saccade.estimators.held_out import Target
from saccade.estimators.objective import Data, Objective, logistic
from saccade.estimators.selection import CANDIDATES
from saccade.estimators.two_step import attend
from saccade.lab.experiment import experiment
from saccade.studies.bag_estimators.experiments import by_hand
from saccade.studies.bag_estimators.experiments.by_hand import (
    DIM,
    PLACES,
    RATIO,
    Drawn,
    draw,
    shares_of,
    standardising,
)
from saccade.studies.bag_estimators.experiments.choice_by_hand import COUNT, CUTS, FOLD, balanced
from saccade.studies.bag_estimators.experiments.choice_by_hand import _fitted as logistic_by_hand
from saccade.studies.bag_estimators.task import generator

PARTS = (
    "read-outs", "masks", "tables and series", "two classes", "no weights of classes", "folds",
    "numbers held out", "choice", "constants", "long bags", "single precision", "defaults")
SHARP = 1.6
ONCE: Any = {"ridges": (0.1,), "max_iter": 20}
DEFAULTS: dict[str, dict[str, Any]] = {
    "PooledClassifier": {
        "statistics": "mean", "ridges": (10, 3, 1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 1e-4)},
    "LogMeanExpClassifier": {
        "sharpness": 1, "ridges": (0.3, 0.1, 0.03, 0.01, 0.003), "max_iter": 100},
    "AttentionClassifier": {
        "n_heads": 4, "pooled": None, "ridges": (0.3, 0.1, 0.03, 0.01, 0.003),
        "query_ridge_ratio": 1, "max_iter": 50},
    "AttentionRegressor": {
        "n_heads": 1, "pooled": None, "ridges": (0.3, 0.1, 0.03, 0.01, 0.003, 0.001),
        "query_ridge_ratio": 1, "max_iter": 100},
    "EvidenceClassifier": {
        "n_heads": 2, "sharpness": 4, "n_starts": 16, "radius": 6, "screen": 20, "keep": 3,
        "max_iter": 150, "ridges": (0.3, 0.1, 0.03, 0.01, 0.003)},
    "TwoStepAttentionClassifier": {
        "sharpness": (0, 0.5, 1, 2, 4, 8), "ridges": (1, 0.1, 0.01, 0.001)},
    "BagClassifierCV": {"candidates": ("mean", "all", "lme", "mlme2", "att4", "attall")}}
COMMON = {"class_weight": "balanced", "cv": 3, "random_state": 0}
NAMED: dict[str, dict[str, Any]] = {
    "mean": {"statistics": "mean"}, "all": {"statistics": "all"}, "lme": {"sharpness": 1},
    "mlme2": {
        "n_heads": 2, "sharpness": 1, "n_starts": 1, "normalise": True, "n_prototypes": 0,
        "radius": 0.3},
    "ev2": {"n_heads": 2, "sharpness": 4, "normalise": False}, "att": {"n_heads": 1},
    "att4": {"n_heads": 4, "pooled": None}, "attall": {"n_heads": 1, "pooled": "all"}}


def _level(values: Any) -> np.ndarray:
    """Without the first one's: an intercept is not read off."""
    return np.asarray(values) - values[0]


def _read_outs(drawn: Drawn, fresh: Drawn, larger: float) -> float:
    """How far decisions are from those of queries and values, `larger` by hand, in the units of the
    tokens, up to an intercept."""
    y = np.arange(COUNT) % 3
    heads = AttentionClassifier(2, **ONCE).fit(drawn.bags, y)
    tied = LogMeanExpClassifier(SHARP, **ONCE).fit(drawn.bags, y)
    steps = TwoStepAttentionClassifier((SHARP,), (0.1,)).fit(drawn.bags, y)
    groups = GroupAttentionClassifier(**ONCE).fit(drawn.bags, drawn.target.y)
    tokens, off = [x for _, x in fresh.listed], []
    for number in range(3):
        pairs = list(zip(heads.query_[number], larger * heads.coef_[number], strict=True))
        q, w, v = steps.query_[number], larger * steps.coef_[number], larger * tied.coef_[number]
        for model, said in (
            (heads, [sum(shares_of(x @ q) @ (x @ w) for q, w in pairs) for x in tokens]),
            (tied, [np.log(np.mean(np.exp(SHARP * x @ v))) / SHARP for x in tokens]),
            (steps, [shares_of(x @ q) @ (x @ w) for x in tokens]),
        ):
            off.append(_level(model.decision_function(fresh.bags)[:, number]) - _level(said))
    whole = np.random.default_rng(0).standard_normal((9, PLACES, DIM))
    said = [groups.group_scores_ @ (x @ groups.coef_[0] * larger) for x in whole]
    off.append(_level(groups.decision_function(whole)) - _level(said))
    return float(np.abs(off).max())


def _masked(random: np.random.Generator, counted: bool) -> float:
    """How far attention and its localisation are from those by hand: of an array, a list and rows,
    each with a mask that hides other numbers (by hand they are `counted`)."""
    X, mask = random.standard_normal((COUNT, PLACES, DIM)), random.random((COUNT, PLACES)) < 0.7
    mask[:, 1] = True
    hidden = np.where(mask[:, :, None], X, np.nan)
    forms: Any = (
        (hidden, {}), (hidden.reshape(COUNT, -1), {"n_tokens": PLACES}), (list(hidden), {}))
    where, off = random.random((COUNT, PLACES)) < 0.4, []
    y = (X[:, 1, 0] > 0).astype(int)
    for form, more in forms:
        model = LogMeanExpClassifier(SHARP, **ONCE, **more).fit(form, y, mask=mask)
        here = np.ones_like(mask) if counted else mask
        weights = np.zeros((COUNT, PLACES))
        for row, x, there in zip(weights, X, here, strict=True):
            row[there] = shares_of(SHARP * x[there] @ model.coef_[0])
        off.append(np.abs(np.array(model.attention(form, mask)) - weights).max())
        by_hand_ = [row[there] for row, there in zip(weights, here, strict=True)]
        marks = [row[there] for row, there in zip(where, here, strict=True)]
        found = model.localisation_score(form, where, mask=mask)
        known = localisation(by_hand_, marks)
        off.append(np.abs(np.subtract([*found.auroc, found.chance], [*known.auroc, known.chance])))
    return float(max(np.max(one) for one in off))


def _tables(random: np.random.Generator, sorted_: bool) -> float:
    """How many numbers of mixed rows and of series are not where they belong; by hand rows stand
    together as they are (`sorted_`), and channels are times."""
    owner = random.permutation(np.repeat([4, 1, 3], [3, 2, 4]))
    rows = random.standard_normal((9, 2))
    table = pd.DataFrame({"of": owner, "u": rows[:, 0], "ill": owner * 10, "v": rows[:, 1]})
    bags, y, ids = from_long(table, "of", "ill")
    chosen, _ = from_long(table, "of", features=["v"])
    order = list(dict.fromkeys(owner.tolist()))
    lengths = [int(np.sum(owner == one)) for one in order]
    flat = rows if sorted_ else np.concatenate([rows[owner == one] for one in order])
    wrong = [
        bags.tokens != flat, bags.lengths != lengths, ids != order, y != 10 * np.array(order),
        chosen.tokens != flat[:, 1:]]
    series = [random.standard_normal((2, length)) for length in (3, 4)]
    equal, mask = random.standard_normal((2, 3, 4)), np.arange(4) < np.array([[3], [4]])
    kept = np.concatenate([equal[0, :, :3].T, equal[1].T])
    ways = (
        (np.concatenate(transpose(series)), np.concatenate([one.T for one in series])),
        (from_series(equal, mask).tokens, kept))
    for made, plain in ways:
        wrong.append(made != (plain[:, ::-1] if sorted_ else plain))
    return float(sum(np.sum(one) for one in wrong))


def _two_classes(drawn: Drawn, fresh: Drawn, turned: bool) -> float:
    """How far labels and chances of either positive class are from those of F > 0 (`turned`: of F
    < 0 by hand)."""
    labels, off = np.where(drawn.target.y > 0, "yes", "no"), []
    for positive in (None, "yes", "no"):
        model = LogMeanExpClassifier(SHARP, positive=positive, **ONCE).fit(drawn.bags, labels)
        F = model.decision_function(fresh.bags) * (-1 if turned else 1)
        model_says = model.models_[0].decision(fresh.bags) * (-1 if turned else 1)
        off += [
            np.abs(F - model_says * (-1 if positive == "no" else 1)).max(),
            np.abs(model.predict_proba(fresh.bags) - np.array([1 - expit(F), expit(F)]).T).max(),
            np.mean(model.predict(fresh.bags) != np.where(F > 0, "yes", "no"))]
    return float(max(off))


def _unweighted(drawn: Drawn, fresh: Drawn, ridge: float) -> float:
    """Without weights of classes a bag counts by its weight."""
    nothing: Any = None
    model = PooledClassifier(ridges=(0.2,), class_weight=nothing)
    model.fit(drawn.bags, drawn.target.y, sample_weight=drawn.weight)
    share = drawn.weight / drawn.weight.sum()
    F = logistic_by_hand(
        drawn._replace(target=Target(drawn.target.y, share)), lambda T: T.mean(axis=0), ridge)
    said = [F(x) for _, x in fresh.listed]
    return float(np.abs(model.decision_function(fresh.bags) - said).max())


def _folds(drawn: Drawn, seed: int) -> float:
    """How far held-out losses of folds by number are from those of scikit-learn's folds, no more
    than the smaller class has bags; and of plain ones for numbers."""
    labels = np.where(np.arange(COUNT) < 4, 1, 0)
    numbers, empty = drawn.target.y * drawn.weight, np.zeros((COUNT, 1))
    usual: Any = {"ridges": (0.3, 0.05), "max_iter": 5, "random_state": 7}
    pairs: Any = (
        (LogMeanExpClassifier, labels, 6, StratifiedKFold(4, shuffle=True, random_state=seed), {}),
        (
            AttentionRegressor, numbers, 5, KFold(5, shuffle=True, random_state=seed),
            {"n_starts": 0}))
    off = []
    for build, y, count, splitter, more in pairs:
        split = list(splitter.split(empty, y))
        made, plain = (
            build(cv=cv, **usual, **more).fit(drawn.bags, y).cv_losses_ for cv in (count, split))
        off.append(np.abs(made - plain).max())
    return float(max(off))


def _numbers_held_out(drawn: Drawn, factor: float) -> float:
    """How far the loss of pooling beside attention for numbers is from the smallest of ridge
    regressions on mean tokens, of targets with mean 0 and deviation 1, ridges times `factor`."""
    few: Any = {"ridges": (0.3, 0.1), "max_iter": 3, "n_starts": 0, "cv": CUTS}
    model = AttentionRegressor(**few)
    y, share = 2.5 * drawn.target.y + 4, drawn.weight / drawn.weight.sum()
    model.fit(drawn.bags, y, sample_weight=drawn.weight)
    y = (y - share @ y) / np.sqrt(share @ (y - share @ y) ** 2)
    losses = np.zeros(len(POOLED_RIDGES))
    for number in range(3):
        inside = np.not_equal(FOLD, number)
        own = drawn._replace(
            listed=[one for one, keep in zip(drawn.listed, inside, strict=True) if keep],
            weight=drawn.weight[inside])
        standard = standardising(own)
        means = np.array([standard(x).mean(axis=0) for _, x in drawn.listed])
        centre = np.average(means[inside], axis=0, weights=own.weight)
        spread = np.sqrt(np.average((means[inside] - centre) ** 2, axis=0, weights=own.weight))
        Z = (means - centre) / spread
        for place, ridge in enumerate(POOLED_RIDGES):
            peer = Ridge(alpha=factor * ridge)
            peer.fit(Z[inside], y[inside], own.weight / own.weight.sum())
            wrong = (peer.predict(Z[~inside]) - y[~inside]) ** 2 / 2
            losses[place] += share[~inside] @ wrong
    return abs(model.pooling_loss_ - losses.min())


def _choice(drawn: Drawn, fresh: Drawn, worst: bool) -> float:
    """How far the losses of candidates are from their own, and the choice from the one with the
    smallest (`worst`: the largest) loss."""
    own = {
        "mean": PooledClassifier(cv=CUTS), "lme": LogMeanExpClassifier(cv=CUTS),
        "mine": TwoStepAttentionClassifier((0.5, SHARP), (0.3, 0.05), cv=CUTS)}
    given: Any = ["mean", "lme", ("mine", TwoStepAttentionClassifier((0.5, SHARP), (0.3, 0.05)))]
    y, weight = drawn.target.y, drawn.weight
    choice = BagClassifierCV(given, cv=CUTS).fit(drawn.bags, y, sample_weight=weight)
    for one in own.values():
        one.fit(drawn.bags, y, sample_weight=weight)
    losses = {name: one.cv_loss_ for name, one in own.items()}
    best = (max if worst else min)(losses, key=lambda name: losses[name])
    said = own[best].decision_function(fresh.bags)
    off = [abs(losses[name] - loss) for name, loss in choice.candidate_losses_.items()]
    return float(max(*off, np.abs(choice.decision_function(fresh.bags) - said).max()))


def _constants(drawn: Drawn, fresh: Drawn, random: np.random.Generator, noise: float) -> float:
    """How far decisions are from those without a further feature, which varies by `noise`."""
    off = []
    for build in (
        lambda: LogMeanExpClassifier(SHARP, **ONCE), lambda: PooledClassifier("all", (0.1,)),
    ):
        said = []
        for more in (False, True):
            one, other = (
                Bags(
                    np.column_stack(
                        [some.bags.tokens]
                        + [3 + noise * random.standard_normal(len(some.bags.tokens))] * more),
                    some.bags.offsets)
                for some in (drawn, fresh))
            said.append(build().fit(one, drawn.target.y).decision_function(other))
        off.append(np.abs(said[0] - said[1]).max())
    return float(max(off))


def _long(random: np.random.Generator, moved: float) -> float:
    """How far objective, its slope along a direction, decisions and weights are from those by hand,
    with parameters larger by `moved` of their size, on bags that do not fit into a block."""
    lengths = random.integers(12_000, 20_000, 9)
    listed = [
        (np.arange(length), random.standard_normal((length, DIM)) * [1.0, 2.0, 0.5] + 0.7)
        for length in lengths]
    y, weight = np.where(np.arange(9) % 2, 1.0, -1.0), random.uniform(0.5, 2, 9)
    bags = Bags.from_lengths(np.concatenate([x for _, x in listed]), lengths)
    drawn = Drawn(bags, listed, Target(y, weight / weight.sum()), weight)
    plain, layer = by_hand.softmax(by_hand.statistics_of(drawn)), Softmax(2)
    objective = Objective(Data(bags, weight, "all"), *drawn.target, layer, RATIO)
    theta, way = 0.4 * random.standard_normal((2, len(plain.penalties)))
    value, slope = objective(theta, 0.2)
    own, ends = (1 + moved) * theta, []
    for side in (1e-5, -1e-5, 0.0):
        ends.append(by_hand.objective(own + side * way, drawn, plain, 0.2))
    standard, model = standardising(drawn), objective.model(theta)
    said = [plain.says(own, places, standard(x)) for places, x in listed]
    weights = np.concatenate([plain.weighs(own, places, standard(x)) for places, x in listed])
    return float(max(
        abs(value - ends[2]), abs(slope @ way - (ends[0] - ends[1]) / 2e-5),
        np.abs(model.decision(bags) - said).max(),
        np.abs(model.attention(bags) / weights - 1).max()))


def _single(drawn: Drawn, random: np.random.Generator, moved: float) -> float:
    """How far objectives, slopes and what is attended to are from those of the same tokens in
    double precision, parameters larger by `moved`; tokens are thousands of deviations from 0."""
    far = (drawn.bags.tokens + 3000).astype(np.float32)
    here = Data(Bags(far, drawn.bags.offsets, drawn.bags.places), drawn.weight)
    double = far.astype(float)
    listed = [
        (places, double[a:b])
        for (places, _), a, b in zip(
            drawn.listed, drawn.bags.offsets[:-1], drawn.bags.offsets[1:], strict=True)]
    plainly, off = drawn._replace(listed=listed), []
    for objective, plain in (
        (Objective(here, *drawn.target, LogMeanExp(2, SHARP)), by_hand.log_mean_exp(SHARP, True)),
        (GroupObjective(here, drawn.target, PLACES, RATIO, logistic), by_hand.groups()),
    ):
        theta = 0.6 * random.standard_normal(len(plain.penalties))
        value, slope = objective(theta, 0.2)

        def J(at: np.ndarray, plain: by_hand.Plain = plain) -> float:
            return by_hand.objective(at, plainly, plain, 0.2)

        own = (1 + moved) * theta
        off += [abs(value - J(own)), np.abs(slope - by_hand.slopes(J, own)).max()]
    standard, query = standardising(plainly), random.standard_normal(DIM)
    rows = [standard(x) for _, x in listed]
    said = [shares_of((1 + moved) * T @ query) @ T for T in rows]
    off.append(np.abs(attend(here, query) - said).max())
    return float(max(off))


def _defaults(heads: int) -> float:
    """How many parameters are not those with which the reference was measured, in which attention
    has so many `heads`."""
    wrong = 0
    for name, known in DEFAULTS.items():
        common = {} if name == "AttentionRegressor" else COMMON
        params = getattr(estimators, name)().get_params(deep=False)
        known = known | ({"n_heads": heads} if name == "AttentionClassifier" else {})
        wrong += sum(params[key] != value for key, value in (common | known).items())
    for name, known in NAMED.items():
        params = CANDIDATES[name]().get_params(deep=False)
        wrong += sum(params[key] != value for key, value in known.items())
    return float(wrong)


@experiment("bag-estimators.options-by-hand")
def options_by_hand(
    key: Any, *, otherwise: bool = False, noise: float = 1e-9, moved: float = 0.0
) -> xarray.Dataset:
    """The differences of PARTS. By hand, `otherwise`: hidden tokens count, rows of a table stand as
    they are, and channels of series in reverse; labels are turned round, folds drawn by another
    seed, ridges a tenth larger, the worst is chosen, and attention has two heads. Constants vary by
    `noise`; parameters are larger by `moved` of their size."""
    random = generator(key)
    drawn, fresh = balanced(draw(random, True, COUNT)), draw(random, True)
    factor = 1.1 if otherwise else 1.0
    with warnings.catch_warnings():  # of few steps, and of bags that teach little
        warnings.simplefilter("ignore", UserWarning)
        off = [
            _read_outs(drawn, fresh, 1 + moved), _masked(random, otherwise),
            _tables(random, otherwise), _two_classes(drawn, fresh, otherwise),
            _unweighted(drawn, fresh, 0.2 * factor), _folds(drawn, 8 if otherwise else 7),
            _numbers_held_out(draw(random, False, COUNT), factor), _choice(drawn, fresh, otherwise),
            _constants(drawn, fresh, random, noise), _long(random, moved),
            _single(draw(random, True), random, moved), _defaults(2 if otherwise else 4)]
    return xarray.Dataset({"off": ("part", np.array(off))}, {"part": list(PARTS)})
