"""Direct sums over the scores of two or three tokens: no Laplace transform, no moments and no
derivative written by hand, and so the check of all three."""

from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import xarray
from jax.scipy.special import erf

import saccade.precision  # noqa: F401  float64 before the first array
from saccade.descent import descend
from saccade.lab.experiment import experiment
from saccade.studies.softmax_location.dynamics import Overlaps, generator

Weights = Literal["softmax", "erf"]
NODES = 20


def _unit(random: np.random.Generator, count: int, dim: int, lean: float = 1.0) -> np.ndarray:
    """Pairs (k, v) of unit vectors that lean on the truth, the first two axes."""
    pairs = random.standard_normal((count, 2, dim))
    pairs[:, 0, 0] += lean
    pairs[:, 1, 1] += lean
    return pairs / np.linalg.norm(pairs, axis=-1, keepdims=True)


def overlaps_of(pairs: Any, k_star: Any, v_star: Any) -> Overlaps:
    k, v = pairs[..., 0, :], pairs[..., 1, :]
    return Overlaps(k @ k_star, v @ v_star, v @ k_star, k @ v_star, (k * v).sum(-1))


@experiment("softmax-location.two-tokens")
def two_tokens(
    key: Any, *, sets: int = 12, nodes: int = 241, reach: float = 9.5, swap_spreads: bool = False
) -> xarray.Dataset:
    """Risk of two tokens by brute force: a trapezoidal rule in both scores, three Gauss points in
    each of the three numbers that are left (the two values and the target)."""
    random = np.random.default_rng(5)
    settings = np.stack(
        [
            random.choice([4, 10, 40], sets), np.full(sets, 2.0),
            np.exp(random.uniform(-2, 1.2, sets)), random.uniform(0.4, 1.4, sets),
            random.choice([0.0, 0.2], sets)],
        -1)
    at = overlaps_of(_unit(random, sets, 6), np.eye(6)[0], np.eye(6)[1])
    rows = [
        _brute(setting, Overlaps(*(x[i] for x in at)), nodes, reach, swap_spreads)
        for i, setting in enumerate(settings)]
    return xarray.Dataset(
        {
            "risk": ("set", np.array(rows)), "setting": (("set", "number"), settings),
            "overlap": (("set", "name"), np.stack(at, -1))},
        {"name": list(Overlaps._fields)})


def _brute(setting: np.ndarray, at: Overlaps, nodes: int, reach: float, swap: bool) -> float:
    dim, _, lam, gamma, noise = setting
    grid = np.linspace(-reach, reach, nodes)
    weights = np.exp(-(grid**2) / 2) * (grid[1] - grid[0]) / np.sqrt(2 * np.pi)
    x, h = grid[:, None], grid[None, :]
    shift = np.sqrt(dim / 2)
    p = 1 / (1 + np.exp(np.clip(lam * (h - shift * at.kappa - gamma * x), -700, 700)))
    rest, spread = np.sqrt(max(1 - at.rho**2, 0.0)), 1.0 if swap else gamma
    across = (at.nu - at.eta * at.rho) / rest
    points, chance = np.array([-np.sqrt(3), 0, np.sqrt(3)]), np.array([1, 4, 1]) / 6
    total = 0.0
    for one, a in zip(points, chance, strict=True):
        for two, b in zip(points, chance, strict=True):
            for three, c in zip(points, chance, strict=True):
                u_1 = shift * at.theta + gamma * at.rho * x + spread * rest * one
                u_2 = at.rho * h + rest * two
                free = np.sqrt(max(1 - at.eta**2 - across**2, 0.0))
                y = gamma * (at.eta * x + across * one + free * three)
                total += a * b * c * (weights @ (p * u_1 + (1 - p) * u_2 - y) ** 2 @ weights)
    return float(total + noise**2)


def _risk(at: Overlaps, numbers: Any, weigh: Weights) -> Any:
    """Mean over the scores of three tokens of the conditional mean square: given the scores all
    else is Gaussian, with means and variances read off the data model."""
    dim, lam, gamma = numbers
    z, chance = np.polynomial.hermite_e.hermegauss(NODES)
    chance = chance / chance.sum()
    x, h = z[:, None, None], (z[None, :, None], z[None, None, :])
    shift = jnp.sqrt(dim / 2)
    scores = jnp.stack(jnp.broadcast_arrays(shift * at.kappa + gamma * x, *h))
    p = jax.nn.softmax(lam * scores, axis=0) if weigh == "softmax" else erf(lam * scores)
    mean = p[0] * (shift * at.theta + at.rho * gamma * x) + at.rho * (p[1] * h[0] + p[2] * h[1])
    gap = mean - at.eta * gamma * x
    spread = (
        (1 - at.rho**2) * (gamma**2 * p[0] ** 2 + p[1] ** 2 + p[2] ** 2)
        - 2 * p[0] * gamma**2 * (at.nu - at.eta * at.rho) + gamma**2 * (1 - at.eta**2))
    return jnp.einsum("abc,a,b,c->", gap**2 + spread, chance, chance, chance)


