"""Bags of 15 to 45 normal numbers; in positive bags a contiguous run of R is shifted by Delta
(Synthetic Data Reveals Generalization Gaps in Correlated MIL, arXiv 2510.25759). The best score is
the likelihood ratio, mean over starts u of exp(Delta sum_{l in run u} x_l - R Delta^2/2)."""

import numpy as np
from scipy.special import logsumexp
from scipy.stats import rankdata

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
