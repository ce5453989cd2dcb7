"""Projected gradient descent in five numbers: many starts at once from tables of moments, or one
start by integrals at every step. The dimension and the number of tokens cost nothing.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.descent import descend
from saccade.studies.softmax_location import theory
from saccade.studies.softmax_location.theory import Overlaps, Setting

from .step import projected_step
from .tables import MOMENTS, Kind, Table, moment_table, moments_at


class Trajectory(NamedTuple):
    """Recorded steps (1 is the state after the first, 0 the start), overlaps and risk there with
    the steps as the last axis, at the lambda of that step (the start, of the first)."""

    steps: Int[np.ndarray, " recorded"]
    overlaps: Overlaps
    risk: Float[np.ndarray, "*batch recorded"]


def trajectory(
    start: Overlaps, setting: Setting, step_size: float, record: Sequence[int], decay: float = 0.0,
    kind: Kind = "softmax", table: Table | None = None,
) -> Trajectory:
    """Descent with lambda_t = lambda/(1 + decay t), t = 0 at the first step, from starts of one
    common shape, up to the last step of `record` (ascending), by tables of moments."""
    steps = np.asarray(record, np.int64)
    if table is None:
        last = setting.inverse_temperature / (1 + decay * max(int(steps[-1]) - 1, 0))
        table = moment_table(setting, kind, last if decay else None)
    first = Overlaps(*np.broadcast_arrays(*(np.asarray(x, float) for x in start)))
    numbers = Setting(*(float(x) for x in setting))
    at, risk = _run(first, table, numbers, step_size, decay, padded(steps))
    overlaps = Overlaps(*(np.moveaxis(np.asarray(x)[: len(steps)], 0, -1) for x in at))
    return Trajectory(steps, overlaps, np.moveaxis(np.asarray(risk)[: len(steps)], 0, -1))


def padded(steps: np.ndarray) -> np.ndarray:
    """The last step repeated up to a power of two: fewer programs to compile."""
    size = max(8, 2 ** int(np.ceil(np.log2(len(steps)))))
    return np.append(steps, np.full(size - len(steps), steps[-1]))


@jax.jit
def _run(start: Overlaps, table: Table, setting: Setting, step_size, decay, stops) -> Any:
    def value(at, t):
        lam = setting.inverse_temperature / (1 + decay * t)
        here = setting._replace(inverse_temperature=lam)
        return theory.evaluate(at, here, moments_at(table, at.kappa, jnp.log(lam)), jnp)

    def step(at, t):
        return projected_step(at, value(at, t).gradient, step_size, jnp)

    def observe(at, stop):
        return at, value(at, jnp.maximum(stop - 1, 0)).risk

    return descend(step, observe, start, stops)[1]


def gradient(
    at: Overlaps, setting: Setting, kind: Kind = "softmax", rule: theory.Rule = theory.FINE
) -> Overlaps:
    """The exact gradient by integrals, in NumPy; overlaps may be arrays of one shape."""
    return theory.evaluate(at, setting, MOMENTS[kind](setting, at.kappa, rule)).gradient


def exact_step(
    at: Overlaps, setting: Setting, step_size: float, rule: theory.Rule = theory.FINE
) -> Overlaps:
    """One step with the gradient by integrals."""
    return projected_step(at, gradient(at, setting, rule=rule), step_size)


def exact_trajectory(
    start: Overlaps, setting: Setting, step_size: float, record: Sequence[int], decay: float = 0.0,
    rule: theory.Rule = theory.FINE,
) -> Trajectory:
    """As `trajectory`, by integrals at every step: for one start and some hundred steps."""
    at, here, kept, risks = start, setting, [], []
    for t in range(record[-1] + 1):
        if t:
            cooled = setting.inverse_temperature / (1 + decay * (t - 1))
            here = setting._replace(inverse_temperature=cooled)
            at = exact_step(at, here, step_size, rule=rule)
        if t in record:
            kept.append(at)
            risks.append(theory.risk(at, here, rule).risk)
    overlaps = Overlaps(*(np.stack(part, -1) for part in zip(*kept, strict=True)))
    return Trajectory(np.asarray(record), overlaps, np.stack(risks, -1))
