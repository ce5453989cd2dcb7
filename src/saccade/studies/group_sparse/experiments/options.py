"""The exact maps with every option told: the two-number map as it is recorded, the six-number map
with W11 frozen, and the step of the eight coordinates, beside plain roads."""

from typing import Any

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.group_sparse.dynamics import position_map, reduced_map
from saccade.studies.group_sparse.dynamics import reduced_gradient as reduced
from saccade.studies.group_sparse.experiments.common import along, each_key
from saccade.studies.group_sparse.experiments.maps import plain_run, product_rule
from saccade.studies.group_sparse.models import Transformer, encoding
from saccade.studies.group_sparse.task import group_sparse_task

OBSERVED = ("alpha", "gap", "loss", "attention", "one_minus_attention")
Lengths = tuple[float | None, ...]


def plain_states(
    groups: int, step_size: float, steps: tuple[int, ...], scale: float, factor: float
) -> np.ndarray:
    """`OBSERVED` of the position-only layer after each number of steps, by a two-dimensional
    quadrature of its definition; encodings of `factor` times the sines' squared length."""
    u, x, weights = product_rule(160)
    u, m, rows = scale * u, scale * x / np.sqrt(groups - 1), []
    for number in steps:
        alpha, gap = (
            float(part)
            for part in plain_run(float(groups), step_size, number, 160, False, scale, factor))
        s = np.exp(gap) / (np.exp(gap) + groups - 1)
        margins = alpha * groups * (s * u + (1 - s) * m)
        rows.append([alpha, gap, float(np.sum(weights * np.log1p(np.exp(-margins)))), s, 1 - s])
    return np.array(rows)


@experiment("group-sparse.maps-with-options")
def maps_with_options(
    key: Any, *, groups: int = 4, group_dim: int = 4, step_size: float = 0.3, scale: float = 1.3,
    factor: float = 0.7, told_factor: float | None = None, record: tuple[int, ...] = (6, 3),
    told_record: tuple[int, ...] | None = None, feature_speed: float = 0.0,
) -> xarray.Dataset:
    """alpha, gap, loss and attention at the steps of `record`, for encodings of `factor` times the
    sines' squared length: by plain quadrature, and (told `told_factor` and `told_record`, if given)
    by the two-number map and by the six-number map with W11 at `feature_speed`."""
    gram = (factor if told_factor is None else told_factor) * (groups + 1) / 2
    stops = record if told_record is None else told_record
    two = position_map.position_trajectory(
        groups, step_size, max(stops), stops, scale=scale, gram_scale=gram)
    six = reduced_map.reduced_trajectory(
        key, groups, group_dim, step_size, max(stops), stops, scale, gram, places=12,
        feature_speed=feature_speed)
    plain = plain_states(groups, step_size, record, scale, factor)
    A = plain[:, 1]
    orbits = np.stack([A - A / groups] * 2 + [-A / groups] * 3, 1)
    by_plain = np.column_stack(
        [plain[:, 0], 0 * A, 0 * A, orbits, plain[:, 1], plain[:, 2], plain[:, 3]])
    return xarray.Dataset(
        along(
            ("step", "observed"), plain=plain,
            two=np.stack([getattr(two, name) for name in OBSERVED], 1))
        | along(
            ("step", "what"), by_plain=by_plain,
            six=np.column_stack([six.coordinates, six.gap, six.loss, six.attention])))


@experiment("group-sparse.first-steps")
def first_steps(
    key: Any, *, cases: tuple[tuple[int, float, float], ...] = ((4, 0.5, 0.7), (9, 0.4, 1.3)),
    scale: float = 1.3, steps: int = 2,
) -> xarray.Dataset:
    """alpha and A of the position-only layer after `steps` steps by plain quadrature, for (groups,
    step size, what the encodings' squared length is of the sines')."""
    rows = [plain_states(D, eta, (steps,), scale, factor)[0, :2] for D, eta, factor in cases]
    return xarray.Dataset(along(("case", "name"), state=rows), {"name": ["alpha", "gap"]})


@jax.jit
def _full_gradient(point: Any, task: Any, matrix: Any, X: Any) -> Any:
    """The layer's automatic gradient at a point of the invariant subspace, projected on it, its
    loss, and its attention on the deciding group."""
    layer, y = Transformer(reduced.parameters_of(point, task, matrix), matrix), task.label(X)
    loss, slope = jax.value_and_grad(lambda at: layer.at(at).loss(X, y))(layer.parameters)
    looks = layer.attention(X).mean(axis=0)[task.relevant]
    return reduced.coordinates_of(slope, task, matrix), loss, looks


@experiment("group-sparse.step-of-coordinates")
def step_of_coordinates(
    key: Any, *, groups: int = 5, group_dim: int = 3, samples: int = 9, relevant: int = 2,
    direction: tuple[float, ...] = (1.0, 2.0, -2.0), lengths: Lengths = (None, 1.7),
    told: Lengths = (None, 1.7), looked: int = 2,
) -> xarray.Dataset:
    """The slope of the eight coordinates in descent of every weight on plain samples, for sine
    encodings of each squared length (None: their own): of the layer, projected, and of the reduced
    layer (told these lengths, and that group `looked` decides), with loss and attention."""
    data_key, point_key = each_key(key, 2)
    task = group_sparse_task(groups, group_dim, 1.3, relevant, direction)
    X = task.sample(data_key, samples).X
    point = 0.4 * np.asarray(jax.random.normal(point_key, (8,)))
    point[0] = 1.0  # alpha: no slope of W without it
    rows = []
    for length, said in zip(lengths, told, strict=True):
        matrix = encoding("sine", groups, None, length)
        projected, loss, looks = _full_gradient(point, task, matrix, X)
        answer, speed = reduced.reduced_gradient(X, direction, looked, point, said)
        slope = np.asarray(speed) * np.asarray(answer.gradient)
        rows.append([[*projected, loss, looks], [*slope, answer.loss, answer.attention]])
    made = np.array(rows, float)
    return xarray.Dataset(along(("length", "what"), layer=made[:, 0], reduced=made[:, 1]))
