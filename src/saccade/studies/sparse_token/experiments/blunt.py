"""A query too short to choose: attention and mean pooling on the same tokens."""

from typing import Any

import jax
import numpy as np
import xarray

from saccade.convex import fit_readout
from saccade.lab.experiment import experiment
from saccade.studies.sparse_token.experiments.readouts import Loss, generator, tilted_query
from saccade.studies.sparse_token.experiments.testing import attention_test_error, seen_by_attention
from saccade.studies.sparse_token.models import attention_features, pooled_features
from saccade.studies.sparse_token.task import SparseToken


@experiment("sparse-token.blunt-query", scales={"standard": {"dim": 200, "trials": 64}})
def blunt_query(
    key: Any, *, length: int = 10, informative: int = 3, positive_rate: float = 0.2,
    signal: float = 6.0, alignment: float = 0.952, sharpness: float = 0.0239,
    samples_per_dim: float = 3.0, ridge: float = 1e-2, loss: Loss = "logistic", dim: int = 60,
    trials: int = 32,
) -> xarray.Dataset:
    """Training loss and test error of attention and of pooling fitted to the very same token
    matrices."""
    task = SparseToken.create(dim, length, informative, positive_rate, signal)
    query = tilted_query(dim, alignment, sharpness)
    rows = []
    for one in jax.random.split(key, trials):
        sample = task.sample(one, round(samples_per_dim * dim))
        row = []
        for features, beta in (
            (attention_features(sample.X, query), 1.0), (pooled_features(sample.X), 0.0),
        ):
            fitted = fit_readout(features, sample.y, ridge, loss)
            seen = seen_by_attention(fitted.w, fitted.b, query, task.direction, beta)
            row.append(
                [fitted.train_loss, attention_test_error(task.setting, seen, generator(one), 4000)])
        rows.append(row)
    values = np.array(rows)
    names = ("trial", "model")
    return xarray.Dataset(
        {"train_loss": (names, values[:, :, 0]), "test_error": (names, values[:, :, 1])},
        {"model": ["attention", "pooled"]})
