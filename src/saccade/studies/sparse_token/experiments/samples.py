"""The task, the classifiers and their elementary steps by themselves: samples of the task, how well
its Bayes rule is calibrated and what it says of given tokens, margins with tokens masked out, two
gradient steps by automatic differentiation, and proximal points by search."""

from itertools import combinations
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray
from numpy.random import default_rng
from scipy.optimize import minimize_scalar
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
    count: int = 2000, replicates: int = 32, assumed_signal: float = 1.6, apart: int = 1,
    drawn_rate: float = 0.3, moved: float = 0.0, swapped: bool = False,
) -> xarray.Dataset:
    """Samples of the task at uniform places (R = 2) and at places of a table: means of what the
    setting prescribes, of 1{y = +1} minus the posterior chance that `best` gives, times 1, that
    chance and two tokens, and of a coordinate times the same one of the sample at the same place
    `apart` pieces of the stream later. Samples may be drawn at another rate, with all tokens
    `moved` along xi, or the two laws of places `swapped`."""
    xi: Any = np.array([2.0, -1.0, 2.0]) / 3
    laws: list[Any] = [(None, None), (np.array(TABLE), np.array(CHANCES))]
    rows = []
    for number, law in enumerate(laws):
        drawn = laws[1 - number] if swapped else law
        task = SparseToken.create(dim, length, 2, drawn_rate, signal, xi, *drawn)
        assumed = SparseToken.create(dim, length, 2, positive_rate, assumed_signal, xi, *law)
        pieces = list(task.stream(jax.random.fold_in(key, number), count * replicates, count))
        parts: list[Any] = [
            np.concatenate([np.asarray(piece[i], float) for piece in pieces]) for i in range(3)]
        X, y, where = parts
        X = X + moved * xi
        chance = expit(np.asarray(assumed.best(X)))
        along, positive, there = X @ xi, y > 0, where.astype(bool)
        left = positive - chance
        one = np.ones_like(along, bool)
        chosen = (
            (along, there & positive[:, None]), (along, there & ~positive[:, None]),
            (along, ~there), ((X**2).mean(2), one))
        per_sample = (
            positive, *where.T, where[:, 0] * where[:, 1], left, left * chance, left * along[:, 0],
            left * along[:, 3], X[:, 0, 0] * np.roll(X[:, 0, 0], -apart * count))
        rows.append(
            [_mean(*pair, replicates) for pair in chosen]
            + [_mean(column[:, None], one[:, :1], replicates) for column in per_sample])
    return xarray.Dataset(
        {"mean": (("law", "quantity", "replicate"), np.array(rows))}, {"law": ["uniform", "table"]})


def _mean(values: np.ndarray, chosen: np.ndarray, replicates: int) -> np.ndarray:
    """Over the chosen tokens of each replicate."""
    sums, counts = (x.reshape(replicates, -1).sum(1) for x in (values * chosen, chosen))
    return sums / counts


XI = (2 / 3, -1 / 3, 2 / 3)


@experiment("sparse-token.given-tokens")
def given_tokens(
    key: Any, *, length: int = 4, count: int = 3, positive_rate: float = 0.3,
    signal_by_hand: float = 0.9, beta_by_hand: float = 0.7,
) -> xarray.Dataset:
    """A few tokens and a query; by hand the log odds of a positive sample, summed over all places
    of two informative tokens (along a direction and along the first axis, then for places from a
    table and for equally likely ones of it), and what attention makes of the tokens."""
    rng = default_rng(seeds_of(key, 1)[0])
    X, query = rng.standard_normal((count, length, 3)) + 0.2, rng.standard_normal(3)
    pairs = list(combinations(range(length), 2))
    table = [tuple(np.flatnonzero(row)) for row in TABLE]
    uniform, chances, even = [1 / len(pairs)] * len(pairs), CHANCES, [1 / len(table)] * len(table)
    laws = (
        (XI, pairs, uniform), ((1, 0, 0), pairs, uniform), (XI, table, chances), (XI, table, even))
    odds, weights = np.zeros((len(laws), count)), np.exp(beta_by_hand * (X @ query))
    for law, (xi, places, shares) in enumerate(laws):
        for sample, tokens in enumerate(X):
            ratios = [  # of the densities of the tokens at these places, with and without a signal
                np.prod([
                    np.exp(
                        np.sum(
                            tokens[at] ** 2 - (tokens[at] - signal_by_hand * np.array(xi)) ** 2)
                        / 2)
                    for at in pair])
                for pair in places
            ]
            odds[law, sample] = np.log(positive_rate / (1 - positive_rate) * np.dot(shares, ratios))
    attention = np.array([row / row.sum() for row in weights])
    features = [
        sum(share * token for share, token in zip(*pair, strict=True))
        for pair in zip(attention, X, strict=True)]
    return xarray.Dataset({
        "X": (("sample", "token", "entry"), X), "query": ("entry", query),
        "odds": (("law", "sample"), odds), "attention": (("sample", "token"), attention),
        "features": (("sample", "entry"), np.array(features))})


