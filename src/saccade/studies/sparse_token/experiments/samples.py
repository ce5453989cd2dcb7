"""The task and the classifiers by themselves: samples of the task, how well its Bayes rule is
calibrated, and margins with tokens masked out."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray
from numpy.random import default_rng
from scipy.special import expit

from saccade.lab.experiment import experiment
from saccade.studies.sparse_token import models
from saccade.studies.sparse_token.experiments.draws import seeds_of
from saccade.studies.sparse_token.task import SparseToken

TABLE = ((True, True, False, False), (False, True, True, False), (True, False, False, True))
CHANCES = (0.5, 0.3, 0.2)


@experiment("sparse-token.samples")
def samples(
    key: Any, *, dim: int = 3, length: int = 4, positive_rate: float = 0.3, signal: float = 1.6,
    count: int = 2000, replicates: int = 32, assumed_signal: float = 1.6,
) -> xarray.Dataset:
    """Samples of the task at uniform places (R = 2) and at places of a table: means of what the
    setting prescribes, and of 1{y = +1} minus the posterior chance that `best` gives, times 1, that
    chance and two tokens."""
    xi: Any = np.array([2.0, -1.0, 2.0]) / 3
    rows = []
    for number, law in enumerate(((None, None), (np.array(TABLE), np.array(CHANCES)))):
        task, assumed = (
            SparseToken.create(dim, length, 2, positive_rate, strength, xi, *law)
            for strength in (signal, assumed_signal))
        pieces = list(task.stream(jax.random.fold_in(key, number), count * replicates, count * 16))
        parts: list[Any] = [
            np.concatenate([np.asarray(piece[i], float) for piece in pieces]) for i in range(3)]
        X, y, where = parts
        chance = expit(np.asarray(assumed.best(X)))
        along, positive, there = X @ xi, y > 0, where.astype(bool)
        left = positive - chance
        one = np.ones_like(along, bool)
        chosen = (
            (along, there & positive[:, None]), (along, there & ~positive[:, None]),
            (along, ~there), ((X**2).mean(2), one))
        per_sample = (
            positive, *where.T, where[:, 0] * where[:, 1], left, left * chance, left * along[:, 0],
            left * along[:, 3])
        rows.append(
            [_mean(*pair, replicates) for pair in chosen]
            + [_mean(column[:, None], one[:, :1], replicates) for column in per_sample])
    return xarray.Dataset(
        {"mean": (("law", "quantity", "replicate"), np.array(rows))}, {"law": ["uniform", "table"]})


def _mean(values: np.ndarray, chosen: np.ndarray, replicates: int) -> np.ndarray:
    """Over the chosen tokens of each replicate."""
    sums, counts = (x.reshape(replicates, -1).sum(1) for x in (values * chosen, chosen))
    return sums / counts


@experiment("sparse-token.masked-tokens")
def masked_tokens(
    key: Any, *, dim: int = 5, length: int = 4, hidden: int = 3, count: int = 6, beta: float = 0.7,
    ignore_mask: bool = False,
) -> xarray.Dataset:
    """Margins and shares of the three classifiers with `hidden` masked tokens after the others, and
    what they are made of."""
    rng = default_rng(seeds_of(key, 1)[0])
    tokens = length + hidden
    shapes = (dim,), (dim,), (tokens, dim), (count, tokens, dim)
    drawn: list[Any] = [rng.standard_normal(shape) for shape in shapes]
    (q, w, W, X), b = drawn, jnp.asarray(0.3)
    shown: Any = np.broadcast_to(np.arange(tokens) < length, X.shape[:2])
    shown = None if ignore_mask else shown
    family = (
        models.AttentionClassifier(q, w, b, beta), models.PooledClassifier(w, b),
        models.VectorisedClassifier(W, b))
    return xarray.Dataset({
        "margin": (("model", "sample"), np.array([model(X, shown) for model in family])),
        "share": (
            ("model", "sample", "token"),
            np.array([model.attention(X, shown) for model in family])),
        "scores": (("sample", "token"), X @ q), "answers": (("sample", "token"), X @ w),
        "parts": (("sample", "token"), np.einsum("nld,ld->nl", X, W))})
