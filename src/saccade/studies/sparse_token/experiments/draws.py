"""Plain Monte Carlo of the task by NumPy: tokens, and features from their exact law.

`SparseToken.sample` is a program a shape, to be compiled into a training loop. Simulations ask for
many shapes and for one draw of each at a time; here nothing is compiled.
"""

from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array
from numpy.random import Generator, SeedSequence
from scipy.special import softmax

from saccade.studies.sparse_token.task import SparseToken


class TokenSample(NamedTuple):
    """Inputs, labels (+1 or -1) and the places v, as `SparseToken.sample` has them."""

    X: Float[Any, "sample token dim"]
    y: Float[Array, " sample"]
    where: Bool[Array, "sample token"]


class FeatureSample(NamedTuple):
    """Features drawn directly from their exact law, without the tokens behind them."""

    features: Float[Any, "sample dim"]
    y: Float[Array, " sample"]


def seeds_of(key: Any, count: int) -> list[SeedSequence]:
    """Seeds of independent generators, from a JAX key. A seed gives the same generator every time;
    `spawn` makes seeds of its parts."""
    return SeedSequence(np.asarray(jax.random.key_data(key), np.uint32).tolist()).spawn(count)


def draw_labels(task: SparseToken, rng: Generator, n: int) -> Float[Array, " sample"]:
    return np.where(rng.random(n) < task.setting.positive_rate, 1.0, -1.0)


def draw_places(task: SparseToken, rng: Generator, n: int) -> Bool[Array, "sample token"]:
    """Masks v of the informative tokens, one row a sample, each with R ones."""
    if task.location_masks is not None:
        masks, chances = np.asarray(task.location_masks), np.asarray(task.location_probabilities)
        return masks[rng.choice(len(masks), n, p=chances)]
    return rng.random((n, task.length)).argsort(axis=1) < task.setting.informative


def draw_tokens(task: SparseToken, rng: Generator, n: int, dtype: Any = np.float64) -> TokenSample:
    """`n` independent samples; `dtype=np.float32` halves memory, enough for simulations."""
    y, where = draw_labels(task, rng, n), draw_places(task, rng, n)
    X = rng.standard_normal((n, task.length, task.dim), dtype)
    X[where & (y > 0)[:, None]] += (task.setting.signal * np.asarray(task.direction)).astype(dtype)
    return TokenSample(X, y, where)


def draw_pooled_features(task: SparseToken, rng: Generator, n: int) -> FeatureSample:
    """Mean-pooled features X^T 1/L drawn from their exact law N(theta R/L 1{y=+} xi, I/L)."""
    setting, y = task.setting, draw_labels(task, rng, n)
    features = rng.standard_normal((n, task.dim)) / np.sqrt(setting.length)
    mean = setting.signal * setting.informative / setting.length
    features[y > 0] += mean * np.asarray(task.direction)
    return FeatureSample(features, y)


def draw_attention_features(
    task: SparseToken, rng: Generator, n: int, query: Any, inverse_temperature: float = 1.0
) -> FeatureSample:
    """Features X^T softmax(beta X q) for a query that does not depend on these samples, at cost n
    (L + d) instead of n L d.

    Exact: the scores see X only through t = X q/|q|; given t the rest of X (orthogonal to q) is
    still Gaussian, and a weighted sum of tokens with weights s is s.t along q, theta (s.v) (xi -
    <xi,q^>q^) for positives, plus |s| N(0, I) orthogonal to q.
    """
    setting, y, direction = task.setting, draw_labels(task, rng, n), np.asarray(task.direction)
    query = np.asarray(query, float)
    norm = np.linalg.norm(query)
    unit = query / norm if norm > 0 else np.eye(task.dim)[-1]
    overlap = unit @ direction
    planted = setting.signal * (y > 0)[:, None] * (np.arange(task.length) < setting.informative)
    scores = planted * overlap + rng.standard_normal(planted.shape)
    weights = softmax(inverse_temperature * norm * scores, axis=1)
    features = rng.standard_normal((n, task.dim))
    features *= np.linalg.norm(weights, axis=1)[:, None]
    # one rank-one correction: take the noise along q out, put what attention reads there in
    features += np.outer((weights * scores).sum(1) - features @ unit, unit)
    features += np.outer((weights * planted).sum(1), direction - overlap * unit)
    return FeatureSample(features, y)
