"""Whether patches of one set associate; the spurious rates of one set size move together."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
import xarray

from saccade.errors import require
from saccade.lab.vectorised import in_groups
from saccade.studies.spatial.dynamics import descent
from saccade.studies.spatial.experiments.idealised import ASSOCIATES
from saccade.studies.spatial.theory import population as exact
from saccade.studies.spatial.theory.population import Scalars, Setting
from saccade.studies.spatial.theory.states import States

ENDS = ("alpha", "gamma", "rho", "loss", "error")
PATCHES, SET_SIZE, RATE, DEGREE, SLOPE, DIAGONAL, ALPHA, ETA_V, ETA_A = ASSOCIATES
# thinning keeps about as many states as asked for; cells must agree in number to share a program
ROOM = 8


def _check(asked: Any) -> None:
    exact.check_setting(Setting(*(getattr(asked, name) for name in Setting._fields[:6])))
    require(asked.steps >= 1, "steps", asked.steps, "must be at least 1")
    require(asked.states >= 1, "states", asked.states, "must be at least 1")


def _stacked(used: Sequence[States], most: int) -> tuple[np.ndarray, np.ndarray]:
    """States of all cells, filled up with impossible ones to a number that `most` decides."""
    rows = [np.vstack([one.coefficients, one.probability]) for one in used]
    stack = np.stack([np.pad(one, ((0, 0), (0, most + ROOM - one.shape[1]))) for one in rows])
    return stack[:, :-1], stack[:, -1]


@in_groups(
    "spatial.association", varying=("spurious_rate", "alpha", "eta_v", "eta_a"), width=5,
    check=_check)
def association(
    keys: Sequence[Any], *, patches: int = PATCHES, set_size: int = SET_SIZE,
    spurious_rate: float = RATE, degree: int = DEGREE, slope: float = SLOPE,
    diagonal: float = DIAGONAL, alpha: float = ALPHA, eta_v: float = ETA_V, eta_a: float = ETA_A,
    steps: int = 4000, states: int = 2000,
) -> list[xarray.Dataset]:
    """The end of population descent on `states` weighted states (exact if there are no more)."""
    # The rate is in the states alone: one setting, and so one program, serves all rates.
    setting = Setting(patches, set_size, 0.0, degree, slope, diagonal)
    rates, first = np.asarray(spurious_rate), np.asarray(alpha, float)
    listed = {
        rate: descent.few_states(setting._replace(spurious_rate=rate), states)
        for rate in set(rates)}
    used = [listed[rate] for rate in rates]
    cells = (
        Scalars(first, 0 * first, 0 * first),
        exact.step_sizes(setting, np.asarray(eta_v, float), np.asarray(eta_a, float)),
        *_stacked(used, states))
    scalars, losses, diverged_at = jax.vmap(lambda *cell: descent.population_descent(
        *cell, setting._replace(degree=0), degree, np.asarray([steps])))(*cells)
    for step, *etas in zip(diverged_at, np.ravel(eta_v), np.ravel(eta_a), strict=True):
        descent.refuse_divergence(step, *map(float, etas))
    rows = np.concatenate([*scalars, losses], axis=1)
    datasets = []
    for row, one in zip(rows, used, strict=True):
        F = exact.outputs(Scalars(*row[:3]), setting, one.coefficients)
        ends = zip(ENDS, (*row.tolist(), exact.error_of(F, one.probability)), strict=True)
        datasets.append(xarray.Dataset(dict(ends), attrs={"thinned": one.thinned}))
    return datasets
