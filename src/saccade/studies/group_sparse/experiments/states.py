"""States and ends of the exact maps by themselves: loss and forces of the position-only layer from
their definitions, the way from eight coordinates to weights and back, and what runs say of
themselves when they leave the finite numbers."""

import warnings
from typing import Any

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.group_sparse import dynamics, models
from saccade.studies.group_sparse.dynamics import full, position_map, reduced_map
from saccade.studies.group_sparse.dynamics.reduced_gradient import coordinates_of, parameters_of
from saccade.studies.group_sparse.experiments.common import along
from saccade.studies.group_sparse.experiments.maps import product_rule
from saccade.studies.group_sparse.task import group_sparse_task

State = tuple[int, float, float, float]  # groups, alpha, gap, scale
STATES: tuple[State, ...] = ((5, 0.4, 0.8, 1.3), (9, 0.7, -0.5, 0.6), (3, -0.5, 2.0, 1.7))
ANSWERS = (
    "loss", "alpha_force", "attention_force", "gap_force", "attention", "one_minus_attention")


@experiment("group-sparse.position-states")
def position_states(
    key: Any, *, states: tuple[State, ...] = STATES, points: int = 160, more: int = 0
) -> xarray.Dataset:
    """Loss, forces and attention (`ANSWERS`) of the position-only layer by a two-dimensional
    quadrature of the definition, u = |N(0, sigma^2)| in the relevant group and m the mean of the
    others (`more` groups than the state says)."""
    rows = []
    for groups, alpha, gap, scale in states:
        D = groups + more
        u, x, weights = product_rule(points)
        u, m = scale * u, scale * x / np.sqrt(D - 1)
        s = np.exp(gap) / (np.exp(gap) + D - 1)
        mixed = s * u + (1 - s) * m
        chance = weights / (1 + np.exp(alpha * D * mixed))
        turn = float(np.sum(chance * (u - m)))
        rows.append([
            float(np.sum(weights * np.log1p(np.exp(-alpha * D * mixed)))),
            D * float(np.sum(chance * mixed)), turn, alpha * D * s * (1 - s) * turn, s, 1 - s])
    return xarray.Dataset(along(("state", "answer"), plain=rows), {"answer": list(ANSWERS)})


@experiment("group-sparse.round-trip")
def round_trip(
    key: Any, *, groups: int = 5, relevant: int = 2,
    direction: tuple[float, ...] = (1.0, 2.0, -2.0), norm_squared: float = 1.7,
) -> xarray.Dataset:
    """Eight random coordinates made into the weights of a layer whose third group decides along (1,
    2, -2), and read off again for `relevant` and `direction`."""
    point = np.asarray(jax.random.normal(key, (8,)))
    matrix = models.encoding("sine", groups, None, norm_squared)
    made, looked = (
        group_sparse_task(groups, 3, relevant=group, direction=along_)
        for group, along_ in ((2, (1.0, 2.0, -2.0)), (relevant, direction)))
    back = coordinates_of(parameters_of(point, made, matrix), looked, matrix)
    return xarray.Dataset(along("name", point=point, back=back))


@experiment("group-sparse.run-reports")
def run_reports(
    key: Any, *, step_sizes: tuple[float, ...] = (0.3, 1e200), steps: int = 4
) -> xarray.Dataset:
    """Whether runs of the two-number map, of the six-number map and of every weight advise another
    step size, [step size][engine]."""
    matrix = models.encoding("sine", 4)
    task, start = group_sparse_task(4, 4), models.at_zero(4, matrix)
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dynamics.StepSizeWarning)
        for eta in step_sizes:
            runs = (
                position_map.position_trajectory(4, eta, steps),
                reduced_map.reduced_trajectory(key, 4, 4, eta, steps, places=12),
                full.full_trajectory(key, task, start, eta, steps, batch=20, held_out=20))
            rows.append([f"step_size = {eta:g}" in run.advice for run in runs])
    return xarray.Dataset(along(("step_size", "engine"), advised=np.array(rows, float)))


