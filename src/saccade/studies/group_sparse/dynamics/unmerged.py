"""The layer with its query and key matrices apart, W = K^T Q with K and Q of r rows.

The gradients are those of the merged layer through the chain rule, with G = dL/dW:
    dL/dK = Q G^T,      dL/dQ = K G.
At K = Q = 0 both vanish: the paper's start is a saddle that descent never leaves.

Rank one from K = [0; k], Q = [0; q] with P^T k = a (e_* - 1/D) and P^T q = theta 1 stays there in
the population, with W11 = 0 and the gap A = a theta. With F = -dL/dA of `theory.position`,
    a     <- a + eta c theta F D/(D-1)
    theta <- theta + eta c a F/D
(status: quadrature, exact otherwise). Where a^2 = theta^2 D^2/(D-1), which descent keeps, A moves
as in the merged layer with c^2 replaced by 2 A c sqrt(D-1): not at all from zero, and ever
faster.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from saccade.studies.group_sparse.dynamics import follow
from saccade.studies.group_sparse.dynamics.full import Observables, observe
from saccade.studies.group_sparse.models import (
    Matrix,
    Parameters,
    Transformer,
    evaluate,
    mean_square,
    tokens,
)
from saccade.studies.group_sparse.task import GroupSparseTask
from saccade.studies.group_sparse.theory import position


class Factors(NamedTuple):
    """K, Q and v."""

    keys: Float[Array, "rank token_dim"]
    queries: Float[Array, "rank token_dim"]
    value: Float[Array, " token_dim"]


def merged(factors: Factors, matrix: Matrix) -> Transformer:
    """The layer with W = K^T Q."""
    weights = (factors.keys.T @ factors.queries)[None]
    return Transformer(
        Parameters(weights, factors.value, jnp.zeros((0, len(factors.value)))), matrix)


def unmerged_run(
    key: PRNGKeyArray, task: GroupSparseTask, start: Factors, matrix: Matrix, step_size,
    stops: Int[Array, " records"], batch: int, held_out: int,
) -> tuple[Factors, Observables]:
    """Descent of K, Q and v on fresh batches, watched on held-out samples; traceable."""
    batch_key, held_out_key = jax.random.split(key)
    judge = task.sample(held_out_key, held_out)

    def step(at: Factors, number) -> Factors:
        drawn = task.sample(jax.random.fold_in(batch_key, number), batch)
        slope = evaluate(tokens(drawn.X, matrix), drawn.y, at.keys.T @ at.queries, at.value)
        G = slope.grad_attention_weights
        change = Factors(at.queries @ G.T, at.keys @ G, slope.grad_value)
        return jax.tree.map(lambda old, part: old - step_size * part, at, change)

    def look(at: Factors) -> Observables:
        return observe(merged(at, matrix), task, judge)

    ended, rows = follow(step, look, start, stops)
    return ended.state, rows


def balanced(size, groups) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """a and theta with A = a theta = size^2 and a^2 = theta^2 D^2/(D-1)."""
    root = jnp.sqrt(groups - 1.0)
    theta = size * jnp.sqrt(root / groups)
    return theta * groups / root, theta


def rank_one(size, task: GroupSparseTask, matrix: Matrix) -> Factors:
    """K = [0; k] and Q = [0; q] of the rank-one start with A = size^2; v = 0."""
    a, theta = balanced(size, task.length)
    chosen = jax.nn.one_hot(task.relevant, task.length) - 1 / task.length
    wanted = a * chosen, theta * jnp.ones(task.length)
    # P^T k = x is solved by k = P x / c.
    keys, queries = (
        jnp.concatenate([jnp.zeros(task.dim), matrix @ x / mean_square(matrix)])[None]
        for x in wanted)
    return Factors(keys, queries, jnp.zeros(keys.shape[1]))


@jax.jit
def rank_one_map(
    groups, size, step_size, gram_scale, scale, stops: Int[Array, " records"]
) -> tuple[Float[Array, " records"], Float[Array, " records"]]:
    """alpha and A = a theta at the stops, from `rank_one` with this size; D may be traced."""

    def step(state, _):
        alpha, a, theta = state
        forces = position.population_forces(alpha, a * theta, groups, scale)
        pull = step_size * gram_scale * forces.gap_force
        return (
            alpha + step_size * forces.alpha_force, a + theta * pull * groups / (groups - 1),
            theta + a * pull / groups)

    start = jnp.asarray(0.0), *balanced(size, groups)
    return follow(step, lambda state: (state[0], state[1] * state[2]), start, stops)[1]
