"""How often four methods find a sparse vector at one number of measurements and one sparsity."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray

from saccade.dynamics.sparse_recovery import solve_lasso, squared_errors
from saccade.errors import require
from saccade.lab.experiment import experiment
from saccade.models.unrolled import unroll

METHODS = ("least squares", "ISTA", "FISTA", "LASSO")
PENALTIES = (0.01, 0.03, 0.1, 0.3, 1.0)
FAINT = 1e-3  # the LASSO's penalty: its bias is far below what counts as found


def _instances(key: Any, dim: int, measurements: int, sparsity: int, trials: int) -> tuple[np.ndarray, ...]:
    """Gaussian rows, those beyond N of zeros (one shape for all N), and standard normal entries at S random places; no noise."""
    row_key, value_key, place_key = jax.random.split(key, 3)
    seen = np.arange(dim) < measurements
    X = np.asarray(jax.random.normal(row_key, (trials, dim, dim))) * seen[None, :, None]
    rank = np.asarray(jax.random.uniform(place_key, (trials, dim))).argsort(1).argsort(1)
    beta = np.asarray(jax.random.normal(value_key, (trials, dim))) * (rank < sparsity)
    return X, np.einsum("pnd,pd->pn", X, beta), beta


@experiment("sparse-recovery.success")
def success(
    key: Any,
    *,
    dim: int = 30,
    measurements: int = 15,
    sparsity: int = 3,
    depth: int = 12,
    trials: int = 64,
    tolerance: float = 0.01,
) -> xarray.Dataset:
    """Share of instances with |b - beta|^2 <= tolerance |beta|^2, without noise; ISTA and FISTA after `depth` steps with the penalty
    that is best on these instances, which favours them."""
    require(1 <= measurements <= dim, "measurements", measurements, f"must lie between 1 and dim = {dim}")
    require(1 <= sparsity <= dim, "sparsity", sparsity, f"must lie between 1 and dim = {dim}")
    X, y, beta = _instances(key, dim, measurements, sparsity, trials)
    shortest = np.einsum("pdn,pn->pd", np.linalg.pinv(X), y)
    guesses = {"least squares": [shortest], "LASSO": [solve_lasso(X, y, FAINT).coefficients]}
    for name in ("ISTA", "FISTA"):
        guesses[name] = [unroll(name.lower(), {"lam": jnp.full(depth, lam)}, X, y)[-1] for lam in PENALTIES]
    found = {
        name: max(np.mean(squared_errors(b, beta) <= tolerance * (beta**2).sum(1)) for b in guesses[name])
        for name in METHODS
    }
    return xarray.Dataset(
        {"success": ("method", np.array([found[name] for name in METHODS]))}, {"method": list(METHODS)}
    )
