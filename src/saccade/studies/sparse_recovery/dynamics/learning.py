"""Training of the LISTA family: Adam on E |b^(K) - beta|^2, with fresh problems every step, on one
matrix or on ever new ones.

Several seeds train at once (vmap). Heavy tails are the rule here: a matrix on which a learned step
is too long diverges geometrically. So an error is never one number.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, Key

from saccade.descent import descend, divergence_report, watch, watched
from saccade.errors import Diverged, require
from saccade.studies.sparse_recovery.models.steps import prepare
from saccade.studies.sparse_recovery.models.unrolled import Layers, algorithm_named, iterates
from saccade.studies.sparse_recovery.task import SparseRecovery


class Recipe(NamedTuple):
    """Adam with a cosine to zero, gradients clipped at a global norm (infinite: not at all)."""

    steps: int = 400
    batch: int = 128
    learning_rate: float = 1e-2
    clip: float = 1.0

    def optimiser(self) -> optax.GradientTransformation:
        schedule = optax.cosine_decay_schedule(self.learning_rate, self.steps)
        clip = [optax.clip_by_global_norm(self.clip)] if np.isfinite(self.clip) else []
        return optax.chain(*clip, optax.adam(schedule))


class Trained(NamedTuple):
    """Layers after each recorded number of steps, [record][seed][layer]..."""

    layers: dict[str, np.ndarray]
    steps: Int[np.ndarray, " record"]

    def at(self, record: int = -1, seed: int = 0) -> Layers:
        """The layers of one seed in float64, ready to be run."""
        return {name: jnp.asarray(leaf[record, seed], float) for name, leaf in self.layers.items()}


def start_layers(name: str, layers: int, seeds: int = 1, X=None, **options: float) -> Layers:
    """What training begins with, for each seed; LISTA and LISTA-CP start as ISTA on X."""
    algorithm = algorithm_named(name)
    require(
        X is not None or name not in ("lista", "lista-cp"), "X", X,
        f"must be given: {name} starts from a matrix")
    start = partial(algorithm.start, layers=layers, dtype=jnp.float32, **options)
    if X is None:
        return {
            leaf: jnp.broadcast_to(value, (seeds, *value.shape)) for leaf, value in start().items()}
    return jax.vmap(lambda matrix: start(X=matrix))(_one_a_seed(X, seeds))


def _one_a_seed(X, seeds: int) -> Float[Array, "seed row dim"]:
    """A matrix for each seed, from one or from as many."""
    return jnp.broadcast_to(jnp.asarray(X, jnp.float32), (seeds, *jnp.shape(X)[-2:]))


def train(
    name: str, task: SparseRecovery, keys: Key[Array, " seed"], start: Layers, recipe: Recipe,
    X: Any = None, record: tuple[int, ...] = (), fixed: Mapping[str, Any] | None = None,
) -> Trained:
    """Train from `start` (leading axis: the seed) once for each key; all problems use `X` (one
    matrix, or one for each seed), or each has a new one. `fixed` holds arrays of the layers that
    are not trained. Weights that leave the finite numbers are refused with the step."""
    stops = np.unique(np.append(np.asarray(record, int), recipe.steps))
    require(
        recipe.steps >= 1 and stops[0] >= 0, "steps", recipe.steps,
        "must be at least 1, and records not negative")
    matrices = None if X is None else _one_a_seed(X, len(keys))
    layers, diverged_at = _train(
        name, task, recipe, keys, start, matrices, dict(fixed or {}), jnp.asarray(stops))
    first = min((step for step in diverged_at.tolist() if step >= 0), default=-1)
    if report := divergence_report(first, recipe.learning_rate, "learning_rate"):
        raise Diverged(f"Training of {name} {report}")
    layers |= {
        leaf: jnp.broadcast_to(value, (len(stops), len(keys), *value.shape))
        for leaf, value in (fixed or {}).items()}
    return Trained({leaf: np.asarray(value) for leaf, value in layers.items()}, stops)


def _positive(layers: Layers) -> Layers:
    """Thresholds are trained freely and used as |theta|."""
    return {name: jnp.abs(leaf) if name == "theta" else leaf for name, leaf in layers.items()}


@partial(jax.jit, static_argnames=("name", "task", "recipe"))
def _train(name: str, task, recipe: Recipe, keys, start: Layers, matrices, fixed, stops):
    one = partial(_train_one, name, task, recipe)
    axes = (0, 0, None if matrices is None else 0, None, None)
    layers, diverged_at = jax.vmap(one, axes, (1, 0))(keys, start, matrices, fixed, stops)
    return _positive(layers), diverged_at


def _train_one(name: str, task, recipe: Recipe, key, start: Layers, matrix, fixed, stops):
    algorithm, optimiser = algorithm_named(name), recipe.optimiser()

    def loss_of(layers: Layers, sample):
        problem = prepare(sample.X, sample.y, count=sample.count, weight=algorithm.weight)
        b = iterates(algorithm, {**_positive(layers), **fixed}, problem)[-1]
        return ((b - sample.beta) ** 2).sum(-1).mean()

    def step(carry, t):
        before, moments, key = carry
        key, draw = jax.random.split(key)
        if matrix is None:
            sample = task.sample(draw, recipe.batch, dtype=jnp.float32)
        else:
            sample = task.sample_on(draw, jnp.broadcast_to(matrix, (recipe.batch, *matrix.shape)))
        gradient = jax.grad(loss_of)(before.state, sample)
        updates, moments = optimiser.update(gradient, moments, before.state)
        after = watched(lambda layers, t: optax.apply_updates(layers, updates))(before, t)
        return after, moments, key

    (end, *_), layers = descend(
        step, lambda carry, stop: carry[0].state, (watch(start), optimiser.init(start), key), stops)
    return layers, end.diverged_at
