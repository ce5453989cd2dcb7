"""Training of the LISTA family: Adam on E |b^(K) - beta|^2, with fresh problems every step, on one
matrix or on ever new ones.

Several seeds train at once (vmap). Heavy tails are the rule here: a matrix on which a learned step
is too long diverges geometrically. So an error is never one number.

Problems are drawn for many steps at a time, outside the compiled program: a generator inside it
would take three quarters of its compiling. So one program serves all tasks of the same shape.
"""

from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, Key

from saccade.descent import divergence_report, watch, watched
from saccade.errors import Diverged, require
from saccade.studies.sparse_recovery.models.steps import prepare
from saccade.studies.sparse_recovery.models.unrolled import Layers, algorithm_named, iterates
from saccade.studies.sparse_recovery.task import SparseRecovery

NUMBERS_A_BLOCK = 2**23
"""What is drawn at a time: 34 MB in single precision."""


class Recipe(NamedTuple):
    """Adam with a cosine to zero, gradients clipped at a global norm (infinite: not at all)."""

    steps: int = 400
    batch: int = 128
    learning_rate: float = 1e-2
    clip: float = 1.0

    def optimiser(self, clipped: bool | None = None) -> optax.GradientTransformation:
        """Its numbers may be traced: then whether it is `clipped` must be said."""

        def schedule(step: Any) -> Any:
            share = jnp.minimum(step, self.steps) / self.steps
            return self.learning_rate * 0.5 * (1 + jnp.cos(np.pi * share))

        clipped = bool(np.isfinite(self.clip)) if clipped is None else clipped
        clip = [optax.clip_by_global_norm(self.clip)] if clipped else []
        return optax.chain(*clip, optax.adam(schedule))


class Trained(NamedTuple):
    """Layers after each recorded number of steps, [record][seed][layer]..."""

    layers: dict[str, np.ndarray]
    steps: Int[np.ndarray, " record"]

    def at(self, record: int = -1, seed: int = 0) -> Layers:
        """The layers of one seed in float64, ready to be run."""
        return {name: np.asarray(leaf[record, seed], float) for name, leaf in self.layers.items()}


def start_layers(name: str, layers: int, seeds: int = 1, X=None, **options: float) -> Layers:
    """What training begins with, for each seed; LISTA and LISTA-CP start as ISTA on X."""
    algorithm = algorithm_named(name)
    require(
        X is not None or name not in ("lista", "lista-cp"), "X", X,
        f"must be given: {name} starts from a matrix")
    start = partial(algorithm.start, layers=layers, dtype=jnp.float32, **options)
    matrices = [None] * seeds if X is None else _one_a_seed(X, seeds)
    starts = [start(X=matrix) for matrix in matrices]
    return {leaf: jnp.asarray(np.stack([one[leaf] for one in starts])) for leaf in starts[0]}


def _one_a_seed(X, seeds: int) -> Float[np.ndarray, "seed row dim"]:
    """A matrix for each seed, from one or from as many."""
    return np.broadcast_to(np.asarray(X, np.float32), (seeds, *np.shape(X)[-2:]))


def train(
    name: str, task: SparseRecovery, keys: Key[Array, " seed"], start: Layers, recipe: Recipe,
    X: Any = None, record: tuple[int, ...] = (), fixed: Mapping[str, Any] | None = None,
    block: int = 0,
) -> Trained:
    """Train from `start` (leading axis: the seed) once for each key; all problems use `X` (one
    matrix, or one for each seed), or each has a new one. `fixed` holds arrays of the layers that
    are not trained; problems of `block` steps are drawn at a time (0: of as many as memory
    allows), which changes no number. Weights that leave the finite numbers are refused with the
    step."""
    stops = np.unique(np.append(np.asarray(record, int), recipe.steps))
    require(
        recipe.steps >= 1 and stops[0] >= 0, "steps", recipe.steps,
        "must be at least 1, and records not negative")
    matrices = None if X is None else _one_a_seed(X, len(keys))
    carry, problems = _begin(recipe, start), None
    block = block or _steps_a_block(task, recipe, len(keys), matrices)
    recorded = {0: start}
    for begin, end in pairwise(np.union1d(stops, np.arange(0, recipe.steps, block))):
        if begin % block == 0:
            step_keys, keys = _keys_of_steps(keys, block)
            problems = _problems(task, recipe, step_keys, matrices)
        carry = _advance(
            name, bool(np.isfinite(recipe.clip)), recipe, carry, problems, fixed or {}, begin, end,
            block)
        if end in stops:
            recorded[end] = carry[0].state
    _refuse_divergence(name, carry[0].diverged_at, recipe)
    layers = {
        leaf: np.stack([np.asarray(recorded[stop][leaf]) for stop in stops]) for leaf in start}
    layers |= {
        leaf: np.broadcast_to(value, (len(stops), len(keys), *np.shape(value)))
        for leaf, value in (fixed or {}).items()}
    return Trained(_positive(layers), stops)


