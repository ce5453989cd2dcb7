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
from saccade.studies.group_sparse.models import encoding
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


@experiment("group-sparse.mixture-descent")
def mixture_descent(
    key: Any, *, alpha: float = 0.25, scores: Vector = (-0.5, 0.9, 0.2),
    weights: Vector = (1.0, 0.6, -0.4), scale: float = 1.3, norm_squared: float = 2.3,
    step_size: float = 0.4, half: int = 24, line: int = 16,
) -> xarray.Dataset:
    """How one descent step of v1 and W22, with all else held, changes alpha and the score of every
    group for every query, from scores that are alike for every query; |p_j|^2 = `norm_squared`."""
    groups = len(scores)
    task, matrix = group_sparse_task(groups, 1, scale), encoding("sine", groups, None, norm_squared)
    start = layer_of(alpha, scores, task, matrix)
    X, y, masses = _population(weights, scale, half, line)

    @jax.jit
    def slopes(parameters: Any) -> Any:
        return jax.grad(lambda at: jnp.sum(masses * jax.nn.softplus(-y * start.at(at)(X))))(
            parameters)

    slope = slopes(start.parameters)
    on_positions = np.asarray(matrix).T @ slope.attention[0, 1:, 1:] @ np.asarray(matrix)
    return xarray.Dataset(
        along((), alpha=-step_size * slope.value[0])
        | along(("group", "query"), score=-step_size * on_positions))


@experiment("group-sparse.unmerged-descent")
def unmerged_descent(
    key: Any, *, groups: int = 4, size: float = 0.8, step_size: float = 0.3, steps: int = 4,
    scale: float = 1.2, norm_squared: float = 2.3, half: int = 18, line: int = 8,
) -> xarray.Dataset:
    """a, theta and alpha at the rank-one start and after `steps` descent steps of every entry of K,
    Q and v: P^T k = a (e_* - 1/D), P^T q = theta 1."""
    relevant = 1
    task = group_sparse_task(groups, 1, scale, relevant=relevant)
    matrix = encoding("sine", groups, None, norm_squared)
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
