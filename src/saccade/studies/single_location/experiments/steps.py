"""Descent on the manifold at random settings and from random starts: what recovers, where it
settles, and which starts do neither."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.arrays import generator
from saccade.lab.experiment import experiment
from saccade.studies.single_location import dynamics
from saccade.studies.single_location.dynamics import Setting
from saccade.studies.single_location.experiments.step_sizes import Case, local


@jax.jit
def _origin_rates(setting: Setting) -> Any:
    """Decay and growth rate of the two modes of the two-overlap map at the origin, by setting."""
    step = 1e-6

    def move(point, one):
        return jnp.stack(dynamics.manifold_step(point[0], point[1], one, step))

    each = Setting(0, None, 0, 0, None)  # pyright: ignore[reportArgumentType]
    jacobians = jax.vmap(jax.jacfwd(move), (None, each))(jnp.zeros(2), setting)
    return jnp.linalg.eigvalsh(jacobians - jnp.eye(2)) / step * jnp.array([-1.0, 1.0])


class Drawn(NamedTuple):
    """Random settings, one a row, with step sizes, and what each step multiplies the growing mode
    of the origin by, less 1."""

    setting: Setting
    size: np.ndarray
    growth: np.ndarray

    def row(self, number: int) -> Case:
        s = self.setting
        return Case(*(float(x[number, 0]) for x in (s.dim, s.inverse_temperature, s.gamma)))


def drawn_settings(
    rng: np.random.Generator, count: int, units: tuple[float, float], b: tuple[float, float]
) -> Drawn:
    """d from 20 to 1000, gamma from 0.5 to 1.2; lambda such that lambda sqrt(d/2)/sqrt(1 + 2
    lambda^2 gamma^2) lies in `b`, where lambda <= 1; step sizes in `units` of the inverse curvature
    at the origin. Even in their logarithms."""

    def even(low: float, high: float) -> np.ndarray:
        return np.exp(rng.uniform(np.log(low), np.log(high), count))

    dim, gamma, steepness, unit = even(20, 1000).round(), even(0.5, 1.2), even(*b), even(*units)
    steepness = np.minimum(steepness, np.sqrt(dim / 2 / (1 + 2 * gamma**2)))
    lam = steepness / np.sqrt(dim / 2 - 2 * (steepness * gamma) ** 2)
    decay, growth = np.asarray(_origin_rates(Setting(dim, 10.0, lam, gamma, 0.0))).T
    size = unit / decay
    columns = (x[:, None] for x in (dim, np.full(count, 10.0), lam, gamma))
    return Drawn(Setting(*columns), size[:, None], size * growth)


@experiment("single-location.almost-every-start")
def almost_every_start(
    key: Any, *, settings: int = 36, at_once: int = 6, starts: int = 300,
    units: tuple[float, float] = (0.2, 1.8), growth: float = 18.0, spread: float = 1.0,
) -> xarray.Dataset:
    """Random starts on the manifold at random settings and step sizes, in as many steps as let the
    growing mode of the origin grow e^`growth`-fold: where they are then, how often the risk rose
    between 64 looks, and the risk at the origin. `spread` multiplies the starts."""
    drawn = drawn_settings(generator(key), settings, units, (0.3, 15.0))
    keys, parts = jax.random.split(key, settings), []
    for some in np.split(np.argsort(drawn.growth), settings // at_once):
        first = [
            dynamics.manifold_overlaps(keys[i], int(drawn.setting.dim[i, 0]), starts) for i in some]
        # the last start of every setting is the origin: it stays there and tells its risk
        kappa, nu = (
            np.pad(spread * np.stack([getattr(one, name) for one in first]), ((0, 0), (0, 1)))
            for name in ("kappa", "nu"))
        steps = max(1, int(np.ceil(growth / np.log1p(drawn.growth[some].min()))))
        run = dynamics.manifold_trajectory(
            kappa, nu, Setting(*(np.asarray(x)[some] if np.ndim(x) else x for x in drawn.setting)),
            drawn.size[some], steps, np.linspace(1, steps, 64).astype(int).tolist())
        rises = (np.diff(run.risk[:, :-1], axis=2) > 1e-14).sum(2)
        below = run.risk[:, :-1, -1] - run.risk[:, -1:, -1]
        parts.append(np.stack([run.final.kappa[:, :-1], run.final.nu[:, :-1], below, rises]))
    kappa, nu, below, rises = np.concatenate(parts, axis=1)
    axes = ("setting", "start")
    return xarray.Dataset({
        "kappa": (axes, kappa), "nu": (axes, nu), "below_origin": (axes, below),
        "rises": (axes, rises)})


@experiment("single-location.settling")
def settling(
    key: Any, *, cases: int = 6, starts: int = 300, units: float = 1.8, steps: int = 3000
) -> xarray.Dataset:
    """Descent with the largest steps (`units` of the inverse curvature at the origin) from uniform
    starts in the square and from its centre and corners: the last movement, what is left of (14)
    (slopes times room, from the definition), and the distance to the nearest of the five fixed
    points."""
    rng = generator(key)
    drawn = drawn_settings(rng, cases, (units, units), (0.4, 1.6))
    fixed = np.array([(0, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)], float)
    first = np.concatenate(
        [rng.uniform(-1, 1, (cases, starts, 2)), np.tile(fixed, (cases, 1, 1))], 1)
    run = dynamics.manifold_trajectory(
        first[..., 0], first[..., 1], drawn.setting, drawn.size, steps, [steps - 1, steps])
    ends = np.stack(run.overlaps[:2], -1)  # (case, start, stop, overlap)
    left = [local(one[:, 1, 0], one[:, 1, 1], drawn.row(i)) for i, one in enumerate(ends)]
    slopes = np.stack([np.stack([one.in_kappa, one.in_nu], -1) for one in left])
    last = ends[:, :, 1]
    axes = ("case", "start")
    return xarray.Dataset({
        "moved": (axes, np.abs(ends[:, :, 1] - ends[:, :, 0]).max(-1)),
        "left": (axes, np.abs(slopes * (1 - last**2)).max(-1)),
        "distance": (axes, np.linalg.norm(last[:, :, None] - fixed, axis=-1).min(-1))})


@experiment("single-location.arrival")
def arrival(
    key: Any, *, cases: int = 6, starts: int = 50, units: tuple[float, float] = (0.2, 0.6),
    steps: int = 40_000,
) -> xarray.Dataset:
    """Descent from uniform starts in the square, at random settings: the median distance to the
    nearer of (1, 1) and (-1, -1) at some 190 numbers of steps, close together early on."""
    rng = generator(key)
    drawn = drawn_settings(rng, cases, units, (0.4, 1.6))
    kappa, nu = rng.uniform(-1, 1, (2, cases, starts))
    stops = np.unique(np.geomspace(1, steps, 230).round().astype(int))
    run = dynamics.manifold_trajectory(kappa, nu, drawn.setting, drawn.size, steps, stops.tolist())
    ends = np.stack(run.overlaps[:2])  # (overlap, case, start, stop)
    away = np.minimum(*(np.linalg.norm(ends - end, axis=0) for end in (1.0, -1.0)))
    return xarray.Dataset(
        {
            "distance": (("case", "step"), np.median(away, axis=1)),
            "step_size": ("case", drawn.size[:, 0]),
            "setting": (("case", "name"), np.array([drawn.row(i) for i in range(cases)]))},
        {"step": stops})


@jax.jit
def _decided(kappa: Any, nu: Any, setting: Setting, sizes: Any, limit: Any) -> tuple[Any, Any]:
    """How many of `limit` steps pass until kappa and nu agree in sign and both exceed 0.1, and the
    sign (0: not yet)."""

    def advance(_, state):
        kappa, nu, times = state
        kappa, nu = dynamics.manifold_step(kappa, nu, setting, sizes)
        waiting = ~((kappa * nu > 0) & (jnp.minimum(jnp.abs(kappa), jnp.abs(nu)) > 0.1))
        return kappa, nu, times + waiting

    shape = jnp.broadcast_shapes(*(jnp.shape(x) for x in (kappa, nu, sizes)))
    start = (jnp.broadcast_to(kappa, shape), jnp.broadcast_to(nu, shape), jnp.zeros(shape, int))
    kappa, nu, times = jax.lax.fori_loop(0, limit, advance, start)
    return times, jnp.where(times < limit, jnp.sign(kappa), 0.0)


def _mixed(side: np.ndarray, stride: int) -> np.ndarray:
    """The share of boxes, `stride` points wide, whose corners do not all go to one end."""
    corners = side[:, ::stride, ::stride]
    four = np.stack(
        [corners[:, i : i - 1 or None, j : j - 1 or None] for i in (0, 1) for j in (0, 1)])
    return ((four != four[0]).any(0) | (four[0] == 0)).mean((1, 2))


@experiment("single-location.exceptional-set")
def exceptional_set(
    key: Any, *, cases: int = 3, points: int = 129, units: float = 0.4, limit: int = 500,
    decades: int = 8,
) -> xarray.Dataset:
    """The starts that do not recover: the share of boxes of a grid of the square that their set
    passes through, box width by box width; and how many steps pass until a start is decided that
    lies a power of ten from that set."""
    rng = generator(key)
    drawn = drawn_settings(rng, cases, (units, units), (0.4, 2.0))
    setting, sizes = drawn.setting, drawn.size
    lines = 2 * (np.arange(points) + rng.uniform(0, 1, (2, 1))) / points - 1
    kappa, nu = (x.ravel()[None] for x in np.meshgrid(*lines, indexing="ij"))
    side = np.asarray(_decided(kappa, nu, setting, sizes, limit)[1]).reshape(-1, points, points)
    strides = 2 ** np.arange(5)
    low, high, across = np.full((cases, 1), -1.0), np.full((cases, 1), 1.0), rng.uniform(0.3, 0.9)
    for _ in range(54):
        middle = (low + high) / 2
        up = np.asarray(_decided(across, middle, setting, sizes, limit)[1]) > 0
        low, high = np.where(up, low, middle), np.where(up, middle, high)
    away = 10.0 ** -np.arange(2, decades + 1)
    times = np.asarray(_decided(across, high + away, setting, sizes, limit)[0])
    return xarray.Dataset(
        {
            "side": (("case", "kappa", "nu"), side.astype(np.int8)),
            "mixed": (("case", "width"), np.stack([_mixed(side, int(s)) for s in strides], 1)),
            "time": (("case", "distance"), times), "step_size": ("case", sizes[:, 0]),
            "setting": (("case", "name"), np.array([drawn.row(i) for i in range(cases)]))},
        {"width": strides * 2 / points, "distance": away, "kappa": lines[0], "nu": lines[1]})
