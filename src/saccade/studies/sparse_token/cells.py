"""Predicted errors of the three classifiers at one signal and one alignment."""

from functools import lru_cache
from typing import Any

import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.sparse_token.task import MODELS, SparseTokenSetting
from saccade.studies.sparse_token.theory import fit

RIDGES = (0.01, 0.1, 1.0)


@experiment("sparse-token.winner")
def winner(
    key: Any, *, length: int = 10, informative: int = 1, positive_rate: float = 0.5,
    signal: float = 4.0, alignment: float = 0.5, sharpness: float = 2.0,
    samples_per_dim: float = 4.0,
) -> xarray.Dataset:
    """Predicted test error of each classifier in high dimension, with the best of three ridges for
    each. Status: asymptotic."""
    setting = SparseTokenSetting(length, informative, positive_rate, signal)
    queries = {"attention": (alignment, sharpness)}
    errors = [
        _smallest(setting, model, samples_per_dim, *queries.get(model, (None, None)))
        for model in MODELS]
    return xarray.Dataset({"test_error": ("model", np.array(errors))}, {"model": list(MODELS)})


@lru_cache(maxsize=64)
def _smallest(
    setting: SparseTokenSetting, model: str, samples_per_dim: float, alignment: float | None,
    sharpness: float | None,
) -> float:
    """The error with the best ridge. Kept, because only attention's depends on the alignment: a row
    of cells asks for the others again."""
    fits = [
        fit(setting, model, samples_per_dim, ridge, "logistic", alignment, sharpness)
        for ridge in RIDGES]
    if any(one.status != "converged" for one in fits):
        raise ArithmeticError(f"the equations of {model} are not converged")
    return min(one.test_error for one in fits)
