"""Test errors of given classifiers without test samples of dimension d: only what the classifier
sees of the tokens is drawn.

With scores t = X q/|q| and weights s = softmax(k t), the margin of attention given t is Gaussian
with mean <w, q^> s.t + <w, xi - rho q^> theta s.v + b and deviation |s| |w - <w, q^> q^|. The
margin of the vectorised classifier given the places v is Gaussian with mean theta sum_{l in v}
<W_l, xi> + b and deviation |W|. Only the remaining low-dimensional average is sampled or
enumerated.
"""

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, softmax

from saccade.studies.sparse_token.task import SparseTokenSetting


class Seen(NamedTuple):
    """What the test error of an attention classifier depends on: overlaps of w and of the query,
    bias and sharpness."""

    along: float  # <w, q^>
    across: float  # <w, xi - rho q^>
    rest: float  # |w - <w, q^> q^|
    b: float
    alignment: float  # rho = <q^, xi>
    sharpness: float


def seen_by_attention(w, b: float, query, direction, beta: float = 1.0) -> Seen:
    """The overlaps of an attention classifier; a zero query (mean pooling) gets an arbitrary
    direction and sharpness 0."""
    w, query, direction = (np.asarray(vector, float) for vector in (w, query, direction))
    norm = np.linalg.norm(query)
    unit = query / norm if norm > 0 else np.eye(len(w))[-1]
    rho, along = float(unit @ direction), float(unit @ w)
    rest = float(np.sqrt(max(0.0, w @ w - along**2)))
    return Seen(along, float(w @ direction - along * rho), rest, float(b), rho, float(beta * norm))


def attention_test_error(
    setting: SparseTokenSetting, seen: Seen, rng: np.random.Generator, points: int = 2000
) -> float:
    """Error on fresh samples: `points` draws of the token scores a class, the rest integrated."""
    noise = rng.standard_normal((2, points, setting.length))
    planted = setting.signal * (np.arange(setting.length) < setting.informative)
    wrong = []
    for scores, signal, label in (
        (noise[0] + seen.alignment * planted, planted, 1.0), (noise[1], 0 * planted, -1.0),
    ):
        weights = softmax(seen.sharpness * scores, axis=1)
        mean = seen.along * (weights * scores).sum(1) + seen.across * (weights @ signal) + seen.b
        deviation = np.maximum(np.linalg.norm(weights, axis=1) * seen.rest, 1e-300)
        wrong.append(ndtr(-label * mean / deviation).mean())
    return float(setting.positive_rate * wrong[0] + (1 - setting.positive_rate) * wrong[1])


def vectorised_test_error(
    setting: SparseTokenSetting, token_signal, norm: float, b: float, chances=None
) -> float:
    """Error of the vectorised classifier with <W_l, xi> = `token_signal`, every subset of places
    enumerated (exact).

    `chances` are the subsets' probabilities in lexicographic order (with one informative token: of
    the places); uniform if not given.
    """
    count = comb(setting.length, setting.informative)
    if count > 100_000:
        raise ValueError(f"{count} subsets of places are too many to enumerate")
    token_signal = np.asarray(token_signal, float)
    sums = np.array([
        token_signal[list(places)].sum()
        for places in combinations(range(setting.length), setting.informative)])
    missed = np.average(ndtr(-(setting.signal * sums + b) / norm), weights=chances)
    return float(setting.positive_rate * missed + (1 - setting.positive_rate) * ndtr(b / norm))
