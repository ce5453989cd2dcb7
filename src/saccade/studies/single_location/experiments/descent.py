"""Projected gradient descent from random starts: the experiments behind Figures 4, 5 and 7,
recovery fractions and basins."""

from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.single_location import dynamics
from saccade.studies.single_location.dynamics import Overlaps, Setting

Start = Literal["sphere", "manifold"]
# runs still creeping along a plateau count for the end state they approach; the end states are 0.9
# apart
NEAR = 0.3


def _starts(key: Any, start: Start, dim: int, repetitions: int) -> Overlaps:
    draw = dynamics.sphere_overlaps if start == "sphere" else dynamics.manifold_overlaps
    return draw(key, dim, repetitions)


def _at_the_end(setting: Setting, decay: float, steps: int) -> Setting:
    """The setting of the last step, by which an outcome is judged."""
    return setting._replace(
        inverse_temperature=setting.inverse_temperature / (1 + decay * (steps - 1)))


def _dataset(start: Overlaps, made: Any, setting: Setting) -> xarray.Dataset:
    """Overlaps and risk over (repetition, step), the starts, and the outcome of each repetition."""
    recorded = {
        name: (("repetition", "step"), np.asarray(value))
        for name, value in made.overlaps._asdict().items()}
    first = {
        f"first_{name}": ("repetition", np.asarray(value))
        for name, value in start._asdict().items()}
    codes = np.asarray(dynamics.classify(made.final, setting, NEAR))
    last = {
        "risk": (("repetition", "step"), np.asarray(made.risk)), "outcome": ("repetition", codes),
        "diverged_at": ("repetition", np.broadcast_to(np.asarray(made.diverged_at), codes.shape))}
    return xarray.Dataset({**recorded, **first, **last}, {"step": np.asarray(made.steps)})


@experiment(
    "single-location.descent",
    scales={"paper": {"repetitions": 30, "steps": 120_000, "record_every": 300}})
def descent(
    key: Any, *, dim: int = 400, length: int = 10, inverse_temperature: float = 1.0,
    decay: float = 0.0, gamma: float = 2**-0.5, noise: float = 0.0, step_size: float = 4e-3,
    steps: int = 20_000, record_every: int = 200, repetitions: int = 30, start: Start = "sphere",
) -> xarray.Dataset:
    """Exact descent in five overlaps from random starts on the sphere or on the invariant
    manifold."""
    setting = Setting(dim, length, inverse_temperature, gamma, noise)
    first = _starts(key, start, dim, repetitions)
    made = dynamics.overlap_trajectory(
        first, setting, step_size, steps, record_every=record_every, decay=decay)
    return _dataset(first, made, _at_the_end(setting, decay, steps))


@experiment(
    "single-location.stochastic-descent", scales={"paper": {"steps": 200_000, "record_every": 500}})
def stochastic_descent(
    key: Any, *, dim: int = 80, length: int = 10, inverse_temperature: float = 2.0,
    decay: float = 1e-4, gamma: float = 2**-0.5, noise: float = 0.1, step_size: float = 1e-3,
    steps: int = 20_000, record_every: int = 200, repetitions: int = 30, batch: int = 5,
    start: Start = "sphere",
) -> xarray.Dataset:
    """Stochastic descent with a fresh batch at each step, followed in law by five overlaps."""
    first_key, run_key = jax.random.split(key)
    setting = Setting(dim, length, inverse_temperature, gamma, noise)
    first = _starts(first_key, start, dim, repetitions)
    made = dynamics.stochastic_trajectory_in_law(
        run_key, first, setting, step_size, steps, batch, record_every=record_every, decay=decay)
    return _dataset(first, made, _at_the_end(setting, decay, steps))


