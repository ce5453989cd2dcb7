"""Where descent from random starts ends, at one dimension and one inverse temperature."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
import xarray

from saccade.errors import require
from saccade.lab.coded import coded
from saccade.lab.vectorised import in_groups
from saccade.studies.single_location import dynamics
from saccade.studies.single_location.dynamics import Overlaps, Setting
from saccade.studies.single_location.experiments.descent import NEAR, by_name


def _check(asked: Any) -> None:
    size, steps = asked.step_size, asked.steps
    dynamics.check_setting(
        Setting(asked.dim, asked.length, asked.inverse_temperature, asked.gamma, asked.noise))
    require(0 <= size < np.inf, "step_size", size, "must be finite and at least 0")
    require(steps >= 1, "steps", steps, "must be at least 1")


def _starts(keys: Sequence[Any], dim: int, repetitions: int) -> Overlaps:
    """(cell, repetition); cells with the same key have the same starts, which are drawn once."""
    names = [np.asarray(jax.random.key_data(key)).tobytes() for key in keys]
    drawn = {
        name: np.stack(dynamics.sphere_overlaps(key, dim, repetitions))
        for name, key in dict(zip(names, keys, strict=True)).items()}
    return Overlaps(*np.stack([drawn[name] for name in names], axis=1))


@in_groups(
    "single-location.ends", varying=("inverse_temperature", "gamma", "noise", "step_size"),
    width=16, check=_check)
def ends(
    keys: Sequence[Any], *, dim: int = 400, length: int = 10, inverse_temperature: float = 1.0,
    gamma: float = 2**-0.5, noise: float = 0.0, step_size: float = 1e-3, steps: int = 20_000,
    repetitions: int = 40,
) -> list[xarray.Dataset]:
    """Exact descent from random starts on the sphere: their ends, and codes into OUTCOMES."""
    varying = (np.asarray(x)[:, None] for x in (inverse_temperature, gamma, noise, step_size))
    *task, size = varying
    start, setting = _starts(keys, dim, repetitions), Setting(dim, length, *task)
    final = np.stack(dynamics.overlap_trajectory(start, setting, size, steps).final)
    cells = [
        (Overlaps(*final[:, cell]), Setting(dim, length, *(float(x[cell, 0]) for x in task)))
        for cell in range(len(keys))]
    return [
        xarray.Dataset(
            by_name(end, "repetition")
            | {"outcome": coded("repetition", _code(end, at), dynamics.OUTCOMES)})
        for end, at in cells]


def _code(end: Overlaps, setting: Setting) -> np.ndarray:
    return np.asarray(dynamics.classify(end, setting, NEAR))
