"""The layer itself at states of the exact maps: its gradient on a symmetric sample, the second step
on raw data, and its curvature along the direction that batches can leave by."""

from functools import partial
from itertools import permutations, product
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.group_sparse.dynamics import reduced_gradient as reduced
from saccade.studies.group_sparse.dynamics.position_map import position_trajectory
from saccade.studies.group_sparse.experiments.common import QUICKLY, along
from saccade.studies.group_sparse.models import layer
from saccade.studies.group_sparse.models.encodings import encoding
from saccade.studies.group_sparse.models.explicit import evaluate
from saccade.studies.group_sparse.models.layer import PAPER_LAYER, Parameters
from saccade.studies.group_sparse.task import GroupSparseTask, group_sparse_task

Kind = Literal["sine", "one-hot", "random"]
BLOCKS = ("v2", "W12", "W21", "W11", "W22")


def symmetric_sample(X: np.ndarray, relevant: int) -> np.ndarray:
    """Every sample with its images under X -> -X, signed permutations of the coordinates but the
    first, and permutations of the other groups: a finite sample on which the population's
    symmetries hold exactly (v* is the first coordinate).
    """
    _, groups, dim = X.shape
    others = [group for group in range(groups) if group != relevant]
    images = []
    for order in permutations(others):
        places = np.arange(groups)
        places[others] = order
        for coordinates in permutations(range(1, dim)):
            for signs in product((1.0, -1.0), repeat=dim - 1):
                images.append(np.array([1.0, *signs]) * X[:, places][:, :, [0, *coordinates]])
    whole = np.concatenate(images)
    return np.concatenate([whole, -whole])


def _layer_gradient(X: Any, y: Any, matrix: Any, weights: Any, value: Any) -> Parameters:
    """The gradient of the paper's layer, in the form of its parameters."""
    at = evaluate(layer.tokens(X, matrix), y, weights, value)
    hidden = jnp.zeros((0, value.shape[0]))
    return Parameters(at.grad_attention_weights[None], at.grad_value, hidden)


def _outside(slope: Parameters, task: GroupSparseTask, matrix: Any) -> np.ndarray:
    """Size of the gradient's part outside the invariant subspace, block by block, relative to the
    whole gradient."""
    inside = reduced.parameters_of(reduced.coordinates_of(slope, task, matrix), task, matrix)
    rest = jax.tree.map(lambda a, b: np.asarray(a - b), slope, inside)
    d, W = task.dim, rest.attention[0]
    parts = rest.value[d:], W[:d, d:], W[d:, :d], W[:d, :d], W[d:, d:]
    whole = np.sqrt(sum(float(jnp.sum(leaf**2)) for leaf in jax.tree.leaves(slope)))
    return np.array([np.linalg.norm(part) for part in parts]) / whole


@experiment("group-sparse.symmetric-gradient")
def symmetric_gradient(
    key: Any, *, groups: int = 4, group_dim: int = 3, samples: int = 20, encodings: Kind = "sine",
    relevant: int = 1,
) -> xarray.Dataset:
    """The full layer's gradient at a random point of the invariant subspace on a symmetric sample,
    and the reduced gradient there."""
    data_key, point_key, encoding_key = jax.random.split(key, 3)
    task = group_sparse_task(groups, group_dim, relevant=relevant)
    positions = encoding(encodings, groups, key=encoding_key)
    point = jnp.abs(jax.random.normal(point_key, (8,))) * jnp.array(
        [1.0, 0.3, 0.3, 1.0, 1.0, 1.0, 1.0, 1.0])
    X = jnp.asarray(symmetric_sample(np.asarray(task.sample(data_key, samples).X), relevant))
    at = reduced.parameters_of(point, task, positions.matrix)
    slope = _layer_gradient(X, task.label(X), positions.matrix, at.attention[0], at.value)
    answer, speed = reduced.reduced_gradient(
        X, task.direction, relevant, point, float(positions.gram_scale))
    projected = reduced.coordinates_of(slope, task, positions.matrix)
    return xarray.Dataset(
        along("block", outside=_outside(slope, task, positions.matrix))
        | along("coordinate", projected=projected, reduced=speed * answer.gradient),
        {"block": list(BLOCKS)})


