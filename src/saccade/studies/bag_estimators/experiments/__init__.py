"""What is measured: detection, localisation and regression on data whose truth is known; pooling,
attention and the automatic choice on real sets."""

import warnings

import numpy as np
import xarray
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from saccade.datasets.bags import load_bags
from saccade.estimators import (
    AttentionClassifier,
    AttentionRegressor,
    BagClassifierCV,
    Bags,
    LogMeanExpClassifier,
    PooledClassifier,
    TwoStepAttentionClassifier,
)
from saccade.lab.experiment import experiment
from saccade.studies.bag_estimators.models import fit_erf, likelihood_ratio
from saccade.studies.bag_estimators.task import generator, single_location, sparse_tokens

SMALL_SETS = (
    "musk1", "birds", "corel-dogs", "protein", "gunpoint", "arrowhead", "italy", "vowels3")
ALL_SETS = (*SMALL_SETS, "musk2", "elephant", "ucsb-breast")


@experiment("bag-estimators.detection")
def detection(
    key, *, signals: tuple[float, ...] = (3.0, 4.0), n: int = 500, length: int = 30, dim: int = 16,
    sharpness: float = 1.0, replicates: int = 32, test: int = 1000,
) -> xarray.Dataset:
    """AUC on fresh sparse-token bags, by signal: log-mean-exp, mean pooling and the likelihood
    ratio, which knows the direction; `_seen` is that on the bags that were trained on."""
    random = generator(key)
    table = np.empty((replicates, len(signals), 5))
    for number in range(replicates):
        for column, signal in enumerate(signals):
            train, fresh = (
                sparse_tokens(random, count, length, dim, signal) for count in (n, test))
            model = LogMeanExpClassifier(sharpness=sharpness).fit(train.X, train.y)
            mean = PooledClassifier(ridges=(1, 0.1, 0.01)).fit(train.X, train.y)
            table[number, column] = [
                *(roc_auc_score(fresh.y, one.decision_function(fresh.X)) for one in (model, mean)),
                roc_auc_score(fresh.y, likelihood_ratio(fresh.X, signal)),
                roc_auc_score(train.y, model.decision_function(train.X)),
                roc_auc_score(train.y, likelihood_ratio(train.X, signal))]
    names = ("log_mean_exp", "mean", "known", "log_mean_exp_seen", "known_seen")
    return xarray.Dataset(
        {name: (("replicate", "signal"), table[..., place]) for place, name in enumerate(names)},
        {"signal": list(signals)})


@experiment("bag-estimators.localisation")
def localisation(
    key, *, bags_lme: int = 50, bags_two: int = 200, signal: float = 3.0, length: int = 30,
    dim: int = 16, replicates: int = 64, test: int = 1000,
) -> xarray.Dataset:
    """How often the heaviest token of a fresh positive bag is the informative one: log-mean-exp
    trained on `bags_lme` bags, two gradient steps on `bags_two`."""
    random = generator(key)
    hits = np.empty((2, replicates))
    for number in range(replicates):
        fresh = sparse_tokens(random, test, length, dim, signal)
        X, where = fresh.X[fresh.y == 1], fresh.where[fresh.y == 1]
        for row, (model, n) in enumerate(
            ((LogMeanExpClassifier(), bags_lme), (TwoStepAttentionClassifier(), bags_two))
        ):
            train = sparse_tokens(random, n, length, dim, signal)
            fitted = model.fit(train.X, train.y)
            hits[row, number] = fitted.localisation_score(X, where).hit.value
    return xarray.Dataset(
        {"log_mean_exp": ("replicate", hits[0]), "two_steps": ("replicate", hits[1])})


@experiment("bag-estimators.regression")
def regression(
    key, *, n: int = 500, length: int = 10, dim: int = 20, marked: bool = True,
    replicates: int = 32, test: int = 500,
) -> xarray.Dataset:
    """Hit rate and error (over the variance of y) of softmax and erf attention on single-location
    regression."""
    random = generator(key)
    rows = []
    for _ in range(replicates):
        train, fresh = (single_location(random, count, length, dim, marked) for count in (n, test))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            soft = AttentionRegressor().fit(train.X, train.y)
        hard = fit_erf(train.X, train.y, random)
        rows.append([
            *(
                _hit(weights, fresh.where)
                for weights in (soft._weights(soft._read(fresh.X)), hard.attention(fresh.X))),
            *(
                float(np.mean((model.predict(fresh.X) - fresh.y) ** 2) / fresh.y.var())
                for model in (soft, hard))])
    names = ("softmax_hit", "erf_hit", "softmax_error", "erf_error")
    return xarray.Dataset(
        {name: ("replicate", column) for name, column in zip(names, np.array(rows).T, strict=True)})


def _hit(weights: np.ndarray, where: np.ndarray) -> float:
    return float(where[np.arange(len(where)), weights.reshape(where.shape).argmax(axis=1)].mean())


MODELS = {
    "mean": PooledClassifier, "all": lambda: PooledClassifier("all"),
    "attention": AttentionClassifier, "auto": BagClassifierCV}


@experiment("bag-estimators.real", scales={"paper": {"sets": ALL_SETS, "repeats": 2}})
def real(
    key, *, sets: tuple[str, ...] = SMALL_SETS, folds: int = 5, repeats: int = 1,
    candidates: tuple[str, ...] = ("mean", "all", "lme", "mlme2", "att4", "attall"),
) -> xarray.Dataset:
    """AUC by set, fold and model on the same stratified folds; the automatic choice is among
    `candidates`; `guess` gives every bag a random score."""
    random = generator(key)
    models = MODELS | {"auto": lambda: BagClassifierCV(candidates)}
    table = np.empty((len(sets), folds * repeats, len(models) + 1))
    for row, name in enumerate(sets):
        read = load_bags(name)
        bags = Bags(read.tokens, read.offsets)
        splits = [
            split for seed in random.integers(0, 2**31, repeats)
            for split in StratifiedKFold(folds, shuffle=True, random_state=int(seed)).split(
                read.labels, read.labels)]
        for fold, (train, test) in enumerate(splits):
            scores = [
                _fitted(build(), bags.take(train), read.labels[train]).decision_function(
                    bags.take(test))
                for build in models.values()]
            scores.append(random.standard_normal(len(test)))
            table[row, fold] = [roc_auc_score(read.labels[test], score) for score in scores]
    return xarray.Dataset(
        {"auc": (("set", "fold", "model"), table)}, {"set": list(sets), "model": [*models, "guess"]}
    )


def _fitted(model, bags: Bags, labels: np.ndarray):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(bags, labels)
