"""The position-only layer: long population runs by the exact map, and how runs end over step size
and groups."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.errors import require
from saccade.lab.experiment import experiment
from saccade.studies.group_sparse import dynamics

Case = tuple[int, float]
CASES: tuple[Case, ...] = ((4, 0.1), (4, 0.5), (8, 0.1), (8, 0.5), (16, 0.1), (16, 0.5), (64, 0.1))


def _times(steps: int, points: int) -> list[int]:
    """About `points` step numbers from 1 to `steps`, evenly spaced in log, with a quarter of the
    end among them."""
    require(steps >= 1, "steps", steps, "must be at least 1")
    times = np.unique(np.rint(np.geomspace(1, steps, points)).astype(int))
    return sorted({*times.tolist(), max(1, steps // 4), min(2, steps), steps})


@jax.jit
def _runs(groups: Any, step_sizes: Any, scale: Any, encoding_factor: Any, gaps: Any) -> Any:
    def one(size, eta):
        progress, rows = dynamics.position_run(
            size, scale, eta, encoding_factor * (size + 1) / 2, gaps)
        return rows, progress.diverged_at

    return jax.vmap(one)(groups, step_sizes)


@experiment(
    "group-sparse.position-descent",
    scales={"standard": {"steps": 200_000}, "paper": {"steps": 1_000_000}})
def position_descent(
    key: Any, *, cases: tuple[Case, ...] = CASES, steps: int = 20_000, points: int = 40,
    scale: float = 1.0, encoding_factor: float = 1.0,
) -> xarray.Dataset:
    """alpha, A, loss and 1-S along population descent, for several (groups, step size);
    `encoding_factor` multiplies c of P^T P = c I, and 0 freezes attention at uniform."""
    times = _times(steps, points)
    plan = dynamics.plan_record(steps, times)
    sizes, etas = (jnp.asarray([case[place] for case in cases], float) for place in (0, 1))
    rows, diverged = _runs(sizes, etas, scale, encoding_factor, plan.gaps)
    names = ("alpha", "gap", "loss", "attention", "one_minus_attention")
    data: dict[str, Any] = {
        name: (("case", "step"), np.asarray(row)) for name, row in zip(names, rows, strict=True)}
    data["diverged_at"] = ("case", np.asarray(diverged))
    return xarray.Dataset(
        data,
        {
            "step": times, "groups": ("case", np.asarray(sizes, int)),
            "step_size": ("case", np.asarray(etas))})


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
    maps = [dynamics.regime_map(groups, step_sizes, steps, scale) for scale in scales]
    axes = ("scale", "groups", "step_size")
    codes = np.stack([np.vectorize(dynamics.REGIMES.index)(made.regime) for made in maps])
    names = ("gap", "alpha", "loss", "one_minus_attention", "diverged_at")
    data: dict[str, Any] = {
        name: (axes, np.stack([getattr(made, name) for made in maps])) for name in names}
    return xarray.Dataset(
        {"regime": (axes, codes), **data},
        {"scale": list(scales), "groups": list(groups), "step_size": list(step_sizes)})
