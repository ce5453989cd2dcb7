"""Training of the LISTA family: Adam on E |b^(K) - beta|^2, with fresh problems every step, on one
matrix or on ever new ones.

Several seeds train at once (vmap); steps are a scan; recorded learning curves cost one scan over
the recorded stretches. Heavy tails are the rule here: a matrix on which a learned step is too long
diverges geometrically. So an error is never one number.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, Key

from saccade.errors import Diverged, require
from saccade.studies.sparse_recovery.models.unrolled import algorithm_named
from saccade.studies.sparse_recovery.models.unrolled.algorithms import Layers, traced_iterates
from saccade.studies.sparse_recovery.models.unrolled.steps import problem
from saccade.studies.sparse_recovery.task import SparseRecovery

POSITIVE = ("theta",)


class Recipe(NamedTuple):
    """How to train: Adam with a cosine to zero, gradients clipped at a global norm (`clip`;
    infinite: not at all)."""

    steps: int = 400
    batch: int = 128
    learning_rate: float = 1e-2
    clip: float = 1.0


class Trained(NamedTuple):
    """Layers after each recorded number of steps, [record][seed][layer]..., and the mean loss of
    the stretch before it."""

    layers: dict[str, np.ndarray]
    loss: Float[np.ndarray, "record seed"]
    steps: Int[np.ndarray, " record"]

    def at(self, record: int = -1, seed: int = 0) -> Layers:
        """The layers of one seed in float64, ready to be run."""
        return {name: jnp.asarray(leaf[record, seed], float) for name, leaf in self.layers.items()}


def start_layers(
    name: str, layers: int, seeds: int = 1, X=None, dtype=jnp.float32, **options: float
) -> Layers:
    """The layers training of `name` begins with, for each seed; LISTA and LISTA-CP start as ISTA on
    X (one matrix, or one a seed)."""
    algorithm = algorithm_named(name)
    require(
        X is not None or name not in ("lista", "lista-cp"), "X", X,
        f"must be given: {name} starts from a matrix")
    if X is None:
        made = algorithm.start(layers=layers, dtype=dtype, **options)
        return {
            leaf: jnp.broadcast_to(value, (seeds, *value.shape)) for leaf, value in made.items()}
    matrices = jnp.broadcast_to(jnp.asarray(X, dtype), (seeds, *jnp.shape(X)[-2:]))
    return jax.vmap(
        lambda matrix: algorithm.start(layers=layers, X=matrix, dtype=dtype, **options))(matrices)


def train(
    name: str, task: SparseRecovery, keys: Key[Array, " seed"], start: Layers, recipe: Recipe,
    X: Float[Array, "row dim"] | Float[Array, "seed row dim"] | None = None,
    record: tuple[int, ...] = (), fixed: Mapping[str, Any] | None = None,
) -> Trained:
    """Train from `start` (leading axis: the seed) once for each key.

    With `X` (one matrix, or one for each seed) every problem uses it; without, every problem has a
    new matrix. `fixed` holds arrays of the layers that are not trained. Non-finite weights stop
    with the step at which they appeared.
    """
    stops = np.unique(np.append(np.asarray(record, int), recipe.steps))
    require(
        recipe.steps >= 1 and stops[0] >= 0, "steps", recipe.steps,
        "must be at least 1, and records not negative")
    seeds = len(keys)
    matrices = (
        None if X is None
        else jnp.broadcast_to(jnp.asarray(X, jnp.float32), (seeds, *jnp.shape(X)[-2:])))
    gaps = jnp.asarray(np.diff(stops, prepend=0))
    layers, loss = _train(name, task, recipe, keys, start, matrices, dict(fixed or {}), gaps)
    found = Trained({k: np.asarray(v) for k, v in layers.items()}, np.asarray(loss), stops)
    _check_finite(found)
    return found


def _positive(layers: Layers) -> Layers:
    """Thresholds are trained freely and used as |theta|."""
    return {name: jnp.abs(leaf) if name in POSITIVE else leaf for name, leaf in layers.items()}


@partial(jax.jit, static_argnames=("name", "task", "recipe"))
def _train(
    name: str, task: SparseRecovery, recipe: Recipe, keys, start: Layers, matrices, fixed, gaps
):
    one = partial(_train_one, name, task, recipe)
    axes = (0, 0, None if matrices is None else 0, None, None)
    layers, loss = jax.vmap(one, in_axes=axes, out_axes=1)(keys, start, matrices, fixed, gaps)
    return _positive(layers), loss


def _optimiser(recipe: Recipe) -> optax.GradientTransformation:
    schedule = optax.cosine_decay_schedule(recipe.learning_rate, recipe.steps)
    clip = [optax.clip_by_global_norm(recipe.clip)] if np.isfinite(recipe.clip) else []
    return optax.chain(*clip, optax.adam(schedule))


def _train_one(
    name: str, task: SparseRecovery, recipe: Recipe, key, start: Layers, matrix, fixed, gaps
):
    algorithm, optimiser = algorithm_named(name), _optimiser(recipe)

    def loss_of(layers: Layers, sample):
        given = problem(sample.X, sample.y, count=sample.count, weight=algorithm.weight)
        b = traced_iterates(algorithm, {**_positive(layers), **fixed}, given)[-1]
        return ((b - sample.beta) ** 2).sum(-1).mean()

    def step(_, carry):
        layers, state, key, total = carry
        key, draw = jax.random.split(key)
        if matrix is None:
            sample = task.sample(draw, recipe.batch, dtype=jnp.float32)
        else:
            sample = task.sample_on(draw, jnp.broadcast_to(matrix, (recipe.batch, *matrix.shape)))
        loss, gradient = jax.value_and_grad(loss_of)(layers, sample)
        updates, state = optimiser.update(gradient, state, layers)
        return optax.apply_updates(layers, updates), state, key, total + loss

    def stretch(carry, gap):
        layers, state, key = carry
        layers, state, key, total = jax.lax.fori_loop(
            0, gap, step, (layers, state, key, jnp.float32(0)))
        return (layers, state, key), (layers, total / jnp.maximum(gap, 1))

    return jax.lax.scan(stretch, (start, optimiser.init(start), key), gaps)[1]


def _check_finite(found: Trained) -> None:
    sound = np.stack(
        [np.isfinite(leaf).reshape(len(found.steps), -1).all(1) for leaf in found.layers.values()]
    ).all(0)
    if not sound.all():
        first = int(found.steps[int(np.argmin(sound))])
        raise Diverged(
            f"Training left the finite numbers before step {first} (losses so far:"
            f" {found.loss.mean(1).round(3).tolist()}); use a smaller learning_rate, a smaller"
            " first step, or gradient clipping.")
