"""Descent of the layer: on the population in three scalars (the idealised problem, the exact map),
in all entries on a sample (the realistic problem) or on the listed population, and transfer, where
the attention of an earlier task is kept (section 5).

The paper moves v and A with one step size. Then alpha settles at once and gamma needs ten million
steps, so v and A have step sizes of their own here; the paper's choice is `eta_a = eta_v`. `eta_a`
is per entry of A: the shared scalar gamma moves by eta_a times the gradient of ONE entry, as it
does when all entries of A are trained.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Key

from saccade.arrays import Array, floats, namespace
from saccade.descent import LARGEST, descend, watch, watched
from saccade.errors import Diverged, require
from saccade.studies.spatial import models
from saccade.studies.spatial.models import output, scores
from saccade.studies.spatial.theory import population as exact
from saccade.studies.spatial.theory.population import Scalars, Setting, loss, step_sizes
from saccade.studies.spatial.theory.states import States, thinned

MOST_STATE_STEPS = 60_000_000
Patches = Float[Array, "samples patches dim"]


def refuse_divergence(diverged_at: Any, eta_v: Any, eta_a: Any) -> None:
    """`Diverged`, with the step, if a watched descent left the numbers that training can have."""
    if int(diverged_at) >= 0:
        raise Diverged(
            f"eta_v = {eta_v!r}, eta_a = {eta_a!r}: a parameter is above {LARGEST:g} in size, or"
            f" not finite, at step {int(diverged_at)}; try a smaller eta_v.")


class Path(NamedTuple):
    """The scalars and the loss after each number of steps asked for, and the states used."""

    scalars: Scalars
    loss: Float[Array, " stops"]
    states: States


def states_for(setting: Setting, steps: int) -> States:
    """The population's states, thinned when they times the steps would take too long."""
    return thinned(setting.states(), max(500, MOST_STATE_STEPS // max(steps, 1)))


def few_states(setting: Setting, most: int) -> States:
    """About `most` states at most, thinned while they are listed: quick, and exact if they fit."""
    exact.check_setting(setting)
    return thinned(setting.states(most=max(4 * most, 20_000)), most)


def idealised_descent(
    start: Scalars, setting: Setting, eta_v: float, eta_a: float, stops: Any,
    states: States | None = None,
) -> Path:
    """Gradient descent on the population loss: alpha -= eta_v dl/dalpha, gamma -= eta_a dl/dA_same,
    rho -= eta_a dl/dA_other, seen after each number of steps in the ascending `stops`.

    Status: exact while the states are not thinned. Raises `Diverged`, with the step.
    """
    exact.check_setting(setting)
    require(stops[-1] >= 1, "steps", int(stops[-1]), "must be at least 1")
    used = states_for(setting, int(stops[-1])) if states is None else states
    number = len(stops)
    scalars, losses, diverged_at = population_descent(
        Scalars(*floats(*start)), Scalars(*floats(*step_sizes(setting, eta_v, eta_a))),
        *_padded(used), setting._replace(degree=0), setting.degree,
        np.pad(stops, (0, _room(number, 8) - number), "edge"))
    refuse_divergence(diverged_at, eta_v, eta_a)
    along = Scalars(*(np.asarray(values)[:number] for values in scalars))
    return Path(along, np.asarray(losses)[:number], used)


def _room(number: int, least: int) -> int:
    """The next power of two, at least `least`: runs of about one size share a compiled program."""
    return max(least, 2 ** int(np.ceil(np.log2(number))))


def _padded(states: States) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and probabilities, with states of probability zero up to a round number: to the
    next eighth of a power of two, so that little is computed in vain."""
    number = len(states.probability)
    grain = max(8, _room(number, 1) // 8)
    more = (0, -number % grain)
    return np.pad(states.coefficients, ((0, 0), more)), np.pad(states.probability, more)


@partial(jax.jit, static_argnames="degree")
def population_descent(
    start: Scalars, rates: Scalars, coefficients: Array, probability: Array, setting: Setting,
    degree: int, stops: Array,
) -> tuple[Scalars, Array, Array]:
    """Scalars and losses at the stops, and the step at which descent diverged (-1: it did not).
    One program serves all settings of one degree and about as many states."""
    setting = setting._replace(degree=degree)

    def step(at: Scalars, _: Array) -> Scalars:
        gradient = jax.grad(loss)(at, setting, coefficients, probability)
        return jax.tree.map(lambda number, rate, pull: number - rate * pull, at, rates, gradient)

    def observe(now: Any, _: Array) -> tuple[Scalars, Array]:
        return now.state, loss(now.state, setting, coefficients, probability)

    end, (scalars, losses) = descend(watched(step), observe, watch(start), stops)
    return scalars, losses, end.diverged_at


def errors_along(path: Path, setting: Setting) -> np.ndarray:
    """The error (ties 1/2) at every stop of a path."""
    coefficients, probability = path.states.coefficients, path.states.probability
    rows = [Scalars(*row) for row in zip(*path.scalars, strict=True)]
    F = (exact.outputs(row, setting, coefficients) for row in rows)
    return np.asarray([exact.error_of(values, probability) for values in F])


@partial(jax.jit, static_argnames="setting")
def descent_field(
    alpha: Float[Array, " alphas"], gamma: Float[Array, " gammas"], rho: Float[Array, " gammas"],
    rates: Scalars, coefficients: Array, probability: Array, setting: Setting,
) -> tuple[Array, Scalars]:
    """The loss and one step of descent on the grid alpha x gamma, with rho given for each gamma."""

    def one(at: tuple[Array, ...]) -> tuple[Array, Scalars]:
        value, gradient = jax.value_and_grad(loss)(Scalars(*at), setting, coefficients, probability)
        return value, jax.tree.map(lambda rate, pull: -rate * pull, rates, gradient)

    grid = jnp.broadcast_arrays(alpha[:, None], gamma, rho)
    flat = jax.lax.map(one, tuple(part.ravel() for part in grid))
    return jax.tree.map(lambda part: part.reshape(grid[0].shape), flat)


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
    key: Key[Array, ""] | np.random.Generator, patches: int, dim: int, diagonal: float,
    spread: float, dtype: Any = float,
) -> tuple[Array, Array]:
    """(A, v) with N(0, omega^2) entries and sigma_A on the diagonal (Parametrization 3.1)."""
    if isinstance(key, np.random.Generator):
        A, v = (spread * key.standard_normal(shape) for shape in ((patches, patches), dim))
        np.fill_diagonal(A, diagonal)
        return A.astype(dtype), v.astype(dtype)
    first, second = jax.random.split(key)
    A = spread * jax.random.normal(first, (patches, patches), dtype)
    v = spread * jax.random.normal(second, (dim,), dtype)
    return A.at[jnp.diag_indices(patches)].set(diagonal), v


def realistic_descent(
    X: Patches, y: Float[Array, " samples"], start: tuple[Array, Array], layer: Layer, eta_v: float,
    eta_a: float, steps: int, every: int = 30,
) -> Record:
    """Full-batch descent on v and the off-diagonal of A, in the precision of X; or `Diverged`."""
    stops = stops_of(steps, every)
    A, v, loss, diverged_at = sample_descent(X, y, start, layer, eta_v, eta_a, stops)
    refuse_divergence(diverged_at, eta_v, eta_a)
    return Record(stops, A, v, loss)


def stops_of(steps: int, every: int) -> np.ndarray:
    """0, `every`, 2 `every`, ..., `steps`."""
    divides = steps >= 1 and every >= 1 and steps % every == 0
    require(divides, "every", every, f"must divide steps = {steps}")
    return np.arange(0, steps + 1, every)


@partial(jax.jit, static_argnames="layer")
def sample_descent(
    X: Array, y: Array, start: tuple[Array, Array], layer: Layer, eta_v: float, eta_a: float,
    stops: Array,
) -> tuple[Array, Array, Array, Array]:
    """What `realistic_descent` records, and the step at which it diverged (-1: it did not)."""

    laid_out = models.columns(X)

    def step(state: tuple[Array, Array], _: Array) -> tuple[Array, Array]:
        _, _, grad_A, grad_v = models.gradients_by_columns(laid_out, y, *state, *layer)
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
    return jnp.mean(exact.mistakes(y * output(X, A, v, *layer)))


def cosine(v: Array, feature: Array) -> Float[Array, ""]:
    """Cosine between the value vector and the feature w*."""
    norm = namespace(v, feature).linalg.norm
    return v @ feature / (norm(v) * norm(feature))


@partial(jax.jit, static_argnames=("layer", "steps"))
def entrywise_descent(
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
    g = (y[:, None] * X.sum(axis=1)).mean(axis=0)
    return g / namespace(g).linalg.norm(g)


def gradient_at_zero(X: Patches, y: Array, A: Array, layer: Layer) -> Float[Array, " dim"]:
    """-dL/dv at v = 0, (nu D / 2) mean of y sum_j (column sum j of S) X_j. Status: exact."""
    columns = scores(A, layer.temperature).sum(axis=0)
    mean = (y[:, None] * namespace(columns, X).einsum("j,njd->nd", columns, X)).mean(axis=0)
    return layer.slope * A.shape[0] / 2 * mean
