"""Stochastic descent followed exactly in law by five numbers.

A step uses gradients that are sums of tokens, g_k = sum c_i X_i and g_v = sum c'_i X_i, whose
coefficients depend on the tokens only through a few coordinates: on k and v for every token, on k*
and v* for the informative one. Those are drawn. In every other direction the pair (g_k, g_v) is
Gaussian given the coefficients, and what happens outside span(k, v, k*, v*) is seen only through a
2x2 Gram matrix, which is Wishart with d - 4 degrees of freedom. Status: exact in law (ours, not the
paper's). Its check draws every token in full: fresh batches in d dimensions, the predictor itself,
and automatic differentiation of its squared error.
"""

from collections import namedtuple
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import erf
from jaxtyping import ArrayLike, Float, Key

from saccade.arrays import Array
from saccade.errors import require
from saccade.studies.single_location.models import ErfAttention, SoftmaxAttention
from saccade.studies.single_location.task import SingleLocation
from saccade.studies.single_location.theory import Overlaps, Setting, as_arrays, risk

from .chance import TINY, square_root, wishart
from .full import Vectors, check_vectors, overlaps_of, sphere_step
from .recording import Numbers, Record, Trajectory, as_batch, check_run, follow, trajectory
from .reduced import into_domain

Coordinates = Float[Array, "4 *batch"]


class Frame(NamedTuple):
    """Coordinates in an orthonormal basis: k = (1, 0, 0, 0), v = (rho, r, 0, 0), then k*, v*."""

    k: Coordinates
    v: Coordinates
    k_star: Coordinates
    v_star: Coordinates


def frame(overlaps: Overlaps) -> Frame:
    """Gram-Schmidt on (k, v, k*, v*), from their overlaps; lengths are clipped at zero."""
    kappa, nu, theta, eta, rho = as_arrays(overlaps)
    zero = jnp.zeros_like(kappa)
    r = jnp.sqrt(jnp.maximum((1 - rho) * (1 + rho), 0.0))
    k_star_2, k_star_3 = _next_coordinate(theta - rho * kappa, r, 1 - kappa**2)
    v_star_2, room = _next_coordinate(nu - rho * eta, r, 1 - eta**2)
    v_star_3, v_star_4 = _next_coordinate(-kappa * eta - k_star_2 * v_star_2, k_star_3, room**2)
    return Frame(
        k=jnp.stack([zero + 1, zero, zero, zero]), v=jnp.stack([rho, r, zero, zero]),
        k_star=jnp.stack([kappa, k_star_2, k_star_3, zero]),
        v_star=jnp.stack([eta, v_star_2, v_star_3, v_star_4]))


def _next_coordinate(
    product: Numbers, length: Numbers, square_left: Numbers
) -> tuple[Numbers, Numbers]:
    """The coordinate product/length, at most the vector's length left, and the length left then."""
    left = jnp.sqrt(jnp.maximum(square_left, 0.0))
    coordinate = jnp.clip(product / jnp.maximum(length, TINY), -left, left)
    return coordinate, jnp.sqrt((left - coordinate) * (left + coordinate))


class _Draws(NamedTuple):
    """All normal numbers of one step; repetitions are the last axes, along which all is done.
    `across` is for the gradients' sums over uninformative tokens, in the frame's third and fourth
    direction, `outside` for the Wishart matrix."""

    others: Float[Array, "2 tokens samples *batch"]
    informative: Float[Array, "4 samples *batch"]
    noise: Float[Array, " samples *batch"]
    across: Float[Array, "2 2 *batch"]
    outside: Numbers


def _draw(key: Key[Array, ""], length: int, batch: int, shape: tuple[int, ...]) -> _Draws:
    """One call for all: each further call of the generator costs more than the numbers it gives.
    Drawn in single precision, which is cheaper: numbers are rounded by 1e-7, and those beyond five
    deviations and a third are missing, fewer than one in ten million."""
    shapes = ((2, length - 1, batch), (4, batch), (batch,), (2, 2), ())
    sizes = [int(np.prod(s)) for s in shapes]
    normals = jax.random.normal(key, (sum(sizes), *shape), jnp.float32).astype(float)
    pieces = jnp.split(normals, np.cumsum(sizes)[:-1])
    return _Draws(*(piece.reshape(*s, *shape) for piece, s in zip(pieces, shapes)))


