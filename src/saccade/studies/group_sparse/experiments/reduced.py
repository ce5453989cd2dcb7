"""The full layer followed in its six free numbers: what W learns beside the gap, and what a large
step does to it."""

import warnings
from typing import Any

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.group_sparse import dynamics

NAMES = ("alpha", "a", "b", "m_ss", "m_so", "m_os", "m_dd", "m_oo")


@experiment(
    "group-sparse.reduced-descent",
    scales={
        "standard": {"steps": 4000, "cases": ((4, 4), (20, 4), (4, 8), (10, 8)), "repetitions": 18}
    })
def reduced_descent(
    key: Any, *, cases: tuple[tuple[int, int], ...] = ((4, 4),), step_size: float = 0.5,
    steps: int = 1000, points: int = 12, repetitions: int = 18,
) -> xarray.Dataset:
    """The eight coordinates, loss and attention along population descent of the full layer, for
    (group_dim, groups) in `cases`; repetitions differ in the draws behind the expectation."""
    times = np.unique(np.rint(np.geomspace(1, steps, points)).astype(int)).tolist()
    coordinates, loss, attention = [], [], []
    for number, (group_dim, groups) in enumerate(cases):
        keys = jax.random.split(jax.random.fold_in(key, number), repetitions)
        with warnings.catch_warnings():
            # Steps above the rule are part of what is measured here.
            warnings.simplefilter("ignore", dynamics.StepSizeWarning)
            runs = [
                dynamics.reduced_trajectory(one, groups, group_dim, step_size, steps, record=times)
                for one in keys]
        coordinates.append([run.coordinates for run in runs])
        loss.append([run.loss for run in runs])
        attention.append([run.attention for run in runs])
    axes = ("case", "repetition", "step")
    return xarray.Dataset(
        {
            "coordinates": ((*axes, "name"), np.array(coordinates)), "loss": (axes, np.array(loss)),
            "attention": (axes, np.array(attention))},
        {
            "step": times, "name": list(NAMES), "group_dim": ("case", [case[0] for case in cases]),
            "groups": ("case", [case[1] for case in cases])})
