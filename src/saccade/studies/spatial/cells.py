"""Whether patches of one set associate; the spurious rates of one set size move together."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.errors import require
from saccade.lab.vectorised import in_groups
from saccade.studies.spatial.dynamics import refuse_divergence
from saccade.studies.spatial.dynamics.idealised import few_states, population_descent
from saccade.studies.spatial.experiments.idealised import ASSOCIATES
from saccade.studies.spatial.theory import population as exact
from saccade.studies.spatial.theory.population import Scalars, Setting
from saccade.studies.spatial.theory.states import States

PATCHES, SET_SIZE, RATE, DEGREE, SLOPE, DIAGONAL, ALPHA, ETA_V, ETA_A = ASSOCIATES
# thinning keeps about as many states as asked for; cells must agree in number to share a program
ROOM = 8


def _check(asked: Any) -> None:
    exact.check_setting(Setting(
        asked.patches, asked.set_size, asked.spurious_rate, asked.degree, asked.slope,
        asked.diagonal))
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
    listed = {rate: few_states(setting._replace(spurious_rate=rate), states) for rate in set(rates)}
    used = [listed[rate] for rate in rates]
    cells = (
        Scalars(first, 0 * first, 0 * first),
        exact.step_sizes(setting, np.asarray(eta_v, float), np.asarray(eta_a, float)),
        *_stacked(used, states))
    scalars, losses, diverged_at = jax.vmap(
        lambda *cell: population_descent(*cell, setting, np.asarray([steps])))(*cells)
    for cell, step in enumerate(diverged_at):
        refuse_divergence(step, float(np.asarray(eta_v)[cell]), float(np.asarray(eta_a)[cell]))
    rows = np.concatenate([*scalars, losses], axis=1)
    return [_dataset(row, one, setting) for row, one in zip(rows, used, strict=True)]


def _dataset(row: np.ndarray, used: States, setting: Setting) -> xarray.Dataset:
    F = exact.outputs(Scalars(*row[:3]), setting, jnp.asarray(used.coefficients))
    named = dict(zip(("alpha", "gamma", "rho", "loss"), row.tolist(), strict=True))
    return xarray.Dataset(
        named | {"error": exact.error_of(F, used.probability)}, attrs={"thinned": used.thinned})
