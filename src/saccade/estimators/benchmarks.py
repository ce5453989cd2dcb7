"""Speed of the estimators, as a ratio to logistic regression on the flattened bags of the same run.

5,000 bags of 50 tokens in 64 dimensions, one informative token of signal 4: flattening sees almost
nothing of it, so the two sides do not solve the same problem; what is checked is that ours does, by
its AUC on fresh bags against the best classifier that knows the direction.
"""

from functools import partial
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from saccade.estimators.attention import AttentionClassifier
from saccade.estimators.log_mean_exp import LogMeanExpClassifier
from saccade.estimators.samples import Sample, make_sparse_token_bags
from saccade.lab.benchmark import Accuracy, Benchmark, Growth, Sides, Target, Work

SIGNAL = 4.0
NEAR_BEST = 0.03
"""How far the AUC may be below that of the known direction; measured: .01."""
LINEAR = 10**1.1
"""Ten times the tokens may take this many times the seconds: an exponent of 1.1."""


def bags(n: int, tokens: int, features: int, seed: int, kind: type = np.float64) -> Sample:
    sample = make_sparse_token_bags(n, tokens, features, 1, SIGNAL, random_state=seed)
    return sample._replace(X=sample.X.astype(kind))


def distance_to_best(model: Any, tokens: int, features: int) -> float:
    """AUC of log-mean-exp at the true direction minus that of the model, on fresh bags."""
    test = bags(2000, tokens, features, seed=1)
    known = logsumexp(SIGNAL * test.X.sum(axis=2) / np.sqrt(features), axis=1)
    best, ours = (roc_auc_score(test.y, one) for one in (known, model.decision_function(test.X)))
    return max(0.0, best - ours)


def against_flattened(
    model: Any, kind: type = np.float64, n: int = 5000, tokens: int = 50, features: int = 64
) -> Sides:
    """Ours on tokens of this kind; scikit-learn's logistic regression on float64 rows."""
    sample = bags(n, tokens, features, seed=0)
    ours, flat = sample.X.astype(kind), sample.X.reshape(n, -1)
    return Sides(
        lambda: model.fit(ours, sample.y),
        lambda: LogisticRegression(max_iter=1000).fit(flat, sample.y),
        lambda: Accuracy(distance_to_best(model.fit(ours, sample.y), tokens, features), NEAR_BEST))


def ten_times_the_bags(n: int = 50_000, tokens: int = 50, features: int = 64) -> Sides:
    """The same fit to `n` bags (ours) and to a tenth of them (peer), ten iterations each."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, tokens, features), dtype=np.float32)
    y = np.arange(n) % 2
    X[y == 1, 0] += np.float32(SIGNAL / np.sqrt(features))
    model = LogMeanExpClassifier(ridges=0.01, max_iter=10)
    part = n // 10

    def check() -> Accuracy:
        model.fit(X, y)
        return Accuracy(distance_to_best(model, tokens, features), NEAR_BEST)

    return Sides(lambda: model.fit(X, y), lambda: model.fit(X[:part], y[:part]), check)


def row(name: str, work: str, model: Any, most: float, kind: type = np.float64) -> Benchmark:
    return Benchmark(
        f"estimators.{name}", f"{work} (ours), logistic regression on the flattened bags (peer).",
        partial(against_flattened, model, kind), Target("<=", most), ours_over_peer=True,
        tiny={"n": 400, "tokens": 8, "features": 4})


def _fit_to(tokens: float, n: int = 2000, features: int = 32) -> Work:
    sample = bags(n, int(tokens), features, seed=0)
    model = LogMeanExpClassifier(ridges=0.01, max_iter=10)
    return lambda: model.fit(sample.X, sample.y)


AGAINST_LENGTH = Growth(
    "estimators.log-mean-exp-against-length",
    "Ten iterations of log-mean-exp on 2,000 bags in 32 dimensions.", "length", (16, 32, 64, 128),
    _fit_to, Target("<=", 1.1), tiny=(3, 6))

BENCHMARKS = [
    row("log-mean-exp", "Log-mean-exp at one ridge", LogMeanExpClassifier(ridges=0.01), 2),
    row(
        "attention", "Softmax attention at one ridge, float32 tokens",
        AttentionClassifier(n_heads=1, ridges=0.01), 5, np.float32),
    row("log-mean-exp-cv", "Log-mean-exp, five ridges in three folds", LogMeanExpClassifier(), 15),
    row(
        "attention-cv",
        "Softmax attention with four heads, five ridges in three folds, float32 tokens",
        AttentionClassifier(), 60, np.float32),
    Benchmark(
        "estimators.linear-in-tokens",
        "Ten iterations of log-mean-exp on 50,000 bags of 50 float32 tokens in 64 dimensions"
        " (ours), on 5,000 of them (peer).", ten_times_the_bags, Target("<=", LINEAR),
        ours_over_peer=True, tiny={"n": 2000, "tokens": 8, "features": 4})]