@experiment("group-sparse.run-starts")
def run_starts(
    key: Any, *, step_size: float = 0.3, scale: float = 1.2, record: tuple[int, int] = (1, 0),
    over: float = 1.02,
) -> xarray.Dataset:
    """alpha and the sum of |.| of the other seven coordinates of the six-number map at the steps of
    `record`; and how often each engine warns at `over` times and at 0.98 times the step size
    16/(D sigma) of the stability rule; and a and b of W11 after two steps at 0.4 of its speed."""
    run = reduced_map.reduced_trajectory(key, 4, 4, step_size, 4, record, scale, places=12)
    task, start = group_sparse_task(4, 4, scale), models.at_zero(4, models.encoding("sine", 4))
    counts = []
    for factor in (over, 0.98):
        eta = factor * 16 / (4 * scale)
        for engine in (
            lambda eta: position_map.position_trajectory(4, eta, 4, scale=scale),
            lambda eta: reduced_map.reduced_trajectory(key, 4, 4, eta, 4, None, scale, places=12),
            lambda eta: full.full_trajectory(key, task, start, eta, 4, batch=20, held_out=20),
        ):
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                engine(eta)
            counts.append(sum(one.category is dynamics.StepSizeWarning for one in heard))
    points = run.coordinates
    slowed = reduced_map.reduced_trajectory(
        key, 4, 4, step_size, 4, (2,), scale, places=12, feature_speed=0.4)
    return xarray.Dataset(
        along(("step", "what"), point=np.stack([points[:, 0], np.abs(points[:, 1:]).sum(1)], 1))
        | along("engine", warned=np.array(counts, float))
        | along("feature", slowed=slowed.coordinates[0, 1:3]))


def _plain_law(groups: int, step_size: float, steps: int, scale: float) -> float:
    """k t^(-2/3) with k the positive root of g k (p + q k) = 2/3, by the formula for quadratics."""
    kappa = np.sqrt(2 / np.pi) * np.pi**2 / 12
    rate = (3 * step_size * kappa / (groups * scale)) ** (1 / 3)
    g = step_size * ((groups + 1) / 2) ** 2 * groups / (groups - 1) * rate
    p = kappa / (scale * groups**2 * rate**2)
    q = scale / ((groups - 1) * np.sqrt(2 * np.pi))
    k = (-g * p + np.sqrt((g * p) ** 2 + 8 / 3 * g * q)) / (2 * g * q)
    return float(k * steps ** (-2 / 3))


@experiment("group-sparse.standing-runs")
def standing_runs(
    key: Any, *, groups: int = 7, step_size: float = 0.4, steps: int = 900,
    scales: tuple[float, ...] = (0.3, 4.0), told: float | None = None,
    told_steps: int | None = None,
) -> xarray.Dataset:
    """The words for runs whose gap hardly rises and whose 1 - S is 3 % below and 3 % above the late
    law of their scale, [scale][side]; `told` is the scale in the place of their own, and
    `told_steps` how long they were."""
    words = [
        [
            position_map.name_ending(
                groups, step_size, told_steps or steps, scale if told is None else told, 5.0, 5.1,
                0.01, side * _plain_law(groups, step_size, steps, scale), -1)
            for side in (0.97, 1.03)]
        for scale in scales]
    return xarray.Dataset(
        along(("scale", "side"), regime=np.vectorize(position_map.REGIMES.index)(words)))


def _near(side: float, risen: float, odds: float, guess: float, law: float) -> list[Any]:
    """Ends at `side` times a threshold: A at a quarter and at the end, loss, 1 - S."""
    rise, low = side * risen, side * np.log(odds)
    return [
        [5.0, 5.0 + rise, 0.01, law / 2], [-3.0 - rise, -3.0, 0.5, 2 * law],
        [low - 0.1, low, 0.5, 2 * law], [5.0, 5.1, side * guess, law / 2],
        [5.0, 5.0 + 2 * risen, side * guess, law / 2], [5.0, 4.0 + side, 0.01, 2 * law]]


@experiment("group-sparse.words-near-thresholds")
def words_near_thresholds(
    key: Any, *, groups: int = 7, step_size: float = 0.4, steps: int = 900, scale: float = 1.3,
    sides: tuple[float, float] = (0.99, 1.01), earlier: int = 4, odds: float = 0.5,
    classes: int = 2,
) -> xarray.Dataset:
    """The words for runs that end on either side of a threshold, [threshold][side]: of the rise
    (half of what the late law rises by from the `earlier` part of the time on), for a gap that is
    high and for one that is low; of the gap (`odds` of the group against those of uniform
    attention); of the loss (guessing among `classes`), standing and rising; and a rise of zero."""
    law = _plain_law(groups, step_size, steps, scale)
    risen = float(np.log(_plain_law(groups, step_size, steps // earlier, scale) / law)) / 2
    words = [
        [
            position_map.name_ending(groups, step_size, steps, scale, quarter, gap, loss, rest, -1)
            for quarter, gap, loss, rest in _near(side, risen, odds, float(np.log(classes)), law)]
        for side in sides]
    return xarray.Dataset(
        along(("threshold", "side"), regime=np.vectorize(position_map.REGIMES.index)(words).T))
