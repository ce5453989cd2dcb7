"""Descent in all entries: full-batch on a sample (the realistic problem), on the whole population
of a small task, and transfer, where the attention of an earlier task is kept (section 5)."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from saccade.descent import descend, watch, watched
from saccade.errors import require
from saccade.studies.spatial import models
from saccade.studies.spatial.dynamics import refuse_divergence
from saccade.studies.spatial.models import output, scores

Patches = Float[Array, "samples patches dim"]


class Record(NamedTuple):
    """The state every so many steps, the start included: step numbers, A, v, and the loss there."""

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
) -> tuple[Array, Array]:
    """(A, v) with N(0, omega^2) entries and sigma_A on the diagonal (Parametrization 3.1)."""
    first, second = jax.random.split(key)
    A = spread * jax.random.normal(first, (patches, patches), dtype)
    v = spread * jax.random.normal(second, (dim,), dtype)
    return A.at[jnp.diag_indices(patches)].set(diagonal), v


def realistic_descent(
    X: Patches, y: Float[Array, " samples"], start: tuple[Array, Array], layer: Layer, eta_v: float,
    eta_a: float, steps: int, every: int = 30,
) -> Record:
    """Full-batch descent on v and the off-diagonal of A, in the precision of X; or `Diverged`."""
    divides = steps >= 1 and every >= 1 and steps % every == 0
    require(divides, "every", every, f"must divide steps = {steps}")
    stops = np.arange(0, steps + 1, every)
    A, v, loss, diverged_at = _sample_descent(X, y, start, layer, eta_v, eta_a, stops)
    refuse_divergence(diverged_at, eta_v, eta_a)
    return Record(stops, A, v, loss)


@partial(jax.jit, static_argnames="layer")
def _sample_descent(
    X: Array, y: Array, start: tuple[Array, Array], layer: Layer, eta_v: float, eta_a: float,
    stops: Array,
) -> tuple[Array, Array, Array, Array]:
    def step(state: tuple[Array, Array], _: Array) -> tuple[Array, Array]:
        _, _, grad_A, grad_v = models.gradients(X, y, *state, *layer)
        return state[0] - eta_a * grad_A, state[1] - eta_v * grad_v

    def observe(now: Any, _: Array) -> tuple[Array, Array, Array]:
        A, v = now.state
        return A, v, sample_loss(X, y, A, v, layer)

    end, recorded = descend(watched(step), observe, watch(start), stops)
    return *recorded, end.diverged_at


def sample_loss(X: Patches, y: Array, A: Array, v: Array, layer: Layer) -> Float[Array, ""]:
    """Mean logistic loss of the layer."""
    return jnp.mean(jnp.logaddexp(0.0, -y * output(X, A, v, *layer)))


@partial(jax.jit, static_argnames="layer")
def error_rate(X: Patches, y: Array, A: Array, v: Array, layer: Layer) -> Float[Array, ""]:
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
    y, probability), by automatic differentiation: A, which Lemma 4.1 says stays three-valued, and
    alpha, before every step and after the last."""
    signals, y, probability = images
    free = 1 - jnp.eye(A.shape[0])

    def population_loss(at: tuple[Array, Array]) -> Array:
        F = output(signals[..., None], at[0], at[1][None], *layer)
        return probability @ jnp.logaddexp(0.0, -y * F)

    def step(at: tuple[Array, Array], _: Array) -> tuple[Array, Array]:
        grad_A, grad_alpha = jax.grad(population_loss)(at)
        return at[0] - eta_a * free * grad_A, at[1] - eta_v * grad_alpha

    start = A, jnp.asarray(alpha, float)
    return descend(step, lambda at, _: at, start, jnp.arange(steps + 1))[1]


@partial(jax.jit, static_argnames="layer")
def transfer_descent(
    X: Patches, y: Array, A: Array, v: Float[Array, " dim"], layer: Layer, eta_v: float, steps: int
) -> Float[Array, " dim"]:
    """v after `steps` of full-batch descent with A frozen; the patches D S X are mixed once."""
    mixed = A.shape[0] * jnp.einsum("ij,njd->nid", scores(A, layer.temperature), X)

    def step(v: Array, _: Array) -> Array:
        z = mixed @ v
        F = jnp.sum(models.activation(z, layer.degree, layer.slope), axis=-1)
        weight = -y * jax.nn.sigmoid(-y * F) / X.shape[0]
        pull = weight[:, None] * models.activation_derivative(z, layer.degree, layer.slope)
        return v - eta_v * jnp.einsum("ni,nid->d", pull, mixed)

    return descend(step, lambda *_: None, v, jnp.asarray([steps]))[0]


def one_normalised_step(X: Patches, y: Array) -> Float[Array, " dim"]:
    """v = g/|g| with g = mean of y sum_j X_j: one normalised step from v = 0 when the columns of S
    sum to one (proof of Theorem 5.1); for a general A, see `gradient_at_zero`."""
    g = jnp.mean(y[:, None] * jnp.sum(X, axis=1), axis=0)
    return g / jnp.linalg.norm(g)


def gradient_at_zero(X: Patches, y: Array, A: Array, layer: Layer) -> Float[Array, " dim"]:
    """-dL/dv at v = 0, (nu D / 2) mean of y sum_j (column sum j of S) X_j. Status: exact."""
    columns = jnp.sum(scores(A, layer.temperature), axis=0)
    mean = jnp.mean(y[:, None] * jnp.einsum("j,njd->nd", columns, X), axis=0)
    return layer.slope * A.shape[0] / 2 * mean
