"""Steps of the layer on the population, by a product rule in all D signals and automatic
differentiation: the position-only layer from any attention, and K, Q and v apart.

For one variable a group (d = 1) the population is u ~ N(0, sigma^2 I_D) with the label sign(w.u).
In an orthonormal basis whose first axis is w the label is the sign of the first coordinate, so that
on either side of it the loss is smooth: half a line by Gauss-Legendre, the others by Gauss-Hermite,
and the mirror image -u with the other label.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.group_sparse.dynamics import unmerged
from saccade.studies.group_sparse.experiments.common import along
from saccade.studies.group_sparse.experiments.mixtures import layer_of
from saccade.studies.group_sparse.models import Parameters, Transformer
from saccade.studies.group_sparse.task import group_sparse_task

Vector = tuple[float, ...]


def _population(weights: Any, scale: float, half: int, line: int) -> tuple[Any, Any, Any]:
    """X, y and the masses of a rule of `half` nodes along the label and `line` along each of the
    other axes."""
    groups = len(weights)
    at, mass = np.polynomial.legendre.leggauss(half)
    along_label = 4.25 * (at + 1)
    masses = 4.25 * mass * np.exp(-(along_label**2) / 2) / np.sqrt(2 * np.pi)
    other, other_mass = np.polynomial.hermite_e.hermegauss(line)
    others = [(other, other_mass / other_mass.sum())] * (groups - 1)
    nodes, weighed = zip((along_label, masses), *others, strict=True)
    points = np.stack(np.meshgrid(*nodes, indexing="ij"), -1).reshape(-1, groups)
    product = np.prod(np.stack(np.meshgrid(*weighed, indexing="ij"), -1), axis=-1).ravel()
    axes = np.linalg.qr(np.column_stack([weights, np.eye(groups)[:, : groups - 1]]))[0]
    axes[:, 0] *= np.sign(axes[:, 0] @ np.asarray(weights))
    signals = scale * points @ axes.T
    labels = np.ones(len(signals))
    return (
        np.concatenate([signals, -signals])[:, :, None], np.concatenate([labels, -labels]),
        np.concatenate([product, product]))


def _codes(groups: int, norm_squared: float) -> Any:
    """Orthogonal codes of |p_j|^2 = `norm_squared` in two more dimensions than there are groups."""
    angles = np.outer(np.arange(1, groups + 3), np.arange(1, groups + 1)) ** 1.5
    return jnp.asarray(np.sqrt(norm_squared) * np.linalg.qr(np.cos(angles))[0])


def _slopes(start: Transformer, X: Any, y: Any, masses: Any) -> Any:
    """The gradient of the population loss, a function of the layer's parameters."""

    @jax.jit
    def slopes(parameters: Parameters) -> Parameters:
        return jax.grad(lambda at: jnp.sum(masses * jax.nn.softplus(-y * start.at(at)(X))))(
            parameters)

    return slopes


@experiment("group-sparse.mixture-descent")
def mixture_descent(
    key: Any, *, alpha: float = 0.25, scores: Vector = (-0.5, 0.9, 0.2),
    weights: Vector = (1.0, 0.6, -0.4), scale: float = 1.3, norm_squared: float = 2.3,
    step_size: float = 0.4, value_speed: float = 0.6, half: int = 24, line: int = 16,
) -> xarray.Dataset:
    """How one descent step of v1 and W22, with all else held, changes alpha (at `value_speed`) and
    the score of every group for every query, from scores that are alike for every query; |p_j|^2 =
    `norm_squared`."""
    groups = len(scores)
    task, matrix = group_sparse_task(groups, 1, scale), _codes(groups, norm_squared)
    start = layer_of(alpha, scores, task, matrix)
    slope = _slopes(start, *_population(weights, scale, half, line))(start.parameters)
    on_positions = np.asarray(matrix).T @ slope.attention[0, 1:, 1:] @ np.asarray(matrix)
    return xarray.Dataset(
        along((), alpha=-value_speed * step_size * slope.value[0])
        | along(("group", "query"), score=-step_size * on_positions))


def _looks(layer: Transformer, group: int) -> float:
    """Attention of the first query on a group, by position alone."""
    codes = np.asarray(layer.matrix)
    odds = np.exp(codes.T @ np.asarray(layer.parameters.attention[0, 1:, 1:]) @ codes[:, 0])
    return float(odds[group] / odds.sum())


