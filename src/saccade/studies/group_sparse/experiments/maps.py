"""The exact maps: long runs of the position-only layer and how they end, its map beside a plain
quadrature, the full layer in its six free numbers, and those beside every weight."""

import warnings
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.errors import require
from saccade.lab.coded import flags
from saccade.lab.experiment import experiment
from saccade.studies.group_sparse import dynamics, models
from saccade.studies.group_sparse.dynamics import full, plan_record, position_map, reduced_map
from saccade.studies.group_sparse.dynamics.reduced_gradient import coordinates_of
from saccade.studies.group_sparse.experiments.common import along, each_key, spaced
from saccade.studies.group_sparse.experiments.reduction import Kind
from saccade.studies.group_sparse.task import GroupSparseTask, group_sparse_task

Case = tuple[int, float]
CASES: tuple[Case, ...] = ((4, 0.1), (4, 0.5), (8, 0.1), (8, 0.5), (16, 0.1), (16, 0.5), (64, 0.1))
COORDINATES = ("alpha", "a", "b", "m_ss", "m_so", "m_os", "m_dd", "m_oo")


@experiment(
    "group-sparse.position-descent",
    scales={"standard": {"steps": 200_000}, "paper": {"steps": 1_000_000}})
def position_descent(
    key: Any, *, cases: tuple[Case, ...] = CASES, steps: int = 20_000, points: int = 40,
    scale: float = 1.0, encoding_factor: float = 1.0,
) -> xarray.Dataset:
    """alpha, A, loss and 1-S along population descent, for several (groups, step size);
    `encoding_factor` multiplies c of P^T P = c I, and 0 freezes attention at uniform."""
    require(steps >= 1, "steps", steps, "must be at least 1")
    times = sorted({*spaced(1, steps, points), max(1, steps // 4), min(2, steps), steps})
    sizes, etas = np.array(cases, float).T
    rows, diverged = position_map.position_runs(
        sizes, etas, np.full(len(sizes), scale), encoding_factor * (sizes + 1) / 2,
        plan_record(steps, times).stops)
    return xarray.Dataset(
        along(("case", "step"), **rows._asdict()) | along("case", diverged_at=diverged),
        {"step": times, **along("case", groups=sizes.astype(int), step_size=etas)})


GROUPS = (4, 8, 16, 32, 64, 128)
STEP_SIZES = tuple(float(eta) for eta in np.geomspace(0.01, 20, 34).round(4))


@experiment(
    "group-sparse.regimes",
    scales={"standard": {"steps": 50_000, "scales": (0.1, 0.5, 1.0, 2.0, 4.0)}})
def regimes(
    key: Any, *, groups: tuple[int, ...] = GROUPS, step_sizes: tuple[float, ...] = STEP_SIZES,
    steps: int = 5000, scales: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0),
) -> xarray.Dataset:
    """How runs of the position-only layer end over (scale, groups, step size): concentrating,
    locked, locked out or unstable."""
    maps = [position_map.regime_map(groups, step_sizes, steps, scale) for scale in scales]
    code = np.vectorize(position_map.REGIMES.index)
    ends = {
        name: np.stack([getattr(one.end, name) for one in maps])
        for name in ("gap", "alpha", "loss", "one_minus_attention")}
    made = xarray.Dataset(
        along(
            ("scale", "groups", "step_size"), regime=np.stack([code(one.regime) for one in maps]),
            gap_quarter=np.stack([one.gap_quarter for one in maps]), **ends,
            diverged_at=np.stack([one.diverged_at for one in maps])),
        {"scale": list(scales), "groups": list(groups), "step_size": list(step_sizes)})
    made.regime.attrs |= flags(position_map.REGIMES)
    return made


def product_rule(points: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """u, x and weights for E over u = |N(0, 1)| and x ~ N(0, 1)."""
    x, w = np.polynomial.legendre.leggauss(points)
    u, m = 4.5 * (x + 1), 9.0 * x
    by_u = 4.5 * w * np.sqrt(2 / np.pi) * np.exp(-(u**2) / 2)
    by_m = 9.0 * w * np.exp(-(m**2) / 2) / np.sqrt(2 * np.pi)
    return u[:, None], m[None, :], by_u[:, None] * by_m


@partial(jax.jit, static_argnames=("points",))
def plain_run(
    groups: Any, step_size: Any, steps: Any, points: int = 160, fixed: Any = False,
    scale: Any = 1.0, encoding_factor: Any = 1.0,
) -> Any:
    """alpha and A of the position-only layer, each step a two-dimensional quadrature of the
    definition with `points` x `points` nodes (`fixed` leaves attention uniform)."""
    u, x, weights = product_rule(points)
    u, m = scale * u, scale * x / jnp.sqrt(groups - 1.0)

    def step(_: Any, state: Any) -> Any:
        alpha, gap = state
        s = jax.nn.sigmoid(gap - jnp.log(groups - 1.0))
        mixed = s * u + (1 - s) * m
        residual = weights * jax.nn.sigmoid(-alpha * groups * mixed)
        gram = encoding_factor * (groups + 1) / 2
        speed = step_size * gram**2 * groups / (groups - 1) * s * (1 - s)
        pull, turn = groups * jnp.sum(residual * mixed), speed * alpha * jnp.sum(residual * (u - m))
        return alpha + step_size * pull, jnp.where(fixed, gap, gap + turn)

    return jax.lax.fori_loop(0, steps, step, (jnp.zeros(()), jnp.zeros(())))


@experiment("group-sparse.position-quadrature")
def position_quadrature(
    key: Any, *, cases: tuple[Case, ...] = ((4, 0.5), (8, 0.5), (16, 0.3)), steps: int = 30,
    fixed: bool = False, scale: float = 1.4, encoding_factor: float = 0.8,
) -> xarray.Dataset:
    """alpha and A of the position-only layer after `steps` steps: by the map, and step by step with
    a plain two-dimensional quadrature of the definition (`fixed` leaves attention uniform
    there)."""
    runs = [
        position_map.position_trajectory(
            groups, eta, steps, scale=scale, gram_scale=encoding_factor * (groups + 1) / 2)
        for groups, eta in cases]
    plain = [
        plain_run(groups, eta, steps, 160, fixed, scale, encoding_factor) for groups, eta in cases]
    return xarray.Dataset(
        along(("case", "name"), map=[[run.alpha[0], run.gap[0]] for run in runs], plain=plain),
        {"name": ["alpha", "gap"]})


@experiment(
    "group-sparse.reduced-descent",
    scales={
        "standard": {"steps": 4000, "cases": ((4, 4), (20, 4), (4, 8), (10, 8)), "repetitions": 18}
    })
def reduced_descent(
    key: Any, *, cases: tuple[tuple[int, int], ...] = ((4, 4),), step_size: float = 0.5,
    steps: int = 1000, points: int = 12, repetitions: int = 18, feature_speed: float = 1.0,
) -> xarray.Dataset:
    """The eight coordinates, loss and attention along population descent of the full layer, for
    (group_dim, groups) in `cases`; repetitions differ in the draws behind the expectation.
    `feature_speed` multiplies the steps of W11, and 0 freezes it at zero."""
    times = spaced(1, steps, points)
    with warnings.catch_warnings():
        # Steps above the rule are part of what is measured here.
        warnings.simplefilter("ignore", dynamics.StepSizeWarning)
        runs = [
            [
                reduced_map.reduced_trajectory(
                    one, groups, group_dim, step_size, steps, times, places=12,
                    feature_speed=feature_speed)
                for one in each_key(jax.random.fold_in(key, number), repetitions)]
            for number, (group_dim, groups) in enumerate(cases)]
    values = {
        name: [[getattr(run, name) for run in row] for row in runs]
        for name in ("coordinates", "loss", "attention")}
    axes = ("case", "repetition", "step")
    dims, sizes = zip(*cases, strict=True)
    return xarray.Dataset(
        along((*axes, "name"), coordinates=values.pop("coordinates")) | along(axes, **values),
        {"step": times, "name": list(COORDINATES), **along("case", group_dim=dims, groups=sizes)})


@partial(jax.jit, static_argnames=("batch",))
def _full_states(
    keys: Any, task: GroupSparseTask, start: Any, step_size: Any, stops: Any, batch: int
) -> Any:
    """alpha, A, mean attention and loss at the end of a run of every weight, for each key."""

    def one(key: Any) -> Any:
        ended, watched = full.full_run(
            key, task, start, step_size, stops, batch=batch, held_out=1000)
        point = coordinates_of(ended.state, task, start.matrix)
        seen = watched.attention[0, 0, 1], watched.loss[0]
        return jnp.stack([point[0], point[3] - point[5], *seen])

    return jax.vmap(one)(keys)


@experiment(
    "group-sparse.two-engines",
    scales={
        "standard": {"groups": 8, "step_size": 0.1, "steps": 200, "batch": 1000},
        "paper": {"groups": 20, "step_size": 0.015, "steps": 600, "batch": 1000}})
def two_engines(
    key: Any, *, groups: int = 4, group_dim: int = 4, step_size: float = 0.5, steps: int = 60,
    batch: int = 500, repetitions: int = 32, reduced_repetitions: int = 4, encodings: Kind = "sine",
    norm_squared: float | None = None, scale: float = 1.0,
) -> xarray.Dataset:
    """alpha, A, attention and loss after `steps` steps: every weight with fresh batches, and the
    six-number map with its own draws."""
    full_key, reduced_key = each_key(key, 2)
    task = group_sparse_task(groups, group_dim, scale, relevant=1)
    start = models.at_zero(group_dim, models.encoding(encodings, groups, None, norm_squared))
    by_weights = _full_states(
        jax.random.split(full_key, repetitions), task, start, step_size, plan_record(steps).stops,
        batch)
    runs = [
        reduced_map.reduced_trajectory(
            one, groups, group_dim, step_size, steps, scale=scale, places=12)
        for one in each_key(reduced_key, reduced_repetitions)]
    by_map = [
        [run.coordinates[-1, 0], run.gap[-1], run.attention[-1], run.loss[-1]] for run in runs]
    return xarray.Dataset(
        along(("repetition", "name"), full=by_weights) | along(("draw", "name"), reduced=by_map),
        {"name": ["alpha", "gap", "attention", "loss"]})
