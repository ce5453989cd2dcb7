"""The reduction to few numbers: the layer's own gradient on a symmetric sample, two engines side by
side, the second step on raw data."""

from functools import partial
from itertools import permutations, product
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray
from scipy.special import expit

from saccade.lab.experiment import experiment
from saccade.studies.group_sparse import dynamics
from saccade.studies.group_sparse.experiments.compiling import QUICKLY
from saccade.studies.group_sparse.models import (
    PAPER_LAYER,
    Parameters,
    encoding,
    evaluate,
    tokens,
    zeros,
)
from saccade.studies.group_sparse.models.encodings import Encoding
from saccade.studies.group_sparse.task import GroupSparseTask, group_sparse_task

Kind = Literal["sine", "one-hot", "random"]
BLOCKS = ("v2", "W12", "W21", "W11", "W22")


def symmetric_sample(inputs: np.ndarray, relevant: int) -> np.ndarray:
    """Every sample with its images under X -> -X, signed permutations of the coordinates but the
    first, and permutations of the other groups: a finite sample on which the population's
    symmetries hold exactly (v* is the first coordinate).
    """
    _, dim, groups = inputs.shape
    others = [group for group in range(groups) if group != relevant]
    images = []
    for order in permutations(others):
        columns = np.arange(groups)
        columns[others] = order
        for rows in permutations(range(1, dim)):
            for signs in product((1.0, -1.0), repeat=dim - 1):
                flips = np.array([1.0, *signs])[:, None]
                images.append(flips * inputs[:, [0, *rows]][:, :, columns])
    made = np.concatenate(images)
    return np.concatenate([made, -made])


def _outside(slope: Parameters, task: GroupSparseTask, made: Encoding) -> np.ndarray:
    """Size of the gradient's part outside the invariant subspace, block by block, relative to the
    whole gradient."""
    inside = dynamics.parameters_of(
        dynamics.coordinates_of(slope, task, made.matrix), task, made.matrix)
    rest = jax.tree.map(lambda a, b: np.asarray(a - b), slope, inside)
    d, W = task.group_dim, rest.attention[0]
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
    task, made = (
        group_sparse_task(groups, group_dim, relevant=relevant),
        encoding(encodings, groups, key=encoding_key))
    point = jnp.abs(jax.random.normal(point_key, (8,))) * jnp.array(
        [1.0, 0.3, 0.3, 1.0, 1.0, 1.0, 1.0, 1.0])
    data = jnp.asarray(
        symmetric_sample(np.asarray(task.sample(data_key, samples).inputs), relevant))
    layer = dynamics.parameters_of(point, task, made.matrix)
    at = evaluate(tokens(data, made.matrix), task.label(data), layer.attention[0], layer.value)
    slope = Parameters(
        at.grad_attention_weights[None], at.grad_value, jnp.zeros((0, layer.value.shape[0])))
    reduced, speed = dynamics.reduced_gradient(
        data, task.direction, relevant, point, float(made.gram_scale))
    return xarray.Dataset(
        {
            "outside": ("block", _outside(slope, task, made)),
            "projected": (
                "coordinate", np.asarray(dynamics.coordinates_of(slope, task, made.matrix))),
            "reduced": ("coordinate", np.asarray(speed * reduced.gradient))},
        {"block": list(BLOCKS)})


@partial(jax.jit, static_argnames=("batch",), compiler_options=QUICKLY)
def _full_states(
    keys: Any, task: GroupSparseTask, matrix: Any, start: Any, step_size: Any, gaps: Any, batch: int
) -> Any:
    """alpha, A and mean attention at the end of a run of every weight, for each key."""

    def one(key: Any) -> Any:
        progress, seen = dynamics.full_run(
            key, task, matrix, start, step_size, gaps, None, architecture=PAPER_LAYER, batch=batch,
            held_out=1000)
        found = dynamics.coordinates_of(progress.state, task, matrix)
        return jnp.stack([found[0], found[3] - found[5], seen.attention[0, 0, 1]])

    return jax.vmap(one)(keys)


@experiment(
    "group-sparse.two-engines",
    scales={
        "standard": {"groups": 8, "step_size": 0.1, "steps": 200, "batch": 1000},
        "paper": {"groups": 20, "step_size": 0.015, "steps": 600, "batch": 1000}})
