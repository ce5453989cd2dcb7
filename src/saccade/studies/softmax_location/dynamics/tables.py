"""Moments on Chebyshev points in kappa, and in log lambda for a schedule: so that batches of starts
and many steps cost no integrals. Interpolation is barycentric. Status: quadrature; the error falls
exponentially with the number of points.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import jax.numpy as jnp
import numpy as np

from saccade.studies.softmax_location import theory
from saccade.studies.softmax_location.theory import Moments, Setting

Kind = Literal["softmax", "erf"]
MOMENTS: dict[str, Callable[..., Moments]] = {"softmax": theory.moments, "erf": theory.erf_moments}


class Axis(NamedTuple):
    """Chebyshev points of the second kind on an interval, with their barycentric weights."""

    points: Any
    weights: Any


class Table(NamedTuple):
    """values[i, j] holds the 29 moments at lambda i and kappa j."""

    log_lambda: Axis
    kappa: Axis
    values: Any


def axis(low: float, high: float, count: int) -> Axis:
    """`count` points; one point stands for a number that does not vary."""
    if count == 1:
        return Axis(np.array([low]), np.ones(1))
    angles = np.pi * np.arange(count) / (count - 1)
    weights = np.where(np.arange(count) % 2, -1.0, 1.0)
    weights[[0, -1]] /= 2
    return Axis((low + high) / 2 - (high - low) / 2 * np.cos(angles), weights)


def points_in_kappa(setting: Setting, kind: Kind) -> int:
    """A power of two that resolves the moments: they vary with lambda m kappa on the scale one, for
    erf on the scale of 1/lambda m too. Powers of two, so that runs share programs."""
    range_of_scores = setting.inverse_temperature * setting.shift
    wanted = 40 + (5.5 if kind == "softmax" else 7.0) * range_of_scores
    return 2 ** int(np.ceil(np.log2(wanted)))


@lru_cache(maxsize=8)
def moment_table(
    setting: Setting, kind: Kind = "softmax", last: float | None = None, finer: float = 1,
    rule: theory.Rule = theory.FINE,
) -> Table:
    """The table of a run at `setting`, whose lambda falls to `last` if that is given; `finer`
    multiplies the number of points. Kept for the next run: a table costs up to a second."""
    lam = setting.inverse_temperature
    rows = 1 if last in (None, lam) else int(LAMBDA_POINTS * finer)
    log_lambda = axis(np.log(lam if last is None else last), np.log(lam), rows)
    kappa = axis(-1.0, 1.0, int(finer * points_in_kappa(setting, kind)))
    values = [
        theory.stacked(MOMENTS[kind](
            setting._replace(inverse_temperature=float(np.exp(x))), kappa.points, rule)).T
        for x in log_lambda.points]
    return Table(log_lambda, kappa, np.stack(values))


LAMBDA_POINTS = 40


def interpolated(axis: Axis, x: Any, values: Any) -> Any:
    """values (points, ...) at x of any shape: (*x.shape, ...). In JAX."""
    away = jnp.asarray(x)[..., None] - axis.points
    hit = away == 0
    share = jnp.asarray(axis.weights) / jnp.where(hit, 1.0, away)
    share = jnp.where(jnp.any(hit, axis=-1, keepdims=True), hit.astype(float), share)
    share = share / jnp.sum(share, axis=-1, keepdims=True)
    return jnp.tensordot(share, values, axes=1)


def slopes_of(axis: Axis, values: np.ndarray) -> np.ndarray:
    """The slope along the axis at its points, of the polynomial through values (points, ...), which
    `interpolated` gives back anywhere: D_ij = (w_j/w_i)/(x_i - x_j), rows that sum to nothing. The
    automatic derivative of `interpolated` is no slope at a point, and loses digits near one."""
    away = axis.points[:, None] - axis.points + np.eye(len(axis.points))
    matrix = axis.weights / axis.weights[:, None] / away
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, -matrix.sum(axis=1))
    return np.tensordot(matrix, values, axes=1)


def moments_at(table: Table, kappa: Any, log_lambda: Any) -> Moments:
    """The moments at one lambda and any shape of kappa. In JAX."""
    row = (
        table.values[0] if table.values.shape[0] == 1
        else interpolated(table.log_lambda, log_lambda, table.values))
    return theory.unstacked(jnp.moveaxis(interpolated(table.kappa, kappa, row), -1, 0))
