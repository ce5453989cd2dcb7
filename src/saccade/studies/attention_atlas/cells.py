"""External checks: two numbers that others have published, measured anew.

runs      bags of 15 to 45 normal numbers; in positive bags a contiguous run of R is shifted by
          Delta (Synthetic Data Reveals Generalization Gaps in Correlated MIL, arXiv 2510.25759).
          The best score is the likelihood ratio, mean over starts u of
          exp(Delta sum_{l in run u} x_l - R Delta^2/2)
digits    bags of about ten MNIST digits, positive if they hold a nine (Ilse, Tomczak, Welling 2018)
"""

import numpy as np
import xarray
from scipy.special import logsumexp
from scipy.stats import rankdata

from saccade.datasets.bags import load_bags
from saccade.errors import require
from saccade.estimators import AttentionClassifier, Bags, LogMeanExpClassifier, PooledClassifier
from saccade.lab.experiment import experiment
from saccade.studies.attention_atlas.task import generator

SHORTEST, LONGEST = 15, 45


def auroc(scores: np.ndarray, y: np.ndarray) -> float:
    """Chance that a positive bag scores above a negative one, ties by halves."""
    positive = int(y.sum())
    ranks = rankdata(scores)[y].sum() - positive * (positive + 1) / 2
    return float(ranks / (positive * (len(y) - positive)))


def best_scores(X: np.ndarray, lengths: np.ndarray, run: int, shift: float) -> np.ndarray:
    """Log likelihood ratio of each bag; X (n, LONGEST) is padded behind `lengths`."""
    sums = np.lib.stride_tricks.sliding_window_view(X, run, axis=1).sum(axis=2)
    starts = np.arange(sums.shape[1]) <= (lengths - run)[:, None]
    evidence = np.where(starts, shift * sums - run * shift**2 / 2, -np.inf)
    return np.asarray(logsumexp(evidence, axis=1)) - np.log(lengths - run + 1)


def bags_with_a_run(random: np.random.Generator, n: int, run: int, shift: float):
    """Numbers, lengths and labels of n bags."""
    lengths = random.integers(SHORTEST, LONGEST + 1, n)
    y, X = random.random(n) < 0.5, random.standard_normal((n, LONGEST))
    first = random.integers(0, lengths - run + 1)[:, None]
    place = np.arange(LONGEST)
    X += shift * (y[:, None] & (place >= first) & (place < first + run))
    return X, lengths, y


@experiment("attention-atlas.runs-of-tokens")
def runs_of_tokens(
    key, *, shifts: tuple[float, ...] = (1.0, 2.0, 3.0), run: int = 3, assumed: int = 3,
    bags: int = 100, sets: int = 400,
) -> xarray.Dataset:
    """AUROC of the best score on many sets of `bags` bags, by shift; the score takes runs to be
    `assumed` long."""
    require(1 <= run <= SHORTEST, "run", run, f"must lie from 1 to {SHORTEST}")
    random = generator(key)
    found = np.empty((sets, len(shifts)))
    for row in range(sets):
        for column, shift in enumerate(shifts):
            X, lengths, y = bags_with_a_run(random, bags, run, shift)
            found[row, column] = auroc(best_scores(X, lengths, assumed, shift), y)
    return xarray.Dataset({"auroc": (("replicate", "shift"), found)}, {"shift": list(shifts)})


LEARNERS = {
    "pooled": PooledClassifier, "log-mean-exp": LogMeanExpClassifier,
    "attention": lambda: AttentionClassifier(n_heads=1)}


@experiment("attention-atlas.digit-bags")
def digit_bags(key, *, train: int = 50, draws: int = 16) -> xarray.Dataset:
    """AUC on the bags that are left, after learning from `train` of the 500 MNIST bags."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    read, random = load_bags("mnist-bags"), generator(key)
    require(4 <= train < len(read), "train", train, f"must lie from 4 to {len(read) - 1}")
    bags, labels = Bags(read.tokens, read.offsets), np.asarray(read.labels)
    found = np.empty((draws, len(LEARNERS)))
    for row in range(draws):
        order = random.permutation(len(labels))
        chosen, left = order[:train], order[train:]
        for column, build in enumerate(LEARNERS.values()):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = build().fit(bags.take(chosen), labels[chosen])
            found[row, column] = auroc(
                np.asarray(model.decision_function(bags.take(left))), labels[left] > 0)
    return xarray.Dataset({"auc": (("draw", "learner"), found)}, {"learner": list(LEARNERS)})
