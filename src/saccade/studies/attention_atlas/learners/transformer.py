"""One small transformer layer with learned encodings of places, trained by Adam on small batches.

    Z = X E + P;  Z + attention(Z) with two heads;  + a perceptron;  mean over tokens;  linear

Width 16, 400 steps on batches of 64; step size and weight decay are chosen among two each. One
program serves every number of samples, both losses and all settings: those are arguments. What it
looks at is the attention each token receives, averaged over heads and over those that look.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.lab.chart import ChartedLearner
from saccade.studies.attention_atlas.learners import STUDY
from saccade.studies.attention_atlas.models import Data, Fitted, Mask, Tuned, scaled

WIDTH, HEADS, HIDDEN, STEPS, BATCH, ROOM = 16, 2, 32, 400, 64, 1024
SETTINGS = ((3e-3, 0.0), (3e-3, 0.1), (1e-2, 0.0), (1e-2, 0.1))
"""(step size, weight decay)"""
ADAM = optax.scale_by_adam()


def start(key: Any, length: int, dim: int) -> dict[str, Any]:
    """Entries of variance 1/(numbers that come in); encodings of variance 1/4; read-out zero."""
    shapes = {
        "embed": (dim, WIDTH), "qkv": (WIDTH, 3, HEADS, WIDTH // HEADS), "out": (WIDTH, WIDTH),
        "up": (WIDTH, HIDDEN), "down": (HIDDEN, WIDTH)}
    keys = jax.random.split(key, len(shapes) + 1)
    made = {
        name: jax.random.normal(one, shape, jnp.float32) / np.float32(np.sqrt(shape[0]))
        for one, (name, shape) in zip(keys, shapes.items(), strict=False)}
    places = jax.random.normal(keys[-1], (length, WIDTH), jnp.float32) / 2
    read, bias = jnp.zeros(WIDTH, jnp.float32), jnp.zeros((), jnp.float32)
    return made | {"places": places, "read": read, "bias": bias}


def apply(parameters: dict[str, Any], X: Any) -> tuple[Any, Any]:
    """Predictions, and the attention each token receives."""
    Z = X @ parameters["embed"] + parameters["places"]
    q, k, v = jnp.moveaxis(jnp.einsum("nlw,wchd->nlchd", Z, parameters["qkv"]), 2, 0)
    scores = jnp.einsum("nlhd,nmhd->nhlm", q, k) / np.float32(np.sqrt(WIDTH / HEADS))
    weights = jax.nn.softmax(scores, axis=-1)
    mixed = jnp.einsum("nhlm,nmhd->nlhd", weights, v).reshape(Z.shape)
    Z = Z + mixed @ parameters["out"]
    Z = Z + jax.nn.gelu(Z @ parameters["up"]) @ parameters["down"]
    return Z.mean(axis=1) @ parameters["read"] + parameters["bias"], weights.mean(axis=(1, 2))


@jax.jit
def train(key: Any, X: Any, y: Any, count: Any, labels: Any, rate: Any, decay: Any) -> Any:
    """Parameters after STEPS steps on the first `count` rows; `labels` chooses the loss."""
    first, batches = jax.random.split(key)
    parameters = start(first, *X.shape[1:])

    def loss(parameters: Any, rows: Any) -> Any:
        F, _ = apply(parameters, X[rows])
        return jnp.mean(
            jnp.where(labels, jnp.logaddexp(0.0, -y[rows] * F), jnp.square(F - y[rows]) / 2))

    def step(state: Any, number: Any) -> Any:
        parameters, memory = state
        rows = jax.random.randint(jax.random.fold_in(batches, number), (BATCH,), 0, count)
        moves, memory = ADAM.update(jax.grad(loss)(parameters, rows), memory)
        size = rate * (1 - number.astype(jnp.float32) / STEPS)
        moved = jax.tree.map(lambda p, m: p - size * (m + decay * p), parameters, moves)
        return (moved, memory), None

    return jax.lax.scan(step, (parameters, ADAM.init(parameters)), jnp.arange(STEPS))[0][0]


_apply = jax.jit(apply)


def _path(data: Data) -> Iterator[Fitted]:
    y, level, spread = scaled(data)
    rows = np.arange(max(ROOM, len(y))) % len(y)  # filled up: one program for every n
    X, y, count = data.X[rows].astype(np.float32), y[rows].astype(np.float32), len(y)
    for rate, decay in SETTINGS:
        made = train(
            jax.random.key(data.seed), X, y, count, data.kind == "classification", np.float32(rate),
            np.float32(decay))
        made = jax.tree.map(lambda leaf: np.asarray(leaf, np.float32), made)
        yield Fitted(
            lambda X, mask, made=made: level + spread * np.asarray(_looked(made, X)[0], float),
            partial(_weigh, made))


def _looked(made: Any, X: np.ndarray) -> Any:
    return _apply(made, X.astype(np.float32))


def _weigh(made: Any, X: np.ndarray, mask: Mask) -> np.ndarray:
    return np.asarray(_looked(made, X)[1], float)


TRANSFORMER = ChartedLearner(
    "transformer", STUDY, "one transformer layer with learned encodings",
    lambda kind: Tuned(kind, _path), quick=False)