@partial(jax.jit, static_argnames="weigh")
def _three(pairs: Any, numbers: Any, step_size: Any, late: Any, stops: Any, weigh: Weights) -> Any:
    """Risk and its five slopes at the starts, and descent of whole vectors from there, by automatic
    differentiation. With `late` the step of k sees the new v."""
    axes = jnp.eye(pairs.shape[-1])

    def total(pairs: Any) -> Any:
        at = overlaps_of(pairs, axes[0], axes[1])
        return jnp.sum(jax.vmap(lambda one: _risk(one, numbers, weigh))(at))

    def moved(pairs: Any, gradient: Any) -> Any:
        after = pairs - step_size * (
            gradient - jnp.sum(pairs * gradient, axis=-1, keepdims=True) * pairs)
        return after / jnp.linalg.norm(after, axis=-1, keepdims=True)

    def step(pairs: Any, t: Any) -> Any:
        both = moved(pairs, jax.grad(total)(pairs))
        seen = pairs.at[:, 1].set(both[:, 1])
        alone = jax.lax.cond(late, lambda: moved(seen, jax.grad(total)(seen)), lambda: both)
        return both.at[:, 0].set(alone[:, 0])

    at = overlaps_of(pairs, axes[0], axes[1])
    value = jax.vmap(jax.value_and_grad(lambda one: _risk(one, numbers, weigh)))(at)
    path = descend(step, lambda p, stop: overlaps_of(p, axes[0], axes[1]), pairs, stops)[1]
    return value, path


STOPS = (1, 30, 100, 300)


@experiment("softmax-location.three-tokens")
def three_tokens(
    key: Any, *, dim: int = 8, inverse_temperature: float = 0.7, gamma: float = 0.8,
    step_size: float = 0.03, steps: int = 300, starts: int = 4, on_manifold: bool = False,
    nu: float = 1.0, late: bool = False, weights: Weights = "softmax",
) -> xarray.Dataset:
    """Three tokens: risk, slopes and full-dimensional descent, by sums over the scores. On the
    manifold the starts go up in kappa at one nu."""
    pairs = _unit(generator(key), starts, dim)
    if on_manifold:
        kappa = np.linspace(-0.9, 0.9, starts)
        pairs = np.zeros((starts, 2, dim))
        pairs[:, 0, 0], pairs[:, 0, 2] = kappa, np.sqrt(1 - kappa**2)
        pairs[:, 1, 1], pairs[:, 1, 3] = nu, np.sqrt(1 - nu**2)
    numbers = np.array([dim, inverse_temperature, gamma])
    stops = np.minimum(STOPS, steps)
    (risk, slope), path = _three(pairs, numbers, step_size, late, stops, weights)
    at = overlaps_of(pairs, np.eye(dim)[0], np.eye(dim)[1])
    names = list(Overlaps._fields)
    return xarray.Dataset(
        {
            "risk": ("start", np.asarray(risk)), "overlap": (("start", "name"), np.stack(at, -1)),
            "slope": (("start", "name"), np.stack(slope, -1)),
            "path": (("stop", "start", "name"), np.stack(path, -1))},
        {"name": names, "stop": np.asarray(stops)})


@jax.jit
def _free(K: Any, v: Any, numbers: Any, step_size: Any, pull: Any, stops: Any) -> Any:
    """Descent of a key K of any length (lambda = |K|) and of a unit vector v, by automatic
    differentiation; `pull` multiplies what the gradient by K has along K."""
    axes = jnp.eye(K.shape[-1])

    def split(K: Any) -> tuple[Any, Any]:
        lam = jnp.linalg.norm(K, axis=-1)
        return lam, K / lam[:, None]

    def risks(K: Any, v: Any) -> Any:
        lam, k = split(K)
        at = overlaps_of(jnp.stack([k, v], axis=1), axes[0], axes[1])
        return jax.vmap(lambda one, lam: _risk(one, (numbers[0], lam, numbers[1]), "softmax"))(
            at, lam)

    def step(state: Any, t: Any) -> Any:
        K, v = state
        by_K, by_v = jax.grad(lambda K, v: jnp.sum(risks(K, v)), argnums=(0, 1))(K, v)
        k = split(K)[1]
        by_K = by_K + (pull - 1) * jnp.sum(by_K * k, axis=-1, keepdims=True) * k
        after = v - step_size * (by_v - jnp.sum(v * by_v, axis=-1, keepdims=True) * v)
        return K - step_size * by_K, after / jnp.linalg.norm(after, axis=-1, keepdims=True)

    def observe(state: Any, stop: Any) -> Any:
        lam, k = split(state[0])
        at = overlaps_of(jnp.stack([k, state[1]], axis=1), axes[0], axes[1])
        return jnp.stack([*at, lam, risks(*state)])

    return descend(step, observe, (K, v), stops)[1]


@experiment("softmax-location.free-key")
def free_key(
    key: Any, *, dim: int = 8, inverse_temperature: float = 0.6, gamma: float = 0.8,
    step_size: float = 0.03, starts: int = 3, pull: float = 1.0,
    stops: tuple[int, ...] = (1, 20, 60),
) -> xarray.Dataset:
    """Three tokens: descent of whole vectors with a key free in length, by sums over the scores;
    overlaps, lambda and risk at the stops."""
    pairs = _unit(generator(key), starts, dim)
    first = overlaps_of(pairs, np.eye(dim)[0], np.eye(dim)[1])
    path = _free(
        inverse_temperature * pairs[:, 0], pairs[:, 1], np.array([dim, gamma]), step_size, pull,
        np.array(stops))
    return xarray.Dataset(
        {
            "path": (("stop", "name", "start"), np.asarray(path)),
            "first": (("overlap", "start"), np.stack(first))},
        {"stop": list(stops)})
