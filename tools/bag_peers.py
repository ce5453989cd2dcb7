"""Other people's bag classifiers on the same folds as ours: AUC with paired intervals, CPU seconds.

    python tools/bag_peers.py                        # musk1, protein, gunpoint, italy
    python tools/bag_peers.py --sets musk1 birds --folds 5 --repeats 2
    python tools/bag_peers.py --checks               # who passes the unit tests of bag classifiers
    python tools/bag_peers.py --checks --ours        # ours and pooling alone: a few minutes

Peers: torchmil's attention model (pip install torchmil), MI-SVM by scikit-learn's LinearSVC, ROCKET
(pip install aeon; series only). aeon asks for older numpy and pandas than saccade is pinned to, so
give the peers an environment of their own. A peer that is not installed is left out, and said so.
"""

import argparse
import time
import warnings
from functools import partial
from importlib.util import find_spec

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from saccade.datasets.bags import catalogue, load_bags, readers
from saccade.estimators import (
    AttentionClassifier,
    BagClassifierCV,
    Bags,
    EvidenceClassifier,
    LogMeanExpClassifier,
    PooledClassifier,
    TwoStepAttentionClassifier,
)
from saccade.estimators.advise.comparing import ForestClassifier, corrected_interval
from saccade.estimators.checks import CHECKS, check_bag_classifier
from saccade.estimators.standard import Standard


def as_bags(X) -> Bags:
    return X if isinstance(X, Bags) else Bags.from_list(X)


class MISVM(ClassifierMixin, BaseEstimator):
    """MI-SVM (Andrews et al. 2003): negative bags give all tokens, positive ones their witness, the
    token with the largest score, chosen anew until it stays (at most 20 rounds)."""

    def __init__(self, C=1.0):
        self.C = C

    def fit(self, X, y):
        bags, y = as_bags(X), np.asarray(y)
        self.standard_ = Standard.of_tokens(bags, np.ones(len(bags)))
        tokens = [self.standard_(bag) for bag in bags]
        negative = np.concatenate([bag for bag, label in zip(tokens, y) if not label])
        positive = [bag for bag, label in zip(tokens, y) if label]
        witness = np.stack([bag.mean(axis=0) for bag in positive])
        for _ in range(20):
            self.svm_ = LinearSVC(C=self.C, class_weight="balanced", max_iter=5000)
            self.svm_.fit(
                np.concatenate([negative, witness]), [0] * len(negative) + [1] * len(witness))
            scores = self.svm_.decision_function
            chosen = np.stack([bag[np.argmax(scores(bag))] for bag in positive])
            if np.array_equal(chosen, witness):
                break
            witness = chosen
        return self

    def decision_function(self, X):
        return np.array(
            [self.svm_.decision_function(self.standard_(bag)).max() for bag in as_bags(X)])