def _positive(layers: dict[str, Any]) -> dict[str, Any]:
    """Thresholds are trained freely and used as |theta|."""
    return {name: abs(leaf) if name == "theta" else leaf for name, leaf in layers.items()}


def _refuse_divergence(name: str, diverged_at: Int[Array, " seed"], recipe: Recipe) -> None:
    first = min((step for step in diverged_at.tolist() if step >= 0), default=-1)
    if report := divergence_report(first, recipe.learning_rate, "learning_rate"):
        raise Diverged(f"Training of {name} {report}")


class Problems(NamedTuple):
    """What a block of steps is trained on: a matrix for each seed, or for each problem."""

    X: Any
    """(seed, row, dim) or (step, seed, sample, row, dim)"""
    y: Any
    """(step, seed, sample, row)"""
    beta: Any
    """(step, seed, sample, dim)"""


def _steps_a_block(task: SparseRecovery, recipe: Recipe, seeds: int, matrices: Any) -> int:
    """As many as NUMBERS_A_BLOCK are enough for."""
    a_problem = task.dim + task.measurements
    a_problem += task.dim * task.measurements if matrices is None else 0
    return max(1, min(recipe.steps, NUMBERS_A_BLOCK // (seeds * recipe.batch * a_problem)))


@partial(jax.jit, static_argnames="number")
def _keys_of_steps(keys: Key[Array, " seed"], number: int) -> tuple[Array, Array]:
    """The keys from which each of `number` steps draws, (step, seed), and those to go on with."""

    def step(keys, _):
        keys, draw = jnp.moveaxis(jax.vmap(jax.random.split)(keys), 1, 0)
        return keys, draw

    keys, step_keys = jax.lax.scan(step, keys, length=number)
    return step_keys, keys


def _problems(task: SparseRecovery, recipe: Recipe, keys, matrices) -> Problems:
    """The problems of a block; `keys` is (step, seed)."""
    if matrices is None:
        sample = task.sample(keys, recipe.batch, dtype=jnp.float32, query=False)
        return Problems(sample.X, sample.y, sample.beta)
    samples = [
        task.sample_on(keys[:, seed], X, recipe.batch, query=False)
        for seed, X in enumerate(matrices)]
    y, beta = (np.stack(parts, 1) for parts in zip(*((one.y, one.beta) for one in samples)))
    return Problems(matrices, y, beta)


@partial(jax.jit, static_argnames="recipe")
def _begin(recipe: Recipe, start: Layers):
    """Weights, watched for divergence, and the moments of Adam, for each seed. All numbers have
    firm types: a type that the first stretch of steps firms up would compile the second anew."""
    begun = jax.vmap(lambda layers: (watch(layers), recipe.optimiser().init(layers)))(start)
    return jax.tree.map(lambda leaf: leaf.astype(leaf.dtype), begun)


@partial(jax.jit, static_argnames=("name", "clipped"))
def _advance(
    name: str, clipped: bool, recipe: Recipe, carry, problems: Problems, fixed, begin, end, block
):
    """The steps from `begin` to `end`, for each seed, on problems of the block they lie in. The
    numbers of the recipe are no part of the program."""
    algorithm, optimiser = algorithm_named(name), recipe.optimiser(clipped)
    one_matrix = problems.X.ndim == 3

    def of_seed(carry, problems: Problems):
        first = prepare(
            problems.X if one_matrix else problems.X[0], problems.y[0], weight=algorithm.weight)

        def loss_of(layers: Layers, place):
            y, beta = problems.y[place], problems.beta[place]
            problem = (
                first._replace(y=y) if one_matrix
                else prepare(problems.X[place], y, weight=algorithm.weight))
            b = iterates(algorithm, {**_positive(layers), **fixed}, problem)[-1]
            return ((b - beta) ** 2).sum(-1).mean()

        def step(t, carry):
            before, moments = carry
            gradient = jax.grad(loss_of)(before.state, t % block)
            updates, moments = optimiser.update(gradient, moments, before.state)
            after = watched(lambda layers, t: optax.apply_updates(layers, updates))(before, t)
            return after, moments

        return jax.lax.fori_loop(begin, end, step, carry)

    return jax.vmap(of_seed, (0, Problems(0 if one_matrix else 1, 1, 1)))(carry, problems)
