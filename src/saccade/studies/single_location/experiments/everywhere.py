"""The manifold at random settings: fixed points of the descent map from a grid of starts, the
landscape of the risk, the map's Jacobian all over the square, the risk after every step, and where
a step of whole vectors leads."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray
from scipy import special

from saccade.arrays import generator
from saccade.lab.experiment import experiment
from saccade.studies.single_location import dynamics
from saccade.studies.single_location.dynamics import Setting
from saccade.studies.single_location.experiments.steps import Drawn, drawn_settings

Ends = tuple[float, float]
CORNERS_AND_ORIGIN = np.array([(0, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)], float)


def _drawn(key: Any, count: int, units: Ends, steepness: Ends) -> tuple[Drawn, dict[str, Any]]:
    """Random settings with a length from 2 to 100 each, and how a dataset tells of them."""
    rng = generator(key)
    drawn = drawn_settings(rng, count, units, steepness)
    length = np.exp(rng.uniform(np.log(2), np.log(100), (count, 1))).round()
    drawn = drawn._replace(setting=drawn.setting._replace(length=length))
    columns = (*drawn.setting[:4], drawn.size)
    table = np.concatenate([np.asarray(column, float) for column in columns], axis=1)
    return drawn, {"setting": (("setting", "name"), table)}


@jax.jit
def _newton(points: Any, setting: Setting, sizes: Any, slope: Any, steps: int) -> Any:
    """Where Newton's method, in steps of at most 0.5, leads from points (setting, start, 2) to
    zeros of the movement over its size, plus a push of `slope`; and what is left there."""

    def residual(point, one, size):
        after = jnp.stack(dynamics.manifold_step(point[0], point[1], one, size))
        return (after - point) / size + slope * (1 - point**2)

    def better(point, one, size):
        (a, b), (c, d) = jax.jacfwd(residual)(point, one, size)
        f, g = residual(point, one, size)
        move = jnp.stack([d * f - b * g, a * g - c * f]) / (a * d - b * c)
        move = jnp.where(jnp.isfinite(move), jnp.clip(move, -0.5, 0.5), 0.1)
        return jnp.clip(point - move, -1.05, 1.05)

    def everywhere(function):
        over_starts = jax.vmap(function, (0, None, None))
        each = Setting(0, 0, 0, 0, None)  # pyright: ignore[reportArgumentType]
        return jax.vmap(over_starts, (0, each, 0))

    improved = everywhere(better)
    ends = jax.lax.fori_loop(0, steps, lambda _, at: improved(at, setting, sizes), points)
    return ends, everywhere(residual)(ends, setting, sizes)


def _distinct(ends: np.ndarray, apart: float = 1e-5) -> np.ndarray:
    roots: list[np.ndarray] = []
    for end in ends:
        if all(np.max(np.abs(end - root)) > apart for root in roots):
            roots.append(end)
    return np.array(roots).reshape(-1, 2)


@experiment("single-location.manifold-roots")
def manifold_roots(
    key: Any, *, settings: int = 12, starts: int = 21, steps: int = 60,
    units: tuple[float, float] = (0.1, 1.8), slope: float = 0.0,
) -> xarray.Dataset:
    """Fixed points of the two-overlap map met from a grid of starts, at random settings where erf
    is not saturated: how many, and how far the corners and the origin are from the nearest of them
    (`slope` spoils the map)."""
    drawn, data = _drawn(key, settings, units, (0.3, 2.5))
    grid = np.linspace(-0.99, 1, starts)
    points = np.stack(np.meshgrid(grid, grid), -1).reshape(-1, 2)
    at = Setting(*(np.ravel(x) for x in drawn.setting[:4]))
    ends, left = (
        np.asarray(x)
        for x in _newton(
            np.broadcast_to(points, (settings, *points.shape)), at, drawn.size[:, 0], slope, steps))
    arrived = (np.abs(left).max(-1) < 1e-10) & np.all(np.abs(ends) <= 1 + 1e-9, axis=-1)
    roots = [_distinct(some[ok]) for some, ok in zip(ends, arrived, strict=True)]
    away = [
        np.linalg.norm(one[:, None] - CORNERS_AND_ORIGIN, axis=-1).min(0, initial=9.0).max()
        for one in roots]
    return xarray.Dataset(
        data
        | {
            "roots": ("setting", np.array([len(one) for one in roots])),
            "distance": ("setting", np.array(away))})


@experiment("single-location.manifold-landscapes")
def manifold_landscapes(
    key: Any, *, settings: int = 12, points: int = 41, nodes: int = 80, even: bool = False
) -> xarray.Dataset:
    """Risk on the manifold over a grid of the square at random settings where erf is not saturated,
    by Gauss-Hermite (`even`: of weights |erf|, which do not see the sign of a score)."""
    drawn, data = _drawn(key, settings, (1.0, 1.0), (0.3, 3.0))
    grid, (z, weights) = np.linspace(-1, 1, points), np.polynomial.hermite_e.hermegauss(nodes)
    weights = weights / weights.sum()
    dim, length, lam, gamma = (np.asarray(x)[:, 0, None, None] for x in drawn.setting[:4])
    gate = special.erf(lam * (np.sqrt(dim / 2) * grid[:, None] + gamma * z))
    gate = np.abs(gate) if even else gate
    own = 1 - 2 * grid * (gate @ weights)[..., None] + (gate**2 @ weights)[..., None]
    others = (length - 1) * (special.erf(lam * z) ** 2 @ weights)[..., None]
    return xarray.Dataset(
        data | {"risk": (("setting", "kappa", "nu"), gamma**2 * own + others)},
        {"kappa": grid, "nu": grid})


@jax.jit
def _jacobians(points: Any, setting: Setting, sizes: Any) -> Any:
    """Derivatives of the two-overlap map at points (point, 2), setting by setting."""

    def move(point, one, size):
        return jnp.stack(dynamics.manifold_step(point[0], point[1], one, size))

    each = Setting(0, 0, 0, 0, None)  # pyright: ignore[reportArgumentType]
    over_points = jax.vmap(jax.jacfwd(move), (0, None, None))
    return jax.vmap(over_points, (None, each, 0))(points, setting, sizes)


@experiment("single-location.injectivity")
def injectivity(
    key: Any, *, settings: int = 12, points: int = 101, units: tuple[float, float] = (0.02, 0.2)
) -> xarray.Dataset:
    """Determinants of the two-overlap map's Jacobian J and norms of J - I over a grid of the
    square, at random settings: the least and the largest of each."""
    drawn, data = _drawn(key, settings, units, (0.3, 15.0))
    # The ends are left out by a hair: the map's square root is not differentiable there.
    grid = np.linspace(-1 + 1e-9, 1 - 1e-9, points)
    places = np.stack(np.meshgrid(grid, grid, indexing="ij"), -1).reshape(-1, 2)
    at = Setting(*(np.ravel(x) for x in drawn.setting[:4]))
    jacobian = np.asarray(_jacobians(places, at, drawn.size[:, 0]))
    shift = np.linalg.norm(jacobian - np.eye(2), 2, (-2, -1))
    return xarray.Dataset(
        data
        | {
            "determinant": ("setting", np.linalg.det(jacobian).min(1)),
            "shift": ("setting", shift.max(1))})


@experiment("single-location.every-step")
def every_step(
    key: Any, *, settings: int = 24, starts: int = 16, steps: int = 500,
    units: tuple[float, float] = (0.05, 1.9),
) -> xarray.Dataset:
    """The risk before and after every step of descent on the manifold from uniform starts in the
    square, at random settings."""
    drawn, data = _drawn(key, settings, units, (0.3, 15.0))
    kappa, nu = generator(jax.random.fold_in(key, 1)).uniform(-1, 1, (2, settings, starts))
    run = dynamics.manifold_trajectory(
        kappa, nu, drawn.setting, drawn.size, steps, np.arange(steps + 1).tolist())
    return xarray.Dataset(data | {"risk": (("setting", "start", "step"), run.risk)})


@jax.jit
def _one_step(k: Any, v: Any, setting: Setting, sizes: Any, lean: Any) -> Any:
    """The overlaps with the first two axes after a step of vectors (setting, state, coordinate), by
    automatic differentiation; k* and v* are these axes, but for what v* leans on k*."""
    first, second = jnp.eye(k.shape[-1])[:2]
    v_star = lean * first + jnp.sqrt(1 - lean**2) * second
    after = dynamics.full_step(k, v, first, v_star, setting, sizes[..., None])
    return dynamics.overlaps_of(*after, first, second)


@experiment("single-location.off-the-manifold")
def off_the_manifold(
    key: Any, *, settings: int = 24, states: int = 64, coordinates: int = 12,
    units: tuple[float, float] = (0.05, 1.9), tilt: float = 0.0, lean: float = 0.0,
) -> xarray.Dataset:
    """Overlaps after a step of whole vectors at random settings, from states on the manifold that
    are uniform in the square; k and v have random parts beside k* and v*, orthogonal to each other
    (twelve coordinates hold whatever four vectors span). `tilt` is added at random to both; in the
    step v* may `lean` on k*."""
    drawn, data = _drawn(key, settings, units, (0.3, 15.0))
    random = generator(jax.random.fold_in(key, 1))
    across = random.uniform(-1, 1, (2, settings, states, 1))
    beside = random.standard_normal((settings, states, coordinates - 2, 2))
    beside = np.moveaxis(np.linalg.qr(beside)[0], -1, 0)
    pair = np.concatenate([np.zeros((2, settings, states, 2)), np.sqrt(1 - across**2) * beside], -1)
    pair[0, ..., 0], pair[1, ..., 1] = across[..., 0]
    pair = dynamics.normalised(pair + tilt * random.standard_normal(pair.shape))
    after, axes = _one_step(*pair, drawn.setting, drawn.size, lean), ("setting", "state")
    moved = np.max(np.abs(np.stack(after[:2]) - np.stack([pair[0, ..., 0], pair[1, ..., 1]])), 0)
    return xarray.Dataset(
        data | {name: (axes, np.asarray(x)) for name, x in after._asdict().items()}
        | {"moved": (axes, moved)})
