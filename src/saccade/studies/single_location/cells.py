"""Where descent from random starts ends at one dimension and one inverse temperature; the cells of
one dimension move together."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
import xarray

from saccade.errors import require
from saccade.lab.vectorised import in_groups
from saccade.studies.single_location.dynamics import (
    Overlaps,
    Setting,
    classify,
    overlap_trajectory,
    sphere_overlaps,
)
from saccade.studies.single_location.theory import check_setting

# runs still creeping along a plateau count for the end state they approach; the end states are 0.9
# apart
NEAR = 0.3


def _check(asked: Any) -> None:
    check_setting(
        Setting(asked.dim, asked.length, asked.inverse_temperature, asked.gamma, asked.noise))
    require(
        0 <= asked.step_size < np.inf, "step_size", asked.step_size, "must be finite and at least 0"
    )
    require(asked.steps >= 1, "steps", asked.steps, "must be at least 1")


def _starts(keys: Sequence[Any], dim: int, repetitions: int) -> Overlaps:
    """(cell, repetition); cells with the same key have the same starts, which are drawn once."""
    names = [np.asarray(jax.random.key_data(key)).tobytes() for key in keys]
    drawn = {
        name: sphere_overlaps(key, dim, repetitions)
        for name, key in dict(zip(names, keys, strict=True)).items()}
    return Overlaps(
        *(np.stack([np.asarray(drawn[name][place]) for name in names]) for place in range(5)))


@in_groups(
    "single-location.ends", varying=("inverse_temperature", "gamma", "noise", "step_size"),
    width=16, check=_check)
def ends(
    keys: Sequence[Any], *, dim: int = 400, length: int = 10, inverse_temperature: float = 1.0,
    gamma: float = 2**-0.5, noise: float = 0.0, step_size: float = 1e-3, steps: int = 20_000,
    repetitions: int = 40,
) -> list[xarray.Dataset]:
    """Exact descent in five overlaps from random starts on the sphere: the end of each, and its
    name as a code into OUTCOMES."""
    columns = (
        np.asarray(values)[:, None] for values in (inverse_temperature, gamma, noise, step_size))
    warmth, share, spread, size = columns
    start = _starts(keys, dim, repetitions)
    final = overlap_trajectory(
        start, Setting(dim, length, warmth, share, spread), size, steps).final
    settings = [
        Setting(dim, length, *(float(x[cell, 0]) for x in (warmth, share, spread)))
        for cell in range(len(keys))]
    cells = [Overlaps(*(values[cell] for values in final)) for cell in range(len(keys))]
    return [_dataset(one, setting) for one, setting in zip(cells, settings, strict=True)]


def _dataset(final: Overlaps, setting: Setting) -> xarray.Dataset:
    ended = {name: ("repetition", np.asarray(values)) for name, values in final._asdict().items()}
    return xarray.Dataset(
        ended | {"outcome": ("repetition", np.asarray(classify(final, setting, NEAR)))})
