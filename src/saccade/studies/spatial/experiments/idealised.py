"""Descent on the population in three scalars: where it learns to associate, where it passes three
events, where it unlearns. The study's page says which settings had failed before."""

from typing import Any

import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.spatial.dynamics import descent as dynamics
from saccade.studies.spatial.dynamics.descent import Scalars, Setting

# D, C, q, p, nu, beta, alpha0, eta_v, eta_a.
ASSOCIATES = (64, 4, 0.25, 3, 1e-4, 1.0, 0.01, 1e-3, 30.0)
PATCHES, SET_SIZE, RATE, DEGREE, SLOPE, DIAGONAL, ALPHA, ETA_V, ETA_A = ASSOCIATES
EVENTS = {
    "patches": 144, "set_size": 9, "spurious_rate": 0.25, "degree": 3, "slope": 1e-6,
    "diagonal": 1.5, "alpha": 1e-3, "eta_v": 1e-4, "eta_a": 300.0, "steps": 5000, "states": 2000}
UNLEARNS = {
    "patches": 8, "set_size": 2, "spurious_rate": 0.5, "degree": 3, "slope": 0.01, "diagonal": 0.5,
    "alpha": 0.1, "eta_v": 0.01, "eta_a": 1.0, "steps": 4000}


@experiment("spatial.idealised", scales={"standard": {"states": 20_000}})
def idealised(
    key: Any, *, patches: int = PATCHES, set_size: int = SET_SIZE, spurious_rate: float = RATE,
    degree: int = DEGREE, slope: float = SLOPE, diagonal: float = DIAGONAL, alpha: float = ALPHA,
    eta_v: float = ETA_V, eta_a: float = ETA_A, steps: int = 3000, states: int = 5000,
    records: int = 300,
) -> xarray.Dataset:
    """alpha, gamma, rho, loss and error along population descent on `states` weighted states."""
    setting = Setting(patches, set_size, spurious_rate, degree, slope, diagonal)
    used = dynamics.few_states(setting, states)
    stops = np.unique(np.concatenate([
        np.arange(min(40, steps)), np.geomspace(1, max(steps - 1, 1), records).astype(int),
        [steps - 1, steps]]))
    path = dynamics.idealised_descent(Scalars(alpha, 0.0, 0.0), setting, eta_v, eta_a, stops, used)
    rows = path.scalars._asdict() | {
        "loss": path.loss, "error": dynamics.errors_along(path, setting)}
    final = {f"final_{name}": float(rows[name][-1]) for name in Scalars._fields}
    return xarray.Dataset(
        {name: ("step", np.asarray(numbers)[:-1]) for name, numbers in rows.items()} | final,
        coords={"step": stops[:-1]}, attrs={"thinned": used.thinned})


@experiment("spatial.phase-portrait")
def phase_portrait(
    key: Any, *, patches: int = PATCHES, set_size: int = SET_SIZE, spurious_rate: float = RATE,
    diagonal: float = DIAGONAL, ratio: float = ETA_A / ETA_V, states: int = 3000,
    alphas: tuple[float, float, int] = (0.004, 0.085, 18),
    gammas: tuple[float, float, int] = (0.0, 6.0, 18), rho_per_gamma: float = -0.066,
) -> xarray.Dataset:
    """The loss and the direction of descent over (alpha, gamma), rho tied to gamma."""
    setting = Setting(patches, set_size, spurious_rate, DEGREE, SLOPE, diagonal)
    used = dynamics.few_states(setting, states)
    alpha, gamma = np.linspace(*alphas), np.linspace(*gammas)
    loss, move = dynamics.descent_field(
        alpha, gamma, rho_per_gamma * gamma, dynamics.step_sizes(setting, 1.0, ratio),
        used.coefficients, used.probability, setting)
    fields = {"move_alpha": move.alpha, "move_gamma": move.gamma, "loss": loss}
    return xarray.Dataset(
        {name: (("alpha", "gamma"), np.asarray(values)) for name, values in fields.items()},
        coords={"alpha": alpha, "gamma": gamma})
