"""Solvers of the LASSO: how fast ISTA and FISTA approach the minimum, what other libraries find
(scikit-learn is always there, celer and skglm come with the extra `bench`), and ALISTA's weight."""

import warnings
from importlib import import_module
from typing import Any

import jax
import numpy as np
import xarray

from saccade.errors import unknown
from saccade.lab.experiment import experiment
from saccade.studies.sparse_recovery.dynamics import solvers
from saccade.studies.sparse_recovery.models.steps import alista_weight
from saccade.studies.sparse_recovery.models.unrolled import unroll
from saccade.studies.sparse_recovery.task import Design, SparseRecovery

LIBRARIES = {"scikit-learn": "sklearn.linear_model", "celer": "celer", "skglm": "skglm"}


@experiment("sparse-recovery.rates", scales={"standard": {"problems": 200}})
def rates(
    key: Any, *, problems: int = 50, rows: int = 10, dim: int = 20, lam: float = 0.1,
    steps: int = 500,
) -> xarray.Dataset:
    """F(b_k) - F* along ISTA and FISTA from b_0 = 0 on, with L and |b*| of each problem."""
    sample = SparseRecovery.create(dim, rows, min(3, dim)).sample(key, problems)
    X, y = np.asarray(sample.X), np.asarray(sample.y)
    solved = solvers.solve_lasso(X, y, lam)
    gaps = []
    for method in solvers.METHODS:
        b = np.asarray(unroll(method, {"lam": np.full(steps, lam)}, X, y))
        b = np.concatenate([0 * b[:1], b])
        residual = np.einsum("pnd,kpd->kpn", X, b) - y
        value = 0.5 * (residual**2).sum(-1) + lam * np.abs(b).sum(-1)
        gaps.append((value - solved.objective).T)
    return xarray.Dataset(
        {
            "gap": (("algorithm", "repetition", "step"), gaps),
            "lipschitz": ("repetition", np.linalg.norm(X, 2, axis=(1, 2)) ** 2),
            "distance": ("repetition", np.linalg.norm(solved.coefficients, axis=1))},
        {"algorithm": list(solvers.METHODS), "step": np.arange(steps + 1)})


@experiment("sparse-recovery.weights", scales={"standard": {"matrices": 64}})
def weights(
    key: Any, *, rows: int = 10, dim: int = 20, matrices: int = 20, design: Design = "gaussian",
    simplex: bool = False,
) -> xarray.Dataset:
    """Random matrices, or one `simplex` of rows + 1 unit vectors at equal angles, with their
    closed-form ALISTA weights."""
    X = SparseRecovery.create(dim, rows, 1, design=design).matrices(key, matrices)
    if simplex:
        centred = np.eye(rows + 1) - 1 / (rows + 1)
        X = np.linalg.svd(centred)[2][None, :rows] / np.sqrt(rows / (rows + 1))
    axes = ("repetition", "row", "coordinate")
    return xarray.Dataset(
        {"X": (axes, np.asarray(X)), "W": (axes, np.asarray(jax.jit(alista_weight)(X)))})


@experiment(
    "sparse-recovery.peers", scales={"standard": {"sizes": ((10, 20), (50, 20), (100, 500))}})
def peers(
    key: Any, *, sizes: tuple[tuple[int, int], ...] = ((10, 20), (50, 20), (60, 200)),
    problems: int = 2, share: float = 0.05, libraries: tuple[str, ...] = ("scikit-learn",),
    penalty_factor: float = 1.0, own_factor: float = 1.0,
) -> xarray.Dataset:
    """Objective values found by other libraries minus ours, over F(0) = |y|^2/2, at lam = share
    lam_max; `penalty_factor` misleads them, `own_factor` us."""
    excess = np.zeros((len(libraries), len(sizes), problems))
    gap = np.zeros((len(sizes), problems))
    for place, (rows, dim) in enumerate(sizes):
        task = SparseRecovery.create(dim, rows, min(10, dim), noise=0.1)
        sample = task.sample(jax.random.fold_in(key, place), problems)
        pairs = zip(np.asarray(sample.X), np.asarray(sample.y), strict=True)
        for number, (X, y) in enumerate(pairs):
            lam = share * np.abs(X.T @ y).max()
            b = solvers.solve_exactly(X, y, own_factor * lam)
            gap[place, number] = solvers.relative_gap(X, y, b, lam)
            for which, library in enumerate(libraries):
                other = peer_solution(library, X, y, penalty_factor * lam)
                above = _objective(X, y, other, lam) - _objective(X, y, b, lam)
                excess[which, place, number] = above / (0.5 * y @ y)
    return xarray.Dataset(
        {"excess": (("library", "size", "problem"), excess), "gap": (("size", "problem"), gap)},
        {"library": list(libraries), "size": [f"{rows} x {dim}" for rows, dim in sizes]})


def peer_solution(library: str, X: np.ndarray, y: np.ndarray, lam: float) -> np.ndarray:
    """Another library's minimiser of 1/2 |y - X b|^2 + lam |b|_1; they call lam/N alpha."""
    if library not in LIBRARIES:
        raise unknown("library", library, LIBRARIES)
    peer = import_module(LIBRARIES[library]).Lasso(
        alpha=lam / len(X), fit_intercept=False, tol=1e-14, max_iter=100_000)
    with warnings.catch_warnings():
        # tolerances below what they promise: their own gap decides when they stop
        warnings.simplefilter("ignore")
        return np.asarray(peer.fit(X, y).coef_, float)


def _objective(X: np.ndarray, y: np.ndarray, b: np.ndarray, lam: float) -> float:
    return float(0.5 * ((y - X @ b) ** 2).sum() + lam * np.abs(b).sum())
