"""How often four methods find a sparse vector, at one number of measurements and one sparsity."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray

from saccade.errors import require
from saccade.lab.vectorised import in_groups
from saccade.studies.sparse_recovery import draws
from saccade.studies.sparse_recovery.dynamics.solvers import solve_lasso, squared_errors
from saccade.studies.sparse_recovery.models.unrolled import unroll

METHODS = ("least squares", "ISTA", "FISTA", "LASSO")
PENALTIES = (0.01, 0.03, 0.1, 0.3, 1.0)
FAINT = 1e-3  # the LASSO's penalty: its bias is far below what counts as found


def _instances(key: Any, dim: int, rows: int, sparsity: int, trials: int) -> list[np.ndarray]:
    """Gaussian rows, those beyond N of zeros (one shape for all N), and standard normal entries at
    S random places; no noise."""
    row_key, value_key, place_key = draws.split(key, 3)
    shown = np.arange(dim) < rows
    X = draws.draw("normal", row_key, (trials, dim, dim), float) * shown[None, :, None]
    rank = draws.draw("uniform", place_key, (trials, dim), float).argsort(1).argsort(1)
    beta = draws.draw("normal", value_key, (trials, dim), float) * (rank < sparsity)
    return [X, np.einsum("pnd,pd->pn", X, beta), beta]


def _check(asked: Any) -> None:
    for name in ("measurements", "sparsity"):
        value = getattr(asked, name)
        require(1 <= value <= asked.dim, name, value, f"must lie between 1 and dim = {asked.dim}")
    require(asked.depth >= 1, "depth", asked.depth, "must be at least 1")
    require(asked.trials >= 1, "trials", asked.trials, "must be at least 1")


@in_groups(
    "sparse-recovery.success", varying=("measurements", "sparsity", "tolerance"), width=10,
    check=_check)
def success(
    keys: Sequence[Any], *, dim: int = 30, measurements: int = 15, sparsity: int = 3,
    depth: int = 12, trials: int = 64, tolerance: float = 0.01,
) -> list[xarray.Dataset]:
    """Share of instances with |b - beta|^2 <= tolerance |beta|^2, without noise; ISTA and FISTA
    after `depth` steps with the penalty that is best on these instances, which favours them. The
    instances of all cells of a group are solved together."""
    counts = zip(keys, np.asarray(measurements), np.asarray(sparsity), strict=True)
    drawn = [_instances(key, dim, int(rows), int(most), trials) for key, rows, most in counts]
    X, y, beta = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
    shortest = np.einsum("pdn,pn->pd", np.linalg.pinv(X), y)
    guesses = {"least squares": [shortest], "LASSO": [solve_lasso(X, y, FAINT).coefficients]}
    for name in ("ISTA", "FISTA"):
        guesses[name] = [
            np.asarray(unroll(name.lower(), {"lam": np.full(depth, lam)}, X, y))[-1]
            for lam in PENALTIES]
    allowed = np.repeat(np.asarray(tolerance, float), trials) * (beta**2).sum(1)
    shares = np.array([_best_share(guesses[name], beta, allowed, trials) for name in METHODS])
    return [
        xarray.Dataset({"success": ("method", share)}, {"method": list(METHODS)})
        for share in shares.T]


def _best_share(guesses: list, beta: np.ndarray, allowed: np.ndarray, trials: int) -> np.ndarray:
    """For every cell, the largest share of its instances that one of the guesses finds."""
    hits = np.array([squared_errors(guess, beta) <= allowed for guess in guesses])
    return hits.reshape(len(guesses), -1, trials).mean(2).max(0)
