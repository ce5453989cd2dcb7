"""Descent in all entries: full-batch on a sample (the realistic problem), or on the whole
population of a small task."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from saccade.errors import Diverged, require
from saccade.studies.spatial.models import gradients, output


class Record(NamedTuple):
    """The state every so many steps, the start included: step numbers, A, v, and the loss before
    each of them (NaN at the last)."""

    steps: np.ndarray
    A: Float[Array, "records patches patches"]
    v: Float[Array, "records dim"]
    loss: Float[Array, " records"]


class Layer(NamedTuple):
    """What is fixed while the layer learns: p, nu and tau."""

    degree: int = 3
    slope: float = 1e-4
    temperature: float = 1.0


def random_start(
    key: Key[Array, ""], patches: int, dim: int, diagonal: float, spread: float, dtype: Any = float
) -> tuple:
    """(A, v) with independent N(0, omega^2) entries and the diagonal of A at sigma_A
    (Parametrization 3.1, realistic case)."""
    first, second = jax.random.split(key)
    A = spread * jax.random.normal(first, (patches, patches), dtype)
    return A.at[jnp.diag_indices(patches)].set(diagonal), spread * jax.random.normal(
        second, (dim,), dtype)


def realistic_descent(
    X: Float[Array, "samples patches dim"], y: Float[Array, " samples"], start: tuple[Array, Array],
    layer: Layer, eta_v: float, eta_a: float, steps: int, every: int = 30,
) -> Record:
    """Full-batch gradient descent on v and the off-diagonal of A, in the precision of X. Raises
    `Diverged` with the step."""
    require(
        steps >= 1 and every >= 1 and steps % every == 0, "every", every,
        f"must divide steps = {steps}")
    A, v, loss = _descend(X, y, *start, layer, eta_v, eta_a, steps // every, every)
    record = Record(np.arange(0, steps + 1, every), A, v, loss)
    _check_finite(record, eta_v, eta_a)
    return record


@partial(jax.jit, static_argnames=("layer", "records", "every"))
def _descend(
    X: Array, y: Array, A: Array, v: Array, layer: Layer, eta_v: float, eta_a: float, records: int,
    every: int,
) -> tuple[Array, Array, Array]:
    def step(state: tuple[Array, Array], _: None) -> tuple[tuple[Array, Array], Array]:
        found = gradients(X, y, *state, *layer)
        moved = (
            (state[0] - eta_a * found.grad_A).astype(A.dtype),
            (state[1] - eta_v * found.grad_v).astype(v.dtype))
        return moved, found.loss

    def block(state: tuple[Array, Array], _: None) -> tuple[tuple[Array, Array], tuple]:
        after, losses = jax.lax.scan(step, state, None, length=every)
        return after, (*state, losses[0])

    last, (As, vs, losses) = jax.lax.scan(block, (A, v), None, length=records)
    ended = jnp.full(1, jnp.nan, losses.dtype)
    return (
        jnp.concatenate([As, last[0][None]]), jnp.concatenate([vs, last[1][None]]),
        jnp.concatenate([losses, ended]))


def _check_finite(record: Record, eta_v: float, eta_a: float) -> None:
    finite = np.isfinite(np.asarray(record.v)).all(axis=1) & np.isfinite(np.asarray(record.A)).all(
        axis=(1, 2))
    if not finite.all():
        step = int(record.steps[int(np.argmin(finite))])
        advice = "the activation is a power, so try a smaller eta_v"
        raise Diverged(
            f"eta_v = {eta_v!r}, eta_a = {eta_a!r} left the finite numbers by step {step};"
            f" {advice}.")


@partial(jax.jit, static_argnames=("layer",))
def error_rate(X: Array, y: Array, A: Array, v: Array, layer: Layer) -> Float[Array, ""]:
    """Share of wrong signs on a sample (a zero counts one half)."""
    F = y * output(X, A, v, *layer)
    return jnp.mean((F < 0) + 0.5 * (F == 0))


def cosine(v: Array, feature: Array) -> Float[Array, ""]:
    """Cosine between the value vector and the feature w*."""
    return v @ feature / (jnp.linalg.norm(v) * jnp.linalg.norm(feature))


@partial(jax.jit, static_argnames=("layer", "steps"))
def entrywise_population_descent(
    images: tuple[Array, Array, Array], A: Array, alpha: Any, layer: Layer, eta_v: float,
    eta_a: float, steps: int,
) -> tuple[Array, Array]:
    """Descent on the population loss in ALL entries of A and in alpha, over listed images (signals,
    y, probability).

    Returns A before every step and after the last, and alpha likewise: what Lemma 4.1 says stays
    three-valued.
    """
    signals, y, probability = images
    free = 1 - jnp.eye(A.shape[0])

    def population_loss(at: tuple[Array, Array]) -> Array:
        F = output(signals[..., None], at[0], at[1][None], *layer)
        return probability @ jnp.logaddexp(0.0, -y * F)

    def step(at: tuple[Array, Array], _: None) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        slope = jax.grad(population_loss)(at)
        return (at[0] - eta_a * free * slope[0], at[1] - eta_v * slope[1]), at

    first = (A, jnp.asarray(alpha, float))
    last, path = jax.lax.scan(step, first, None, length=steps)
    return jnp.concatenate([path[0], last[0][None]]), jnp.concatenate([path[1], last[1][None]])