@experiment("single-location.two-stochastic-engines")
def two_stochastic_engines(
    key: Any, *, dim: int = 6, length: int = 4, inverse_temperature: float = 1.0,
    noise: float = 0.1, step_size: float = 0.3, steps: int = 2, batch: int = 3, chains: int = 4000,
    law_dim: int | None = None, law_batch: int | None = None,
) -> xarray.Dataset:
    """A few large stochastic steps from one leaning start, by brute force and in law (which may
    assume another dim or batch).

    From symmetric starts every mean would be zero, and with small steps what leaves the span of the
    start would not show.
    """
    keys = jax.random.split(key)
    setting = Setting(dim, length, inverse_temperature, noise=noise)
    truth = jnp.eye(dim)[0], jnp.eye(dim)[1]
    lean = (
        jnp.zeros((2, dim)).at[:, :4].set(jnp.array([[0.5, 0.4, 0.6, 0.3], [0.3, 0.6, 0.5, -0.4]])))
    k, v = lean / jnp.linalg.norm(lean, axis=1, keepdims=True)
    learned = jnp.broadcast_to(k, (chains, dim)), jnp.broadcast_to(v, (chains, dim))
    brute = dynamics.stochastic_trajectory_brute(
        keys[0], *learned, *truth, setting, step_size, steps, batch)
    assumed = setting._replace(dim=law_dim or dim)
    law = dynamics.stochastic_trajectory_in_law(
        keys[1], dynamics.overlaps_of(*learned, *truth), assumed, step_size, steps,
        law_batch or batch)
    axes = ("chain", "name")
    return xarray.Dataset(
        {"brute": (axes, np.stack(brute.final, -1)), "law": (axes, np.stack(law.final, -1))},
        {"name": list(Overlaps._fields)})


@experiment("single-location.full-descent")
def full_descent(
    key: Any, *, dim: int = 40, length: int = 10, inverse_temperature: float = 0.4,
    decay: float = 1e-4, gamma: float = 2**-0.5, step_size: float = 2e-3, steps: int = 300,
    record_every: int = 50, repetitions: int = 4, start: Start = "sphere",
) -> xarray.Dataset:
    """The same descent in all dimensions, its gradient by automatic differentiation: the check of
    the reduced maps."""
    setting = Setting(dim, length, inverse_temperature, gamma)
    truth = jnp.eye(dim)[0], jnp.eye(dim)[1]
    if start == "sphere":
        learned = dynamics.sphere_vectors(key, dim, repetitions)
    else:
        learned = dynamics.manifold_vectors(key, *truth, repetitions)
    made = dynamics.full_trajectory(
        *learned, *truth, setting, step_size, steps, record_every=record_every, decay=decay)
    return _dataset(
        dynamics.overlaps_of(*learned, *truth), made, _at_the_end(setting, decay, steps))


@experiment(
    "single-location.outcomes",
    scales={"standard": {"repetitions": 400}, "paper": {"repetitions": 1000}})
def outcomes(
    key: Any, *, dim: int = 400, length: int = 10,
    inverse_temperatures: tuple[float, ...] = (0.1, 0.9), gamma: float = 2**-0.5,
    step_size: float = 1e-3, steps: int = 20_000, repetitions: int = 100,
) -> xarray.Dataset:
    """Where constant inverse temperatures lead from the same random starts on the sphere."""
    first = dynamics.sphere_overlaps(key, dim, repetitions)
    grid = jnp.broadcast_to(
        jnp.asarray(inverse_temperatures)[:, None], (len(inverse_temperatures), repetitions))
    setting = Setting(dim, length, grid, gamma)
    batch = Overlaps(*(jnp.broadcast_to(value, grid.shape) for value in first))
    made = dynamics.overlap_trajectory(batch, setting, step_size, steps)
    axes = ("inverse_temperature", "repetition")
    data = {
        name: (axes, np.asarray(value).reshape(grid.shape))
        for name, value in made.final._asdict().items()}
    data |= {
        f"first_{name}": ("repetition", np.asarray(value))
        for name, value in first._asdict().items()}
    data["fate"] = (axes, np.asarray(dynamics.fate(made.final)).reshape(grid.shape))
    return xarray.Dataset(data, {"inverse_temperature": list(inverse_temperatures)})
