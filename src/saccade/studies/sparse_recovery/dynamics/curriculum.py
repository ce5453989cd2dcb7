"""A curriculum over coordinates and non-zeros: training starts on few of both, which are found
soon, and grows to the whole task.

At step t only the first d_t coordinates of every row are there, and vectors have S_t non-zeros
among them; both rise in equal stretches until a share of the steps has passed, and are d and S from
then on. Source: Garg et al. (2022), arXiv 2208.01066, who grow the coordinates of in-context
regression; that the non-zeros grow with them is ours. Tests are always on the whole task.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from saccade.errors import require
from saccade.networks.training import Problem
from saccade.studies.sparse_recovery.task import RecoverySample, SparseRecovery


class Curriculum(NamedTuple):
    """Where it starts, and the share of the steps after which the task is whole (0: after the
    first)."""

    first_dim: int
    first_sparsity: int
    grown: float


def with_curriculum(
    problem: Problem, task: SparseRecovery, curriculum: Curriculum, steps: int
) -> Problem:
    """The problem with its batches cut down to what is there at their step."""
    require(task.noise == 0, "noise", task.noise, "must be 0 with a curriculum")
    free = task.block == 1 and len(task.pool) == task.dim
    require(free, "pool", list(task.pool), "must hold every coordinate, and block be 1, here")
    dim, sparsity, grown = curriculum
    require(
        1 <= sparsity <= task.sparsity, "first_sparsity", sparsity,
        f"must be from 1 to {task.sparsity}")
    require(sparsity <= dim <= task.dim, "first_dim", dim, f"must be from {sparsity} to {task.dim}")
    require(0 <= grown <= 1, "grown", grown, "must lie in [0, 1]")

    def batch(key: Array, step: Array, data: Any) -> RecoverySample:
        whole = problem.batch(key, step, data)
        there = sizes_at(step, task, curriculum, steps)
        return cut_down(jax.random.fold_in(key, 1), whole, *there)

    return problem._replace(batch=batch)


def sizes_at(
    step: Array, task: SparseRecovery, curriculum: Curriculum, steps: int
) -> tuple[Array, Array]:
    """d_t and S_t: both begin at their first value and rise by one after equal stretches."""
    passed = step / max(curriculum.grown * steps, 1)

    def at(first: int, last: int) -> Array:
        return jnp.minimum(first + jnp.floor(passed * (last - first + 1)), last).astype(int)

    return at(curriculum.first_dim, task.dim), at(curriculum.first_sparsity, task.sparsity)


def cut_down(key: Array, sample: RecoverySample, dim: Array, sparsity: Array) -> RecoverySample:
    """Zeros in all coordinates but the first `dim`; new vectors with `sparsity` non-zeros there."""
    place_key, value_key = jax.random.split(key)
    there = jnp.arange(sample.beta.shape[-1]) < dim
    lots = jax.random.uniform(place_key, sample.beta.shape) + 2.0 * ~there
    support = lots <= jnp.sort(lots, axis=-1)[:, sparsity - 1, None]
    beta = support * jax.random.normal(value_key, sample.beta.shape, sample.beta.dtype)
    X, query = sample.X * there, sample.query * there
    return sample._replace(
        X=X, y=jnp.einsum("tnd,td->tn", X, beta), beta=beta, support=support, query=query,
        query_y=jnp.sum(query * beta, axis=-1))