@partial(jax.jit, static_argnames=("samples",), compiler_options=QUICKLY)
def _slopes(keys: Any, task: GroupSparseTask, matrix: Any, value: Any, samples: int) -> Any:
    """The gradient at W = 0 on fresh samples for each key, in the reduced coordinates."""
    size = value.shape[0]

    def one(key: Any) -> Any:
        drawn = task.sample(key, samples)
        slope = _layer_gradient(drawn.X, drawn.y, matrix, jnp.zeros((size, size)), value)
        return reduced.coordinates_of(slope, task, matrix)

    return jax.lax.map(one, keys)


@experiment(
    "group-sparse.second-step",
    scales={"standard": {"samples": 20_000, "cases": ((8, 2.0), (16, 2.0), (3, 0.7))}})
def second_step(
    key: Any, *, cases: tuple[tuple[int, float], ...] = ((8, 2.0), (3, 0.7)), group_dim: int = 2,
    samples: int = 4000, replicates: int = 32, encodings: Kind = "sine",
    norm_squared: float | None = None,
) -> xarray.Dataset:
    """alpha, A, a and b after the second step, its gradient taken on raw samples at the state after
    the first (alpha as measured)."""
    states = []
    for number, (groups, step_size) in enumerate(cases):
        task = group_sparse_task(groups, group_dim)
        matrix = encoding(encodings, groups, None, norm_squared).matrix
        # After one step W = 0 and v is a multiple of [v*; 0]; E|x| is a one-line integral, taken
        # from its definition.
        first = step_size * 0.5 * np.sqrt(2 / np.pi)
        value = jnp.zeros(group_dim + groups).at[0].set(first)
        keys = jax.random.split(jax.random.fold_in(key, number), replicates)
        moved = -step_size * np.asarray(_slopes(keys, task, matrix, value, samples)).T
        states.append(np.stack([first + moved[0], moved[3] - moved[5], moved[1], moved[2]], -1))
    return xarray.Dataset(
        along(("replicate", "case", "name"), state=np.stack(states, 1)),
        {"name": ["alpha", "gap", "a", "b"]})


@partial(jax.jit, static_argnames=("samples",), compiler_options=QUICKLY)
def _curvatures(keys: Any, task: GroupSparseTask, matrix: Any, at: Parameters, samples: int) -> Any:
    """u^T H u on fresh samples for each key, H the second derivative of the loss (automatic) and u
    the unit vector along [0; P q]."""

    def one(key: Any) -> Any:
        drawn = task.sample(key, samples)
        rows = layer.tokens(drawn.X, matrix)
        shares = layer.attention_maps(at, PAPER_LAYER, rows[:1])[0, 0].mean(axis=1)
        direction = jnp.concatenate([jnp.zeros(task.dim), matrix @ shares])
        direction = direction / jnp.linalg.norm(direction)

        def slope(value: Any) -> Any:
            moved = at._replace(value=value)
            return jax.grad(layer.logistic_loss)(moved, PAPER_LAYER, rows, drawn.y).value

        return direction @ jax.jvp(slope, (at.value,), (direction,))[1]

    return jax.lax.map(one, keys)


@experiment("group-sparse.transverse-curvature", scales={"standard": {"samples": 20_000}})
def transverse_curvature(
    key: Any, *,
    cases: tuple[tuple[int, float, int], ...] = ((8, 0.1, 2), (8, 0.1, 68), (8, 0.1, 600)),
    group_dim: int = 2, samples: int = 2000, replicates: int = 32,
) -> xarray.Dataset:
    """Curvature along v2 = P q by automatic differentiation of the layer on raw samples, at the
    state of the position-only map after `steps` steps, for (groups, step size, steps) in
    `cases`."""
    curvatures, states = [], []
    for number, (groups, step_size, steps) in enumerate(cases):
        task, matrix = group_sparse_task(groups, group_dim), encoding("sine", groups).matrix
        run = position_trajectory(groups, step_size, steps)
        alpha, gap, attention = float(run.alpha[0]), float(run.gap[0]), float(run.attention[0])
        looks = reduced.selecting_parameters(attention, task, matrix)
        at = looks._replace(value=looks.value.at[0].set(alpha))
        keys = jax.random.split(jax.random.fold_in(key, number), replicates)
        curvatures.append(_curvatures(keys, task, matrix, at, samples))
        states.append((alpha, gap, attention))
    names = ("alpha", "gap", "attention")
    return xarray.Dataset(
        along(("replicate", "case"), curvature=np.stack(curvatures, 1))
        | along("case", **dict(zip(names, np.array(states).T, strict=True))),
        along("case", groups=[case[0] for case in cases]))
