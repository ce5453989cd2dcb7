"""Training from samples, in all dimensions: batch sizes, several informative tokens, two heads."""

from typing import Any

import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.softmax_location import dynamics
from saccade.studies.softmax_location.dynamics import Overlaps, Setting
from saccade.studies.softmax_location.dynamics.samples import (
    Trained,
    World,
    fresh_error,
    random_start,
    train,
)

BATCHES = (4, 8, 16, 32, 64)


def _overlaps(at: Trained, head: int = 0) -> Overlaps:
    k, v = at.k[:, head], at.v[:, head]
    return Overlaps(k[:, 0], v[:, 1], v[:, 0], k[:, 1], np.sum(k * v, axis=1))


@experiment(
    "softmax-location.batches",
    scales={"standard": {"chains": 64, "batches": (4, 8, 16, 32, 64, 256), "steps": 1000}})
def batches(
    key: Any, *, dim: int = 20, length: int = 10, inverse_temperature: float = 0.5,
    gamma: float = 2**-0.5, noise: float = 0.1, step_size: float = 0.02,
    batches: tuple[int, ...] = BATCHES, steps: int = 150, chains: int = 32,
    map_temperature: float | None = None,
) -> xarray.Dataset:
    """Overlaps of stochastic descent by batch size, and of the exact population map from the same
    starts (one start each chain, the same for every batch size; `map_temperature` spoils it)."""
    random = dynamics.generator(key)
    start, world = random_start(random, chains, 1, dim), World(dim, length, gamma, noise)
    ends = [
        np.stack(
            _overlaps(train(random, world, start, inverse_temperature, step_size, steps, batch)), -1
        )
        for batch in batches]
    lam = map_temperature or inverse_temperature
    setting = Setting(float(dim), float(length), lam, gamma, noise)
    exact = dynamics.trajectory(_overlaps(start), setting, step_size, (steps,)).overlaps
    return xarray.Dataset(
        {
            "stochastic": (("batch", "chain", "name"), np.stack(ends)),
            "exact": (("chain", "name"), np.stack([x[:, -1] for x in exact], -1))},
        {"batch": list(batches), "name": list(Overlaps._fields)})


@experiment(
    "softmax-location.trained-several",
    scales={"standard": {"steps": 8000, "chains": 16, "samples": 20_000}})
def trained_several(
    key: Any, *, dim: int = 20, length: int = 10, inverse_temperature: float = 0.7,
    gamma: float = 2**-0.5, step_size: float = 0.05, batch: int = 24, steps: int = 1500,
    chains: int = 8, informative: tuple[int, ...] = (1, 2, 4), heads: int = 1, samples: int = 4000,
    frozen: int = 0,
) -> xarray.Dataset:
    """Stochastic descent with several informative tokens from random starts: where it ends and its
    error on fresh samples. The first `frozen` heads are not trained."""
    random, states, errors = dynamics.generator(key), [], []
    for count in informative:
        world = World(dim, length, gamma, informative=count)
        end = train(
            random, world, random_start(random, chains, heads, dim), inverse_temperature, step_size,
            steps, batch, frozen)
        states.append(np.stack([_overlaps(end, head) for head in range(heads)], -1))
        errors.append(fresh_error(random, world, end, inverse_temperature, samples))
    return xarray.Dataset(
        {
            "overlap": (("informative", "name", "chain", "head"), np.stack(states)),
            "error": (("informative", "chain"), np.stack(errors))},
        {"informative": list(informative), "name": list(Overlaps._fields)})