class TorchMIL(ClassifierMixin, BaseEstimator):
    """torchmil's ABMIL (Ilse et al. 2018) with its defaults, trained by Adam on padded batches."""

    def __init__(self, epochs=100, rate=1e-3, batch=16, decay=1e-4, seed=0):
        self.epochs, self.rate, self.batch = epochs, rate, batch
        self.decay, self.seed = decay, seed

    def fit(self, X, y):
        import torch
        from torchmil.models import ABMIL

        torch.manual_seed(self.seed)
        bags, y = as_bags(X), np.asarray(y)
        self.standard_ = Standard.of_tokens(bags, np.ones(len(bags)))
        weight = torch.tensor(float((1 - y).sum() / y.sum()))
        loss = torch.nn.BCEWithLogitsLoss(pos_weight=weight)
        self.net_ = ABMIL(in_shape=(bags.tokens.shape[1],), criterion=loss)
        optimiser = torch.optim.Adam(self.net_.parameters(), self.rate, weight_decay=self.decay)
        random = np.random.default_rng(self.seed)
        for _ in range(self.epochs):
            for part in np.array_split(random.permutation(len(y)), -(-len(y) // self.batch)):
                padded, mask = self._padded(bags.take(part))
                optimiser.zero_grad()
                loss(self.net_(padded, mask), torch.tensor(y[part], dtype=torch.float32)).backward()
                optimiser.step()
        return self

    def _padded(self, bags):
        import torch

        mask = np.arange(bags.lengths.max()) < bags.lengths[:, None]
        padded = np.zeros((*mask.shape, bags.tokens.shape[1]), np.float32)
        padded[mask] = self.standard_(bags.tokens)
        return torch.tensor(padded), torch.tensor(mask)

    def decision_function(self, X):
        import torch

        bags = as_bags(X)
        with torch.no_grad():
            return np.concatenate([
                self.net_(*self._padded(bags.take(part))).numpy()
                for part in np.array_split(np.arange(len(bags)), -(-len(bags) // 64))])


class Rocket(ClassifierMixin, BaseEstimator):
    """aeon's ROCKET on whole series: random kernels, then a ridge classifier."""

    def __init__(self, kernels=2000):
        self.kernels = kernels

    def fit(self, X, y):
        from aeon.transformations.collection.convolution_based import Rocket as Kernels
        from sklearn.linear_model import RidgeClassifierCV

        ridge = RidgeClassifierCV(np.logspace(-3, 3, 10), class_weight="balanced")
        self.pipe_ = make_pipeline(
            Kernels(self.kernels, random_state=0), StandardScaler(with_mean=False), ridge)
        self.pipe_.fit(X, y)
        return self

    def decision_function(self, X):
        return self.pipe_.decision_function(X)


class MaxPooled(ClassifierMixin, BaseEstimator):
    """Logistic regression (scikit-learn's, its default C) on the maximum of each feature."""

    def fit(self, X, y):
        self.inner_ = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        self.inner_.fit([bag.max(axis=0) for bag in as_bags(X)], y)
        return self

    def decision_function(self, X):
        return self.inner_.decision_function([bag.max(axis=0) for bag in as_bags(X)])


class Forest(ForestClassifier):
    """The forest of `saccade.advise`, for lists of bags too."""

    def fit(self, X, y):
        return super().fit(as_bags(X), y)

    def decision_function(self, X):
        return super().decision_function(as_bags(X))


OURS = {
    "mean": PooledClassifier, "four statistics": partial(PooledClassifier, "all"),
    "forest on four": Forest, "log-mean-exp": LogMeanExpClassifier,
    "attention": AttentionClassifier, "automatic": BagClassifierCV}
PEERS = {"MI-SVM": MISVM}
if find_spec("torchmil") and find_spec("torch") and find_spec("tensordict"):
    PEERS["torchmil ABMIL"] = TorchMIL


def compare(name: str, folds: int, repeats: int) -> None:
    """One table: every model on the same folds of the set `name`."""
    read = load_bags(name)
    inputs = dict.fromkeys({**OURS, **PEERS}, Bags(read.tokens, read.offsets))
    models = OURS | PEERS
    source = catalogue.SOURCES[name]
    if find_spec("aeon") and "window" in getattr(source.read, "keywords", ()) and name != "vowels3":
        options = {key: source.read.keywords[key] for key in ("name", "positive")}
        series, labels = readers.whole_series(catalogue.place_of(name), **options)
        assert np.array_equal(labels, read.labels)
        inputs["ROCKET"] = np.stack(series).transpose(0, 2, 1)
        models = models | {"ROCKET": Rocket}
        Rocket().fit(inputs["ROCKET"][:20], labels[:20])  # its programs are compiled once
    splitter = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=0)
    splits = list(splitter.split(read.labels, read.labels))
    scores, seconds = {}, {}
    for model, build in models.items():
        start = time.process_time()
        scores[model] = np.array(
            [fold_auc(build(), inputs[model], read.labels, *split) for split in splits])
        seconds[model] = (time.process_time() - start) / len(splits)
    print(f"\n{name}: {source.size}; {folds} x {repeats} folds")
    for model in models:
        gap = corrected_interval(scores["automatic"] - scores[model], 1 / (folds - 1))
        print(
            f"| {name} | {model} | {scores[model].mean():.3f} | {gap.value:+.3f} ±"
            f" {(gap.high - gap.low) / 2:.3f} | {seconds[model]:.2f} |", flush=True)


def fold_auc(model, X, y, train, test) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = model.fit(X[train], y[train]).decision_function(X[test])
    return float(roc_auc_score(y[test], scores))


SHARP = (0.03, 0.01, 0.003)
CHECKED = {
    "mean": PooledClassifier, "maximum (scikit-learn)": MaxPooled,
    "mean, maximum, minimum, deviation": partial(PooledClassifier, "all"),
    "forest on these four": Forest, "two gradient steps": TwoStepAttentionClassifier,
    "log-mean-exp": LogMeanExpClassifier, "attention, one head": partial(AttentionClassifier, 1),
    "attention, four heads": AttentionClassifier,
    "attention and the four": partial(AttentionClassifier, 1, "all"),
    "automatic choice": BagClassifierCV, "evidence, as it comes": EvidenceClassifier,
    "evidence, ridges .03, .01, .003": partial(EvidenceClassifier, ridges=SHARP),
    "evidence, ridge .01": partial(EvidenceClassifier, ridges=0.01),
    "evidence, four heads, ridge .01": partial(EvidenceClassifier, 4, ridges=0.01)}


def run_checks(seeds: int, peers: dict) -> None:
    """A row a model: AUC on the shifted test bags, range over seeds, and the verdict."""
    for model, build in {**CHECKED, **peers}.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcomes = check_bag_classifier(build(), seeds=range(seeds))
        print(f"| {model} | {' | '.join(cell(one) for one in outcomes.values())} |", flush=True)


def cell(outcome) -> str:
    """AUC on shifted bags; where it is good, and only that on bags as trained on fails, both."""
    text = f"{span(outcome.shifted)} {outcome.verdict}"
    if outcome.verdict == "cannot" and min(outcome.same) < min(outcome.shifted):
        text = f"{span(outcome.shifted)}, but {span(outcome.same)} as trained: cannot"
    return text


def span(values) -> str:
    low, high = (f"{one:.2f}".removeprefix("0") for one in (min(values), max(values)))
    return low if low == high else f"{low}-{high}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", nargs="+", default=["musk1", "protein", "gunpoint", "italy"])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--checks", action="store_true")
    parser.add_argument("--ours", action="store_true", help="with --checks: leave peers out")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    peers = {} if given.ours else PEERS
    for missing in [name for name in ("torchmil", "aeon") if find_spec(name) is None and peers]:
        print(f"{missing} is not installed: left out.")
    if given.checks:
        print(f"| classifier | {' | '.join(CHECKS)} |\n|---|---|---|---|---|")
        run_checks(given.seeds, peers)
    else:
        for set_name in given.sets:
            compare(set_name, given.folds, given.repeats)
