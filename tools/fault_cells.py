"""Small cells that misbehave on purpose, for `tools/faults.py` and the tests of sweeps."""

import os
import signal
import time

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.errors import Diverged, require
from saccade.lab.experiment import experiment
from saccade.lab.vectorised import vectorised


@experiment("faults.tick", scales={"paper": {"size": 64}})
def tick(key, *, x: float = 0.0, size: int = 8, pause: float = 0.0) -> xarray.Dataset:
    """A few random numbers around x, after a pause."""
    if pause:  # even a sleep of nothing gives the processor away
        time.sleep(pause)
    noise = np.asarray(jax.random.key_data(key), float) / 2**32
    values = x + np.sin(np.arange(size) * (1 + noise.sum()))
    return xarray.Dataset(
        {"value": ("entry", values), "total": values.sum()}, {"entry": np.arange(size)})


@experiment("faults.toil")
def toil(key, *, x: float = 0.0, seconds: float = 1.0) -> xarray.Dataset:
    """A cell that keeps a processor busy for so many seconds of its own."""
    begun, rounds = time.process_time(), 0
    while time.process_time() - begun < seconds:
        rounds += 1
    return xarray.Dataset({"value": x + min(rounds, 1)})


@experiment("faults.grumpy")
def grumpy(key, *, x: int = 0) -> xarray.Dataset:
    """Every third cell raises, each time something else."""
    require(x != 3, "x", x, "must not be 3")
    if x == 6:
        raise Diverged("ran away; take smaller steps")
    if x == 9:
        raise ZeroDivisionError("nine")
    return xarray.Dataset({"value": float(x)})


@experiment("faults.deadly")
def deadly(key, *, x: int = 0, deadly: int = 2, pause: float = 0.0) -> xarray.Dataset:
    """The cell x = deadly kills the process that computes it."""
    if pause:  # even a sleep of nothing gives the processor away
        time.sleep(pause)
    if x == deadly:
        os.kill(os.getpid(), signal.SIGKILL)
    return xarray.Dataset({"value": float(x)})


@experiment("faults.endless")
def endless(key, *, x: int = 0, endless: int = 2) -> xarray.Dataset:
    """The cell x = endless does not end, and hears no polite word."""
    if x == endless:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(3600)
    return xarray.Dataset({"value": float(x)})


@experiment("faults.ragged")
def ragged(key, *, size: int = 1) -> xarray.Dataset:
    """As many numbers as one asks for."""
    return xarray.Dataset({"value": ("entry", np.arange(size))}, {"entry": np.arange(size) * 10})


def _positive(parameters) -> None:
    require(parameters.rate >= 0, "rate", parameters.rate, "must not be below 0")


@vectorised(
    "faults.vector", varying=("x", "rate"), outputs={"end": (), "path": ("step",), "draw": ()},
    width=8, check=_positive)
def vector(key, *, x: float = 1.0, rate: float = 0.1, steps: int = 20) -> dict:
    """A short recursion and a random number, written for vmap."""
    path = jax.lax.scan(
        lambda state, _: (state - rate * jnp.sin(state),) * 2, jnp.asarray(x, float), None, steps
    )[1]
    return {"end": path[-1], "path": path, "draw": jax.random.normal(key) * x}
