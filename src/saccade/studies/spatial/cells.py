"""Whether patches of one set associate at one spurious rate and one set size; the rates of one set
size move together."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
import xarray
from jaxtyping import Array

from saccade.errors import Diverged, require
from saccade.lab.vectorised import in_groups
from saccade.studies.spatial.dynamics import Scalars, Setting, few_states
from saccade.studies.spatial.experiments.presets import ASSOCIATES
from saccade.studies.spatial.theory import States, check_setting, entries, error_of, loss, outputs

PATCHES, SET_SIZE, RATE, DEGREE, SLOPE, DIAGONAL, ALPHA, ETA_V, ETA_A = ASSOCIATES
# thinning keeps about as many states as asked for; cells must agree in number to share a program
ROOM = 8


def _setting(
    patches: int, set_size: int, rate: float, degree: int, slope: float, diagonal: float
) -> Setting:
    return Setting(
        int(patches), int(set_size), float(rate), int(degree), float(slope), float(diagonal))


def _check(asked: Any) -> None:
    sizes = (
        asked.patches, asked.set_size, asked.spurious_rate, asked.degree, asked.slope,
        asked.diagonal)
    check_setting(_setting(*sizes))
    require(asked.steps >= 1, "steps", asked.steps, "must be at least 1")
    require(asked.states >= 1, "states", asked.states, "must be at least 1")


@partial(jax.jit, static_argnames=("setting", "steps"))
@partial(jax.vmap, in_axes=(0, 0, 0, 0, None, None))
def _ends(
    start: Scalars, rates: Scalars, coefficients: Array, probability: Array, setting: Setting,
    steps: int,
) -> tuple[Scalars, Array, Array]:
    """The scalars after `steps` of population descent, and the loss and the outputs F there. The
    rate is in the states alone."""

    def step(at: Scalars, _: None) -> tuple[Scalars, None]:
        slope = jax.grad(loss)(at, setting, coefficients, probability)
        return jax.tree.map(lambda number, rate, pull: number - rate * pull, at, rates, slope), None

    end = jax.lax.scan(step, start, None, length=steps)[0]
    return end, loss(end, setting, coefficients, probability), outputs(end, setting, coefficients)


def _stacked(used: Sequence[States], most: int) -> tuple[np.ndarray, np.ndarray]:
    """States of all cells, filled up with impossible ones to one number that depends on nothing but
    `most`."""
    lack = [most + ROOM - len(one.probability) for one in used]
    coefficients = [
        np.pad(one.coefficients, ((0, 0), (0, gap))) for one, gap in zip(used, lack, strict=True)]
    return np.stack(coefficients), np.stack(
        [np.pad(one.probability, (0, gap)) for one, gap in zip(used, lack)])


@in_groups(
    "spatial.association", varying=("spurious_rate", "alpha", "eta_v", "eta_a"), width=5,
    check=_check)
def association(
    keys: Sequence[Any], *, patches: int = PATCHES, set_size: int = SET_SIZE,
    spurious_rate: float = RATE, degree: int = DEGREE, slope: float = SLOPE,
    diagonal: float = DIAGONAL, alpha: float = ALPHA, eta_v: float = ETA_V, eta_a: float = ETA_A,
    steps: int = 4000, states: int = 2000,
) -> list[xarray.Dataset]:
    """alpha, gamma, rho, loss and error at the end of population descent, on `states` weighted
    states (exact when there are no more)."""
    settings = [
        _setting(patches, set_size, rate, degree, slope, diagonal)
        for rate in np.asarray(spurious_rate)]
    same, other = entries(settings[0])
    first, eta = np.asarray(alpha, float), np.asarray(eta_a, float)
    start = Scalars(first, 0 * first, 0 * first)
    rates = Scalars(np.asarray(eta_v, float), eta / max(same, 1), eta / max(other, 1))
    listed = {setting: few_states(setting, states) for setting in set(settings)}
    used = [listed[setting] for setting in settings]
    shared = settings[0]._replace(spurious_rate=RATE)  # so that one program serves all rates
    end, losses, made = _ends(start, rates, *_stacked(used, states), shared, steps)
    rows = np.stack([*(np.asarray(numbers) for numbers in end), np.asarray(losses)])
    if not np.isfinite(rows).all():
        raise Diverged(f"left the finite numbers within {steps} steps; try a smaller eta_v.")
    return [_dataset(rows[:, cell], np.asarray(made)[cell], one) for cell, one in enumerate(used)]


def _dataset(row: np.ndarray, made: np.ndarray, used: States) -> xarray.Dataset:
    count = len(used.probability)
    error = error_of(made[:count], used.probability)
    named = dict(zip(("alpha", "gamma", "rho", "loss"), row.tolist(), strict=True))
    return xarray.Dataset(named | {"error": error}, attrs={"thinned": used.thinned})
