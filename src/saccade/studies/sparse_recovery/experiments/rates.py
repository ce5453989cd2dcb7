"""Linear against sublinear: the late rate of ISTA, and where the certificate of a linear rate
begins."""

from typing import Any

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.sparse_recovery.dynamics.solvers import solve_lasso
from saccade.studies.sparse_recovery.models.unrolled import unroll
from saccade.studies.sparse_recovery.task import SparseRecovery

ROUNDING = 1e-9  # distances to the minimum below this share of its length are not looked at


@experiment("sparse-recovery.late-rate")
def late_rate(
    key: Any, *, rows: tuple[int, ...] = (15, 40), dim: int = 20, sparsity: int = 3,
    lam: float = 1.0, problems: int = 40, steps: int = 2000,
    window: tuple[float, float] = (0.6, 1.0),
) -> xarray.Dataset:
    """ISTA's distances to the minimum b* over the last of its steps that rounding does not
    disturb: their slope in log per step (between two shares of those steps); and the extreme
    eigenvalues: of X^T X, and of its part on the support of b*."""
    slope, largest, smallest = (np.zeros((len(rows), problems)) for _ in range(3))
    for place, n in enumerate(rows):
        sample = SparseRecovery.create(dim, n, sparsity).sample(
            jax.random.fold_in(key, place), problems, query=False)
        X, y = np.asarray(sample.X), np.asarray(sample.y)
        best = solve_lasso(X, y, lam).coefficients
        b = np.asarray(unroll("ista", {"lam": np.full(steps, lam)}, X, y))
        distance = np.linalg.norm(b - best, axis=-1).T
        for number in range(problems):
            slope[place, number] = _late_slope(distance[number], window)
            gram = X[number].T @ X[number]
            chosen = np.flatnonzero(best[number])
            largest[place, number] = np.linalg.eigvalsh(gram)[-1]
            smallest[place, number] = np.linalg.eigvalsh(gram[np.ix_(chosen, chosen)])[0]
    axes = ("rows", "problem")
    return xarray.Dataset(
        {"slope": (axes, slope), "largest": (axes, largest), "smallest": (axes, smallest)},
        {"rows": list(rows)})


def _late_slope(distance: np.ndarray, window: tuple[float, float]) -> float:
    """The change of log distance a step between two shares of the steps above rounding."""
    last = np.flatnonzero(distance > ROUNDING * distance[0])[-1]
    first, end = (int(share * last) for share in window)
    return float(np.log(distance[end] / distance[first]) / max(end - first, 1))


@experiment("sparse-recovery.certificate-grid")
def certificate_grid(
    key: Any, *, cells: tuple[tuple[int, int, int], ...] = ((20, 3, 300),), draws: int = 256
) -> xarray.Dataset:
    """mu and delta (g = 1) of X^T X/n for Gaussian matrices of n rows, for cells (d, S, n); drawn
    as a Wishart matrix by its triangular factor, so that n costs nothing."""
    chance = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    mu, delta = np.zeros((2, len(cells), draws))
    for place, (dim, _, rows) in enumerate(cells):
        factor = np.tril(chance.normal(size=(draws, dim, dim)), -1)
        diagonal = np.sqrt(chance.chisquare(rows - np.arange(dim), size=(draws, dim)))
        factor[:, np.arange(dim), np.arange(dim)] = diagonal
        gram = factor @ factor.swapaxes(1, 2) / rows
        squares = np.einsum("kii->ki", gram).copy()
        gram[:, np.arange(dim), np.arange(dim)] = 0
        mu[place], delta[place] = np.abs(gram).max((1, 2)), np.abs(1 - squares).max(1)
    axes = ("cell", "draw")
    return xarray.Dataset({"mu": (axes, mu), "delta": (axes, delta)})


@experiment("sparse-recovery.cone-dimension")
def cone_dimension(
    key: Any, *, shares: tuple[float, ...] = (0.05, 0.2, 0.6), more: float = 1.0
) -> xarray.Dataset:
    """The mean squared distance, a coordinate, of normal numbers from t times the subdifferential
    of |b|_1 at a vector of which a share is not zero (`more` times the one said), at its best t: by
    sums over a fine grid of numbers and of t."""
    width = 2e-3
    z = width * (np.arange(12_000) - 5999.5)
    weight = width * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    ways = np.linspace(0.0, 6.0, 1001)
    on = np.array([weight @ (z - t) ** 2 for t in ways])
    off = np.array([weight @ np.maximum(np.abs(z) - t, 0) ** 2 for t in ways])
    least = [(more * share * on + (1 - more * share) * off).min() for share in shares]
    return xarray.Dataset({"least": ("share", least)}, {"share": list(shares)})