@experiment("group-sparse.mixture-return")
def mixture_return(
    key: Any, *, odds: tuple[float, ...] = (3.0, 4.0, 6.0), alpha: float = 0.1, scale: float = 1.3,
    norm_squared: float = 2.3, step_size: float = 0.4, value_speed: float = 0.6, until: float = 0.5,
    half: int = 24, line: int = 16,
) -> xarray.Dataset:
    """Descent steps of v1 (at `value_speed`) and W22 on the population, group 2 of three deciding,
    from scores that put `odds` to one on group 0, until the attention on group 2 is `until`."""
    task, matrix = group_sparse_task(3, 1, scale, relevant=2), _codes(3, norm_squared)
    start = layer_of(alpha, (0.0, 0.0, 0.0), task, matrix)
    slopes, counts = _slopes(start, *_population((0.0, 0.0, 1.0), scale, half, line)), []
    for odd in odds:
        layer, count = layer_of(alpha, (float(np.log(odd)), 0.0, 0.0), task, matrix), 0
        while _looks(layer, 2) < until and count < 1000:
            W, v, U = layer.parameters
            slope = slopes(layer.parameters)
            positions = W[0, 1:, 1:] - step_size * slope.attention[0, 1:, 1:]
            moved = v.at[0].add(-value_speed * step_size * slope.value[0])
            layer = layer.at(Parameters(W.at[0, 1:, 1:].set(positions), moved, U))
            count += 1
        counts.append(count)
    return xarray.Dataset(along("odds", steps=np.array(counts, float)), {"odds": list(odds)})


@experiment("group-sparse.curvature-by-rule")
def curvature_by_rule(
    key: Any, *, states: tuple[tuple[float, float], ...] = ((0.0, 0.0), (0.25, 0.9), (-0.6, -0.7)),
    scale: float = 1.3, norm_squared: float = 2.3, half: int = 32, line: int = 16,
    alone: bool = False,
) -> xarray.Dataset:
    """u^T H u at every (alpha, gap) of `states`: H the second derivative in v of the population
    loss, u the unit vector along the sum of the codes by their attention (or along the code of the
    deciding group `alone`); three groups, the second decides."""
    task, matrix = group_sparse_task(3, 1, scale, relevant=1), _codes(3, norm_squared)
    population = _population((0.0, 1.0, 0.0), scale, half, line)
    slopes = _slopes(layer_of(0.0, (0.0, 0.0, 0.0), task, matrix), *population)

    def bent(parameters: Parameters, unit: Any) -> float:
        def slope(value: Any) -> Any:
            return slopes(parameters._replace(value=value)).value

        return float(unit @ jax.jvp(slope, (parameters.value,), (unit,))[1])

    found = []
    for alpha, gap in states:
        odds = np.exp([0.0, gap, 0.0])
        looked = np.asarray(matrix) @ (np.eye(3)[1] if alone else odds / odds.sum())
        unit = jnp.asarray(np.append(0.0, looked / np.linalg.norm(looked)))
        found.append(bent(layer_of(alpha, (0.0, gap, 0.0), task, matrix).parameters, unit))
    return xarray.Dataset(along("state", curvature=found))


@experiment("group-sparse.unmerged-descent")
def unmerged_descent(
    key: Any, *, groups: int = 4, size: float = 0.8, step_size: float = 0.3, steps: int = 4,
    scale: float = 1.2, norm_squared: float = 2.3, half: int = 18, line: int = 8,
) -> xarray.Dataset:
    """a, theta and alpha at the rank-one start and after `steps` descent steps of every entry of K,
    Q and v: P^T k = a (e_* - 1/D), P^T q = theta 1."""
    relevant = 1
    task = group_sparse_task(groups, 1, scale, relevant=relevant)
    matrix = _codes(groups, norm_squared)
    X, y, masses = _population(np.eye(groups)[relevant], scale, half, line)

    @jax.jit
    def descend(factors: Any) -> Any:
        def loss(at: Any) -> Any:
            return jnp.sum(masses * jax.nn.softplus(-y * unmerged.merged(at, matrix)(X)))

        slope = jax.grad(loss)(factors)
        return jax.tree.map(lambda old, part: old - step_size * part, factors, slope)

    def read(factors: Any) -> list[float]:
        k, q, v = (np.asarray(part).ravel() for part in factors)
        by_key, by_query = (np.asarray(matrix).T @ part[1:] for part in (k, q))
        return [float(by_key[relevant] - by_key[-1]), float(by_query[0]), float(v[0])]

    factors = unmerged.rank_one(size, task, matrix)
    states = [read(factors)]
    for _ in range(steps):
        factors = descend(factors)
    states.append(read(factors))
    return xarray.Dataset(
        along(("when", "name"), state=states),
        {"when": ["start", "end"], "name": ["a", "theta", "alpha"]})
