"""Descent on drawn samples in all dimensions, with erf or softmax attention: nothing is assumed."""

from typing import Any, Literal

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.single_location import dynamics
from saccade.studies.single_location.dynamics import Setting
from saccade.studies.single_location.experiments.descent import Start, by_name


@experiment(
    "single-location.sampled-descent", scales={"paper": {"steps": 20_000, "repetitions": 30}})
def sampled_descent(
    key: Any, *, activation: Literal["erf", "softmax"] = "erf", dim: int = 40, length: int = 10,
    inverse_temperature: float = 1.0, decay: float = 0.0, gamma: float = 2**-0.5,
    noise: float = 0.0, step_size: float = 4e-3, steps: int = 2000, record_every: int = 200,
    repetitions: int = 8, batch: int = 20, start: Start = "sphere",
) -> xarray.Dataset:
    """Projected stochastic descent of an erf or a softmax layer, a fresh batch at each step.

    The exact descent of both, in the limit of large batches, is `softmax-location.descent`.
    """
    first_key, run_key = jax.random.split(key)
    setting = Setting(dim, length, inverse_temperature, gamma, noise)
    truth = np.eye(dim)[0], np.eye(dim)[1]
    learned = (
        dynamics.sphere_vectors(first_key, dim, repetitions) if start == "sphere"
        else dynamics.manifold_vectors(first_key, *truth, repetitions))
    run = dynamics.stochastic_trajectory_brute(
        run_key, *learned, *truth, setting, step_size, steps, batch, record_every, decay=decay,
        activation=activation)
    axes = ("repetition", "step")
    data = by_name(run.overlaps, axes) | by_name(
        dynamics.overlaps_of(*learned, *truth), "repetition", "first_")
    closed = {"risk": (axes, np.asarray(run.risk))} if activation == "erf" else {}
    return xarray.Dataset(data | closed, {"step": run.steps})