# Gradients of the batch loss in the frame, and the root of the covariance outside it.
_Gradients = namedtuple("_Gradients", "of_k of_v outside")


def _gradients(draws: _Draws, at: Frame, setting: Setting, batch: int) -> _Gradients:
    """Differentiate the mean squared error of a batch by hand: c = (2/B) r lambda erf'(lambda X.k)
    X.v, c' = (2/B) r erf(lambda X.k), r the residual."""
    dim, _, lam, gamma, noise = as_arrays(setting)
    rho, r = at.v[0], at.v[1]
    token = (jnp.sqrt(dim / 2) * at.k_star)[:, None] + gamma * draws.informative
    along_k = jnp.concatenate([token[:1], draws.others[0]])
    along_2 = jnp.concatenate([token[1:2], draws.others[1]])
    value = rho * along_k + r * along_2
    gate, rise = erf(lam * along_k), 2 / jnp.sqrt(jnp.pi) * jnp.exp(-((lam * along_k) ** 2))
    target = jnp.sum(token * at.v_star[:, None], axis=0) + noise * draws.noise
    pull = 2 / batch * (jnp.sum(gate * value, axis=0) - target)
    c_k, c_v = pull * lam * rise * value, pull * gate

    own = [jnp.sum(a[0] * b[0], axis=0) for a, b in ((c_k, c_k), (c_v, c_v), (c_k, c_v))]
    others = [jnp.sum(a[1:] * b[1:], axis=(0, 1)) for a, b in ((c_k, c_k), (c_v, c_v), (c_k, c_v))]
    across = square_root(*others)
    third_and_fourth = (
        across.a * draws.across[0], across.b * draws.across[0] + across.c * draws.across[1])

    def total(c, sums):
        felt = jnp.stack([jnp.sum(c * along_k, axis=(0, 1)), jnp.sum(c * along_2, axis=(0, 1))])
        return jnp.concatenate([felt, sums + jnp.sum(c[0] * token[2:], axis=1)])

    outside = square_root(*(gamma**2 * a + b for a, b in zip(own, others)))
    return _Gradients(total(c_k, third_and_fourth[0]), total(c_v, third_and_fourth[1]), outside)


def _step(
    overlaps: Overlaps, draws: _Draws, key, setting: Setting, step_size: Numbers, batch: int
) -> Overlaps:
    """One stochastic projected step, in law."""
    at = frame(overlaps)
    gradients = _gradients(draws, at, setting, batch)
    degrees = jnp.asarray(setting.dim) - 4
    k_outside, v_outside, product_outside = wishart(key, gradients.outside, draws.outside, degrees)
    k = at.k - step_size * (gradients.of_k - _dot(gradients.of_k, at.k) * at.k)
    v = at.v - step_size * (gradients.of_v - _dot(gradients.of_v, at.v) * at.v)
    k_shrink = jax.lax.rsqrt(_dot(k, k) + step_size**2 * k_outside)
    v_shrink = jax.lax.rsqrt(_dot(v, v) + step_size**2 * v_outside)
    return into_domain(Overlaps(
        kappa=_dot(k, at.k_star) * k_shrink, nu=_dot(v, at.v_star) * v_shrink,
        theta=_dot(v, at.k_star) * v_shrink, eta=_dot(k, at.v_star) * k_shrink,
        rho=(_dot(k, v) + step_size**2 * product_outside) * k_shrink * v_shrink))


def _dot(x: Coordinates, y: Coordinates) -> Numbers:
    return jnp.sum(x * y, axis=0)


