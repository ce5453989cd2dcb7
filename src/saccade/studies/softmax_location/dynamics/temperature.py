"""Training lambda too: the key K = lambda k is free in length, v stays on its sphere.

grad_K R = (1/lambda)(I - k k^T) g_k + R_lambda k, so that five overlaps and lambda close. R_lambda
is the derivative of the table of moments in log lambda, a table itself. Status: exact up to the
tables.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from saccade.descent import descend
from saccade.studies.softmax_location import theory
from saccade.studies.softmax_location.theory import Overlaps, Setting

from .descent import padded
from .step import step_and_length
from .tables import interpolated, moment_table, slopes_of


class FreeTrajectory(NamedTuple):
    """Recorded steps, overlaps, lambda and risk, with the steps as the last axis."""

    steps: np.ndarray
    overlaps: Overlaps
    inverse_temperature: np.ndarray
    risk: np.ndarray


def free_trajectory(
    start: Overlaps, setting: Setting, step_size: float, record: Sequence[int],
    bounds: tuple[float, float], rate: float = 1.0,
) -> FreeTrajectory:
    """Descent of K and v from lambda = `setting.inverse_temperature`; lambda is kept inside
    `bounds`, the range of the table. `rate` multiplies the pull on lambda: 0 fixes it."""
    highest = setting._replace(inverse_temperature=bounds[1])
    table, steps = moment_table(highest, last=bounds[0]), np.asarray(record, np.int64)
    first = Overlaps(*(np.asarray(x, float) for x in start))
    lam = np.full(np.shape(first.kappa), float(setting.inverse_temperature))
    logs = np.log(bounds[0]), np.log(bounds[1])
    slopes = table._replace(values=slopes_of(table.log_lambda, table.values))
    tables, numbers = (table, slopes), Setting(*(float(x) for x in setting))
    at, kept, risk = _run(first, np.log(lam), tables, numbers, step_size, rate, logs, padded(steps))
    parts = [np.moveaxis(np.asarray(x)[: len(steps)], 0, -1) for x in (*at, kept, risk)]
    return FreeTrajectory(steps, Overlaps(*parts[:5]), parts[5], parts[6])


@jax.jit
def _run(start, log_lambda, tables, setting, step_size, rate, bounds, stops):
    def moments(table, at: Overlaps, x):
        row = interpolated(table.log_lambda, x, table.values)
        return theory.unstacked(interpolated(table.kappa, at.kappa, row))

    def value(at: Overlaps, x):
        return theory.evaluate(at, setting, moments(tables[0], at, x), jnp)

    def one(at: Overlaps, x):
        M, by_x = (moments(table, at, x) for table in tables)
        slope = jax.jvp(  # lambda R_lambda
            lambda M: theory.evaluate(at, setting, M, jnp).risk, (M,), (by_x,)
        )[1]
        lam = jnp.exp(x)
        moved = lam - rate * step_size * slope / lam
        sizes = step_size / (lam * moved), step_size
        after, length = step_and_length(at, value(at, x).gradient, sizes, jnp)
        return after, jnp.clip(jnp.log(moved * jnp.where(rate > 0, length, 1.0)), *bounds)

    def step(state, t):
        return jax.vmap(one)(*state)

    def observe(state, stop):
        at, x = state
        return at, jnp.exp(x), jax.vmap(value)(at, x).risk

    return descend(step, observe, (start, log_lambda), stops)[1]