@experiment("sparse-token.masked-tokens")
def masked_tokens(
    key: Any, *, dim: int = 5, length: int = 4, hidden: int = 3, count: int = 6, beta: float = 0.7,
    ignore_mask: bool = False,
) -> xarray.Dataset:
    """Margins and shares of the three classifiers with `hidden` masked tokens after the others, no
    numbers where there is a mask, and what they are made of."""
    rng = default_rng(seeds_of(key, 1)[0])
    tokens = length + hidden
    shapes = (dim,), (dim,), (tokens, dim), (count, tokens, dim)
    drawn: list[Any] = [rng.standard_normal(shape) for shape in shapes]
    (q, w, W, X), b = drawn, jnp.asarray(0.3)
    shown: Any = np.broadcast_to(np.arange(tokens) < length, X.shape[:2])
    given: Any = X if ignore_mask else np.where(shown[..., None], X, np.nan)
    shown = None if ignore_mask else shown
    family = (
        models.AttentionClassifier(q, w, b, beta), models.PooledClassifier(w, b),
        models.VectorisedClassifier(W, b))
    return xarray.Dataset({
        "margin": (("model", "sample"), np.array([model(given, shown) for model in family])),
        "share": (
            ("model", "sample", "token"),
            np.array([model.attention(given, shown) for model in family])),
        "scores": (("sample", "token"), X @ q), "answers": (("sample", "token"), X @ w),
        "parts": (("sample", "token"), np.einsum("nld,ld->nl", X, W))})


LOSSES = {"logistic": lambda h, y: jax.nn.softplus(-y * h), "square": lambda h, y: (y - h) ** 2 / 2}


@experiment("sparse-token.differentiated-steps")
def differentiated_steps(
    key: Any, *, dim: int = 4, length: int = 5, count: int = 7, eta_w: float = 1.3,
    eta_b: float = 0.7, eta_q: float = 2.1, beta: float = 0.6, swapped: bool = False,
) -> xarray.Dataset:
    """A few tokens, and the two gradient steps on them by differentiating the mean loss of the
    attention classifier (`swapped`: of the other loss)."""
    rng = default_rng(seeds_of(key, 1)[0])
    X: Any = rng.standard_normal((count, length, dim)) + 0.5
    y: Any = np.where(np.arange(count) < 2, 1.0, -1.0)
    differentiated = []
    for name, other in zip(LOSSES, reversed(LOSSES), strict=True):
        loss = LOSSES[other if swapped else name]

        def mean_loss(q: Any, w: Any, b: Any, loss=loss) -> Any:
            shares = jax.nn.softmax(beta * jnp.einsum("nld,d->nl", X, q), axis=1)
            return jnp.mean(loss(jnp.einsum("nl,nld,d->n", shares, X, w) + b, y))

        zero = jnp.zeros(dim)
        by_w, by_b = jax.grad(mean_loss, (1, 2))(zero, zero, 0.0)
        w, b = -eta_w * by_w, -eta_b * by_b
        q = -eta_q * jax.grad(mean_loss)(zero, w, b)
        differentiated.append(np.concatenate([w, [b], q]))
    return xarray.Dataset({
        "X": (("sample", "token", "dim"), X), "y": ("sample", y),
        "differentiated": (("loss", "entry"), np.array(differentiated))})


@experiment("sparse-token.searched-prox")
def searched_prox(
    key: Any, *, omega: tuple[float, ...] = (-2.3, 0.4, 3.1),
    step: tuple[float, ...] = (0.2, 7.0, 120.0),
) -> xarray.Dataset:
    """argmin over h of log(1 + e^{-y h}) + (h - omega)^2/(2 step) by Brent's search, for both
    labels."""

    def searched(label: float, point: float, width: float) -> float:
        found: Any = minimize_scalar(
            lambda h: np.logaddexp(0.0, -label * h) + (h - point) ** 2 / (2 * width),
            bracket=(point, point + label * min(width, 1.0)), tol=1e-12)
        return float(found.x)

    rows = [
        [searched(label, *pair) for pair in zip(omega, step, strict=True)] for label in (1.0, -1.0)]
    return xarray.Dataset({"prox": (("label", "point"), np.array(rows))}, {"label": [1, -1]})
