"""Descent on the population in three scalars: where it learns to associate, where it passes three
events, where it unlearns."""

from typing import Any

import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.spatial import dynamics
from saccade.studies.spatial.dynamics import Scalars, Setting
from saccade.studies.spatial.experiments.presets import ASSOCIATES

PATCHES, SET_SIZE, RATE, DEGREE, SLOPE, DIAGONAL, ALPHA, ETA_V, ETA_A = ASSOCIATES


@experiment("spatial.idealised", scales={"standard": {"states": 20_000}})
def idealised(
    key: Any, *, patches: int = PATCHES, set_size: int = SET_SIZE, spurious_rate: float = RATE,
    degree: int = DEGREE, slope: float = SLOPE, diagonal: float = DIAGONAL, alpha: float = ALPHA,
    eta_v: float = ETA_V, eta_a: float = ETA_A, steps: int = 3000, states: int = 5000,
    records: int = 300,
) -> xarray.Dataset:
    """alpha, gamma, rho, loss and error along population descent, on `states` weighted states
    (exact when there are no more)."""
    setting = Setting(patches, set_size, spurious_rate, degree, slope, diagonal)
    used = dynamics.few_states(setting, states)
    path = dynamics.idealised_descent(Scalars(alpha, 0.0, 0.0), setting, eta_v, eta_a, steps, used)
    at = np.unique(np.concatenate([
        np.arange(min(40, steps)), np.geomspace(1, max(steps - 1, 1), records).astype(int),
        [steps - 1]]))
    rows = {
        name: ("step", np.asarray(numbers)[at]) for name, numbers in path.scalars._asdict().items()}
    rows["loss"] = ("step", np.asarray(path.loss)[at])
    rows["error"] = ("step", dynamics.errors_along(path, setting, at))
    final = {
        f"final_{name}": ((), float(numbers[-1]))
        for name, numbers in path.scalars._asdict().items()}
    return xarray.Dataset(rows | final, coords={"step": at}, attrs={"thinned": used.thinned})


@experiment("spatial.phase-portrait")
def phase_portrait(
    key: Any, *, patches: int = PATCHES, set_size: int = SET_SIZE, spurious_rate: float = RATE,
    diagonal: float = DIAGONAL, ratio: float = ETA_A / ETA_V, states: int = 3000,
    alphas: tuple[float, float, int] = (0.004, 0.085, 18),
    gammas: tuple[float, float, int] = (0.0, 6.0, 18), rho_per_gamma: float = -0.066,
) -> xarray.Dataset:
    """The loss and the direction of descent over (alpha, gamma), with rho tied to gamma as it is
    along the path."""
    setting = Setting(patches, set_size, spurious_rate, DEGREE, SLOPE, diagonal)
    used = dynamics.few_states(setting, states)
    alpha, gamma = np.linspace(*alphas[:2], alphas[2]), np.linspace(*gammas[:2], gammas[2])
    field = dynamics.descent_field(alpha, gamma, rho_per_gamma * gamma, setting, used)
    moves = {
        "move_alpha": -field.grad_alpha, "move_gamma": -ratio * field.grad_same, "loss": field.loss}
    return xarray.Dataset(
        {name: (("alpha", "gamma"), np.asarray(values)) for name, values in moves.items()},
        coords={"alpha": alpha, "gamma": gamma})