def two_engines(
    key: Any, *, groups: int = 4, group_dim: int = 4, step_size: float = 0.5, steps: int = 60,
    batch: int = 500, repetitions: int = 32, reduced_repetitions: int = 4, encodings: Kind = "sine",
    norm_squared: float | None = None,
) -> xarray.Dataset:
    """alpha, A and attention after `steps` steps: every weight with fresh batches, and the
    six-number map with its own draws."""
    full_key, reduced_key = jax.random.split(key)
    task, made = (
        group_sparse_task(groups, group_dim, relevant=1),
        encoding(encodings, groups, None, norm_squared))
    plan, start = dynamics.plan_record(steps, None), zeros(group_dim + made.matrix.shape[0])

    by_hand = _full_states(
        jax.random.split(full_key, repetitions), task, made.matrix, start, step_size, plan.gaps,
        batch)
    runs = [
        dynamics.reduced_trajectory(one, groups, group_dim, step_size, steps)
        for one in jax.random.split(reduced_key, reduced_repetitions)]
    by_map = [[run.coordinates[-1, 0], run.gap[-1], run.attention[-1]] for run in runs]
    names = ["alpha", "gap", "attention"]
    return xarray.Dataset(
        {
            "full": (("repetition", "name"), np.asarray(by_hand)),
            "reduced": (("draw", "name"), np.array(by_map))},
        {"name": names})


@partial(jax.jit, static_argnames=("samples",), compiler_options=QUICKLY)
def _slopes(keys: Any, task: GroupSparseTask, matrix: Any, value: Any, samples: int) -> Any:
    """The gradient at W = 0 on fresh samples for each key, in the reduced coordinates."""
    size = value.shape[0]

    def one(key: Any) -> Any:
        batch = task.sample(key, samples)
        at = evaluate(tokens(batch.inputs, matrix), batch.labels, jnp.zeros((size, size)), value)
        slope = Parameters(at.grad_attention_weights[None], at.grad_value, jnp.zeros((0, size)))
        return dynamics.coordinates_of(slope, task, matrix)

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
    rows = []
    for number, (groups, step_size) in enumerate(cases):
        task, made = (
            group_sparse_task(groups, group_dim), encoding(encodings, groups, None, norm_squared))
        # After one step W = 0 and v is a multiple of [v*; 0]; E|x| is a one-line integral, taken
        # from its definition.
        first = step_size * 0.5 * np.sqrt(2 / np.pi)
        value = jnp.zeros(group_dim + groups).at[0].set(first)
        keys = jax.random.split(jax.random.fold_in(key, number), replicates)
        found = np.asarray(_slopes(keys, task, made.matrix, value, samples))
        after = -step_size * found
        rows.append(
            np.stack([first + after[:, 0], after[:, 3] - after[:, 5], after[:, 1], after[:, 2]], -1)
        )
    return xarray.Dataset(
        {"state": (("replicate", "case", "name"), np.stack(rows, 1))},
        {"name": ["alpha", "gap", "a", "b"]})


def _product_rule(groups: int, points: int = 160) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """u, m and weights for E over u = |N(0, 1)| and m ~ N(0, 1/(D-1))."""
    x, w = np.polynomial.legendre.leggauss(points)
    u, m = 4.5 * (x + 1), 9.0 * x
    by_u = 4.5 * w * np.sqrt(2 / np.pi) * np.exp(-(u**2) / 2)
    by_m = 9.0 * w * np.exp(-(m**2) / 2) / np.sqrt(2 * np.pi)
    return u[:, None], m[None, :] / np.sqrt(groups - 1), by_u[:, None] * by_m


@experiment("group-sparse.position-quadrature")
def position_quadrature(
    key: Any, *, cases: tuple[tuple[int, float], ...] = ((4, 0.5), (8, 0.5), (16, 0.3)),
    steps: int = 30, fixed: bool = False,
) -> xarray.Dataset:
    """alpha and A of the position-only layer after `steps` steps: by the map, and step by step with
    a plain two-dimensional quadrature of the definition (`fixed` leaves attention uniform
    there)."""
    ours, plainly = [], []
    for groups, step_size in cases:
        made = dynamics.position_trajectory(groups, step_size, steps)
        ours.append([made.alpha[0], made.gap[0]])
        u, m, weights = _product_rule(groups)
        alpha = gap = 0.0
        for _ in range(steps):
            s = 1 / (1 + (groups - 1) * np.exp(-gap))
            mixed = s * u + (1 - s) * m
            residual = weights * expit(-alpha * groups * mixed)
            speed = step_size * ((groups + 1) / 2) ** 2 * groups / (groups - 1) * s * (1 - s)
            pull, turn = (
                groups * np.sum(residual * mixed), speed * alpha * np.sum(residual * (u - m)))
            alpha, gap = alpha + step_size * pull, gap if fixed else gap + turn
        plainly.append([alpha, gap])
    axes = ("case", "name")
    return xarray.Dataset(
        {"map": (axes, np.array(ours)), "plain": (axes, np.array(plainly))},
        {"name": ["alpha", "gap"]})
