"""The estimators' numbers on data sets of any seeds: what docs/estimators.md says of other seeds.

    python tools/bag_numbers.py --first 71000                      # two settings of everything
    python tools/bag_numbers.py --first 71000 --parts localisation

detection      AUC on 4000 fresh bags from 500 (30 tokens in 16 dimensions), mean of six seeds
regression     error over var y, and hits of the heaviest token, single location, three seeds
localisation   hits of the heaviest token of 2000 fresh bags, six seeds; in brackets those of models
               that call themselves better than pooling, and how many these are
checks         AUC of evidence at ridge .01 on shifted bags, after Raff and Holt, three seeds
"""

import argparse
import warnings

import numpy as np
from sklearn.metrics import roc_auc_score

from saccade.estimators import (
    AttentionClassifier,
    AttentionRegressor,
    EvidenceClassifier,
    LogMeanExpClassifier,
    PooledClassifier,
    TwoStepAttentionClassifier,
    make_single_location_bags,
    make_sparse_token_bags,
)
from saccade.estimators.checks import run_check

MODELS = {
    "mean": PooledClassifier(), "all": PooledClassifier("all"), "two": TwoStepAttentionClassifier(),
    "lme": LogMeanExpClassifier(), "att": AttentionClassifier(1), "att4": AttentionClassifier()}


def sparse(n: int, informative: int, signal: float, seed: int):
    return make_sparse_token_bags(n, 30, 16, informative, signal, random_state=seed)


def detection(first: int) -> None:
    for informative, signal in ((1, 3.0), (3, 2.0)):
        found = {name: [] for name in MODELS}
        for seed in range(first, first + 6):
            train, test = (
                sparse(500, informative, signal, seed),
                sparse(4000, informative, signal, seed + 8000))
            for name, model in MODELS.items():
                scores = model.fit(train.X, train.y).decision_function(test.X)
                found[name].append(roc_auc_score(test.y, scores))
        say(f"R, theta = {informative}, {signal:g}: AUC", found)


def regression(first: int) -> None:
    for features, tokens, n in ((40, 10, 300), (16, 30, 1000)):
        found: dict[str, list[float]] = {"error": [], "hit": []}
        for seed in range(first, first + 3):
            train, test = (
                make_single_location_bags(count, tokens, features, random_state=seed + more)
                for count, more in ((n, 0), (2000, 8000)))
            model = AttentionRegressor().fit(train.X, train.y)
            found["error"].append(np.mean((model.predict(test.X) - test.y) ** 2) / test.y.var())
            found["hit"].append(model.localisation_score(test.X, test.where).hit.value)
        say(f"d, L, n = {features}, {tokens}, {n}:", found)


def localisation(first: int) -> None:
    for signal, n in ((3.0, 50), (3.0, 200)):
        for name in ("two", "lme", "att"):
            hits, sure = [], []
            for seed in range(first, first + 6):
                train, test = sparse(n, 1, signal, seed), sparse(2000, 1, signal, seed + 8000)
                model = MODELS[name].fit(train.X, train.y)
                hits.append(model.localisation_score(test.X, test.where).hit.value)
                sure.append(bool(model.better_than_pooling_))
            told = np.array(hits)[sure]
            better = f"{told.mean():.3f} of {len(told)}" if len(told) else "none"
            say(f"theta, n = {signal:g}, {n}: {name}", {"hit": hits}, f" ({better})")


def checks(first: int) -> None:
    for name in ("multi", "frequency"):
        seeds = range(first, first + 3)
        outcome = run_check(EvidenceClassifier(ridges=0.01), name, seeds=seeds)
        say(f"{name}: {outcome.verdict},", {"shifted": list(outcome.shifted)})


def say(what: str, found: dict[str, list[float]], more: str = "") -> None:
    cells = (
        f"{name} {np.mean(one):.3f} ({min(one):.3f} to {max(one):.3f})"
        for name, one in found.items())
    print(f"{what} {', '.join(cells)}{more}", flush=True)


PARTS = {one.__name__: one for one in (detection, regression, localisation, checks)}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--first", type=int, default=71000, help="the first seed")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # of fits that stop at max_iter, which is what they are
    for part in given.parts:
        PARTS[part](given.first)
