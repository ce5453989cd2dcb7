"""Classifiers fitted to the very same tokens: a query too short to choose, and uneven places."""

from typing import Any

import numpy as np
import xarray
from numpy.random import SeedSequence, default_rng

from saccade.convex import fit_readout
from saccade.lab.experiment import experiment
from saccade.studies.sparse_token import models
from saccade.studies.sparse_token.experiments import readouts
from saccade.studies.sparse_token.experiments.draws import draw_tokens, seeds_of
from saccade.studies.sparse_token.experiments.readouts import Loss
from saccade.studies.sparse_token.task import MODELS, SparseToken


@experiment("sparse-token.blunt-query", scales={"standard": {"dim": 200, "trials": 64}})
def blunt_query(
    key: Any, *, length: int = 10, informative: int = 3, positive_rate: float = 0.2,
    signal: float = 6.0, alignment: float = 0.952, sharpness: float = 0.0239,
    samples_per_dim: float = 3.0, ridge: float = 1e-2, loss: Loss = "logistic", dim: int = 60,
    trials: int = 32,
) -> xarray.Dataset:
    """Training loss and test error of attention and of pooling fitted to the very same tokens."""
    task = SparseToken.create(dim, length, informative, positive_rate, signal)
    query = readouts.tilted_query(dim, alignment, sharpness)
    n = round(samples_per_dim * dim)
    rows = [_side_by_side(task, seed, n, (query,), ridge, loss) for seed in seeds_of(key, trials)]
    return readouts.table(
        ("train_loss", "test_error"), rows, ("trial", "model"), {"model": ("attention", "pooled")})


def _side_by_side(
    task: SparseToken, seed: SeedSequence, n: int, queries: tuple[Any, ...], ridge: float, loss: str
) -> list[list[float]]:
    """Training loss and test error of attention with each query and then of pooling, fitted to the
    same tokens and asked about the same."""
    draw_seed, test_seed = seed.spawn(2)
    X, y, _ = draw_tokens(task, default_rng(draw_seed), n)

    def measured(features: Any, query: Any, beta: float) -> list[float]:
        fitted = fit_readout(features, y, ridge, loss)
        view = readouts.view_of_attention(fitted.w, fitted.b, query, task.direction, beta)
        rng = default_rng(test_seed)
        return [fitted.train_loss, readouts.attention_test_error(task.setting, view, rng, 4000)]

    attention = [measured(models.attention_features(X, query), query, 1.0) for query in queries]
    return [*attention, measured(models.pooled_features(X), queries[-1], 0.0)]


@experiment("sparse-token.vanishing-query")
def vanishing_query(
    key: Any, *, norms: tuple[float, ...] = (0.0005, 0.002, 0.008), length: int = 5,
    informative: int = 2, positive_rate: float = 0.3, signal: float = 4.0, alignment: float = 0.9,
    samples_per_dim: float = 3.0, ridge: float = 1e-2, loss: Loss = "logistic", dim: int = 30,
    trials: int = 32,
) -> xarray.Dataset:
    """What attention with queries of these norms has more than pooling of training loss and test
    error, on the very same tokens."""
    task = SparseToken.create(dim, length, informative, positive_rate, signal)
    queries = tuple(readouts.tilted_query(dim, alignment, norm) for norm in norms)
    rows = np.array([
        _side_by_side(task, seed, round(samples_per_dim * dim), queries, ridge, loss)
        for seed in seeds_of(key, trials)])
    return readouts.table(
        ("train_loss", "test_error"), rows[:, :-1] - rows[:, -1:], ("trial", "norm"),
        {"norm": norms})


@experiment("sparse-token.uneven-places", scales={"standard": {"dim": 150, "trials": 64}})
def uneven_places(
    key: Any, *, place_probabilities: tuple[float, ...] = (0.7, 0.1, 0.1, 0.1),
    positive_rate: float = 0.4, signal: float = 3.0, alignment: float = 0.8, sharpness: float = 1.0,
    samples_per_dim: float = 8.0, ridge: float = 1e-2, loss: Loss = "logistic", dim: int = 40,
    trials: int = 32,
) -> xarray.Dataset:
    """One informative token at uneven places: fits of the three models, each token's weights."""
    length = len(place_probabilities)
    task = SparseToken.create(
        dim, length, 1, positive_rate, signal, None, np.eye(length, dtype=bool),
        np.array(place_probabilities))
    query = readouts.tilted_query(dim, alignment, sharpness)
    rows, signals = [], []
    for seed in seeds_of(key, trials):
        rng = default_rng(seed)
        X, y, _ = draw_tokens(task, rng, round(samples_per_dim * dim))
        features = {
            "attention": models.attention_features(X, query), "pooled": models.pooled_features(X),
            "vectorised": models.vectorised_features(X)}
        fits = {
            model: fit_readout(item, y, ridge, loss, tolerance=1e-9)
            for model, item in features.items()}
        # attention and pooling as under the uniform law: they do not see places
        rows.append([
            [
                fit.train_loss, readouts.readout_test_error(task, fit, model, query, rng),
                np.linalg.norm(fit.w)]
            for model, fit in fits.items()])
        signals.append(fits["vectorised"].w.reshape(length, dim) @ np.asarray(task.direction))
    data = readouts.table(
        ("train_loss", "test_error", "w_norm"), rows, ("trial", "model"), {"model": MODELS})
    return data.assign(token_signal=(("trial", "token"), np.array(signals)))