def stochastic_trajectory_in_law(
    key: Key[Array, ""], overlaps: Overlaps, setting: Setting, step_size: ArrayLike, steps: int,
    batch: int, record: Record = None, decay: ArrayLike = 0.0,
) -> Trajectory:
    """Stochastic descent with `batch` fresh samples a step, squared error, lambda_t = lambda/(1 +
    decay t); the recorded risk is that of the population. Exact in law for d >= 4, at a cost free
    of d."""
    numbers = as_batch(overlaps, setting, step_size, decay)
    _check(setting, batch, least_dim=4)
    length = int(np.asarray(setting.length))
    return trajectory(lambda stops: _run_in_law(key, *numbers, stops, length, batch), steps, record)


def _check(setting: Setting, batch: int, least_dim: int = 2) -> None:
    """`InvalidInput` for what no stochastic run can have."""
    require(batch >= 1, "batch", batch, "must be at least 1")
    require(np.ndim(setting.length) == 0, "length", setting.length, "must be one number")
    large = bool(np.all(np.asarray(setting.dim) >= least_dim))
    require(large, "dim", setting.dim, f"must be at least {least_dim}")


@partial(jax.jit, static_argnames=("length", "batch"))
def _run_in_law(key, overlaps, setting, step_size, decay, stops, length: int, batch: int):
    """The loop carries the next step's normals, or each use of them would draw them anew."""

    def keys(t):
        return jax.random.split(jax.random.fold_in(key, t))

    def draw(t):
        return _draw(keys(t)[0], length, batch, overlaps.kappa.shape)

    def step(state, t, setting):
        here, draws = state
        return _step(here, draws, keys(t)[1], setting, step_size, batch), draw(t + 1)

    return follow(step, lambda state: state[0], (overlaps, draw(0)), setting, decay, stops)


def stochastic_trajectory_brute(
    key: Key[Array, ""], k0: Vectors, v0: Vectors, k_star: Vectors, v_star: Vectors,
    setting: Setting, step_size: float, steps: int, batch: int, record: Record = None,
    decay: float = 0.0, activation: str = "erf",
) -> Trajectory:
    """As `stochastic_trajectory_in_law`, from k0 and v0 (repetitions, dim), drawing every token.
    With the `activation` softmax there is no closed form here, and the risk is NaN."""
    check_run(setting, step_size, decay)
    _check(setting, batch)
    k0, v0, k_star, v_star = check_vectors(k0, v0, k_star, v_star, setting)
    uniform = jnp.full(int(setting.length), 1 / setting.length)
    task = SingleLocation(
        int(setting.dim), int(setting.length), setting.gamma, setting.noise, uniform, k_star, v_star
    )
    numbers = as_arrays(setting), step_size, decay
    return trajectory(
        lambda stops: _run_brute(key, k0, v0, task, *numbers, stops, batch, activation), steps,
        record)


PREDICTORS = {"erf": ErfAttention, "softmax": SoftmaxAttention}


def _unknown_risk(here, setting):
    return jnp.full_like(here.kappa, jnp.nan)


@partial(jax.jit, static_argnames=("batch", "activation"))
def _run_brute(key, k0, v0, task, setting, step_size, decay, stops, batch: int, activation: str):
    def batch_loss(k, v, sample, inverse_temperature):
        predict = PREDICTORS[activation](k, v, inverse_temperature)
        return jnp.mean((predict(sample.X) - sample.y) ** 2)

    gradients = jax.vmap(jax.grad(batch_loss, argnums=(0, 1)), in_axes=(0, 0, 0, None))

    def step(state, t, setting):
        keys = jax.random.split(jax.random.fold_in(key, t), len(k0))
        samples = jax.vmap(lambda key: task.sample(key, batch))(keys)
        moves = gradients(*state, samples, setting.inverse_temperature)
        return tuple(sphere_step(x, move, step_size) for x, move in zip(state, moves))

    return follow(
        step, lambda state: overlaps_of(state[0], state[1], task.k_star, task.v_star), (k0, v0),
        setting, decay, stops, risk if activation == "erf" else _unknown_risk)
