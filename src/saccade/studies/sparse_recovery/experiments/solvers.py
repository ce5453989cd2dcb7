"""Solvers of the LASSO: how fast ISTA and FISTA approach the minimum, what other libraries find,
and ALISTA's weight."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.sparse_recovery import dynamics
from saccade.studies.sparse_recovery.experiments.peers import peer_solution
from saccade.studies.sparse_recovery.models.unrolled import alista_weight, unroll
from saccade.studies.sparse_recovery.task import SparseRecovery

Size = tuple[int, int]


@experiment("sparse-recovery.rates", scales={"standard": {"problems": 200}})
def rates(
    key: Any, *, problems: int = 50, rows: int = 10, dim: int = 20, lam: float = 0.1,
    steps: int = 500,
) -> xarray.Dataset:
    """F(b_k) - F* along ISTA and FISTA, with L and |b*| of each problem."""
    sample = SparseRecovery.create(dim, rows, min(3, dim)).sample(key, problems)
    X, y = np.asarray(sample.X), np.asarray(sample.y)
    solved = dynamics.solve_lasso(X, y, lam)
    gaps = []
    for method in dynamics.METHODS:
        b = unroll(method, {"lam": jnp.full(steps, lam)}, X, y)
        residual = np.einsum("pnd,kpd->kpn", X, b) - y
        value = 0.5 * (residual**2).sum(-1) + lam * np.abs(b).sum(-1)
        gaps.append((value - solved.objective).T)
    return xarray.Dataset(
        {
            "gap": (("algorithm", "repetition", "step"), np.array(gaps)),
            "lipschitz": ("repetition", np.linalg.norm(X, 2, axis=(1, 2)) ** 2),
            "distance": ("repetition", np.linalg.norm(solved.coefficients, axis=1))},
        {"algorithm": list(dynamics.METHODS), "step": np.arange(1, steps + 1)})


@experiment("sparse-recovery.weights", scales={"standard": {"matrices": 64}})
def weights(key: Any, *, rows: int = 10, dim: int = 20, matrices: int = 20) -> xarray.Dataset:
    """Random matrices with their closed-form ALISTA weights."""
    X = SparseRecovery.create(dim, rows, 1).matrices(key, matrices)
    axes = ("repetition", "row", "coordinate")
    return xarray.Dataset(
        {"X": (axes, np.asarray(X)), "W": (axes, np.asarray(jax.jit(alista_weight)(X)))})


@experiment(
    "sparse-recovery.peers", scales={"standard": {"sizes": ((10, 20), (50, 20), (100, 500))}})
def peers(
    key: Any, *, sizes: tuple[Size, ...] = ((10, 20), (50, 20), (60, 200)), problems: int = 2,
    share: float = 0.05, libraries: tuple[str, ...] = ("scikit-learn",),
    penalty_factor: float = 1.0,
) -> xarray.Dataset:
    """Objective values found by other libraries minus ours, over F(0) = |y|^2/2, at lam = share
    lam_max; `penalty_factor` misleads them."""
    excess = np.zeros((len(libraries), len(sizes), problems))
    gap = np.zeros((len(sizes), problems))
    for place, (rows, dim) in enumerate(sizes):
        task = SparseRecovery.create(dim, rows, min(10, dim), noise=0.1)
        sample = task.sample(jax.random.fold_in(key, place), problems)
        X, y = np.asarray(sample.X), np.asarray(sample.y)
        for number in range(problems):
            lam = share * np.abs(X[number].T @ y[number]).max()
            b = dynamics.solve_exactly(X[number], y[number], lam)
            value, scale = _objective(X[number], y[number], b, lam), 0.5 * y[number] @ y[number]
            gap[place, number] = dynamics.relative_gap(X[number], y[number], b, lam)
            for which, library in enumerate(libraries):
                other = peer_solution(library, X[number], y[number], penalty_factor * lam)
                excess[which, place, number] = (
                    _objective(X[number], y[number], other, lam) - value) / scale
    size = [f"{rows} x {dim}" for rows, dim in sizes]
    return xarray.Dataset(
        {"excess": (("library", "size", "problem"), excess), "gap": (("size", "problem"), gap)},
        {"library": list(libraries), "size": size})


def _objective(X: np.ndarray, y: np.ndarray, b: np.ndarray, lam: float) -> float:
    return float(0.5 * ((y - X @ b) ** 2).sum() + lam * np.abs(b).sum())
