"""Places that are not equally likely: the three classifiers fitted to the very same tokens."""

from typing import Any

import jax
import numpy as np
import xarray

from saccade.convex import ConvexFit, fit_readout
from saccade.lab.experiment import experiment
from saccade.studies.sparse_token.experiments.readouts import Loss, generator, tilted_query
from saccade.studies.sparse_token.experiments.testing import (
    attention_test_error,
    seen_by_attention,
    vectorised_test_error,
)
from saccade.studies.sparse_token.models import (
    attention_features,
    pooled_features,
    vectorised_features,
)
from saccade.studies.sparse_token.task import SparseToken

READ_OUTS = ("attention", "pooled", "vectorised")


@experiment("sparse-token.uneven-places", scales={"standard": {"dim": 150, "trials": 64}})
def uneven_places(
    key: Any, *, place_probabilities: tuple[float, ...] = (0.7, 0.1, 0.1, 0.1),
    positive_rate: float = 0.4, signal: float = 3.0, alignment: float = 0.8, sharpness: float = 1.0,
    samples_per_dim: float = 8.0, ridge: float = 1e-2, loss: Loss = "logistic", dim: int = 40,
    trials: int = 32,
) -> xarray.Dataset:
    """One informative token whose place follows `place_probabilities`: fits of the three models,
    and what each token's weights see."""
    length = len(place_probabilities)
    task = SparseToken.create(
        dim, length, 1, positive_rate, signal, None, np.eye(length, dtype=bool),
        np.array(place_probabilities))
    query = tilted_query(dim, alignment, sharpness)
    rows, signals = [], []
    for one in jax.random.split(key, trials):
        sample = task.sample(one, round(samples_per_dim * dim))
        features = (
            attention_features(sample.X, query), pooled_features(sample.X),
            vectorised_features(sample.X))
        fits = [fit_readout(item, sample.y, ridge, loss, tolerance=1e-9) for item in features]
        tests = _test_errors(task, fits, query, generator(one))
        rows.append([
            [f.train_loss, error, np.linalg.norm(f.w)]
            for f, error in zip(fits, tests, strict=True)])
        signals.append(fits[2].w.reshape(length, dim) @ np.asarray(task.direction))
    values, names = np.array(rows), ("trial", "model")
    data = {
        name: (names, values[:, :, i])
        for i, name in enumerate(("train_loss", "test_error", "w_norm"))}
    return xarray.Dataset(
        data | {"token_signal": (("trial", "token"), np.array(signals))}, {"model": list(READ_OUTS)}
    )


def _test_errors(
    task: SparseToken, fits: list[ConvexFit], query: Any, rng: np.random.Generator
) -> list[float]:
    """Attention and pooling as under the uniform law (they do not see places), the vectorised
    classifier place by place."""
    attended, pooled, whole = fits
    seen = [
        seen_by_attention(f.w, f.b, q, task.direction)
        for f, q in ((attended, query), (pooled, 0.0 * query))]
    errors = [attention_test_error(task.setting, item, rng) for item in seen]
    token_signal = whole.w.reshape(task.setting.length, -1) @ np.asarray(task.direction)
    chances = np.asarray(task.location_probabilities)
    return [
        *errors,
        vectorised_test_error(
            task.setting, token_signal, float(np.linalg.norm(whole.w)), whole.b, chances)]
