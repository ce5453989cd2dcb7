"""Predicted errors of the three classifiers at one signal and one alignment."""

from typing import Any

import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.tasks.sparse_token import SparseTokenSetting
from saccade.theory.sparse_token import fit

MODELS = ("attention", "pooled", "vectorised")
RIDGES = (0.01, 0.1, 1.0)


@experiment("sparse-token.winner")
def winner(
    key: Any,
    *,
    length: int = 10,
    informative: int = 1,
    positive_rate: float = 0.5,
    signal: float = 4.0,
    alignment: float = 0.5,
    sharpness: float = 2.0,
    samples_per_dim: float = 4.0,
) -> xarray.Dataset:
    """Predicted test error of each classifier in high dimension, with the best of three ridges for each. Status: asymptotic."""
    setting = SparseTokenSetting(length, informative, positive_rate, signal)
    errors = []
    for model in MODELS:
        query = (alignment, sharpness) if model == "attention" else (None, None)
        made = [fit(setting, model, samples_per_dim, ridge, "logistic", *query) for ridge in RIDGES]
        bad = [one.status for one in made if one.status != "converged"]
        if bad:
            raise ArithmeticError(f"the equations of {model} are {bad[0]}")
        errors.append(min(one.test_error for one in made))
    return xarray.Dataset({"test_error": ("model", np.array(errors))}, {"model": list(MODELS)})
