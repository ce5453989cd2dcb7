"""Sparse recovery: how often a sparse vector is found from N measurements, by the exact LASSO and by unrolled steps of fixed depth."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
import xarray
from matplotlib.figure import Figure as Drawing
from scipy.optimize import minimize_scalar
from scipy.special import ndtr

from saccade.dynamics.sparse_recovery import solve_lasso, squared_errors
from saccade.errors import require
from saccade.lab.experiment import experiment
from saccade.lab.style import THEORY
from saccade.lab.sweep.builtin import BuiltIn
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


def needed_share(sparse_share: float) -> float:
    """N/d at which l1 minimisation begins to succeed, d large: min over t of r(1 + t^2) + (1 - r) E(|g| - t)_+^2 with r = S/d.

    The statistical dimension of the descent cone (Amelunxen, Lotz, McCoy, Tropp 2014). Status: asymptotic.
    """

    def dimension(t: float) -> float:
        tail = 2 * ((1 + t * t) * ndtr(-t) - t * np.exp(-t * t / 2) / np.sqrt(2 * np.pi))
        return sparse_share * (1 + t * t) + (1 - sparse_share) * tail

    return float(minimize_scalar(dimension, bounds=(0.0, 8.0), method="bounded").fun)  # type: ignore[attr-defined]


def draw_success(data: xarray.Dataset) -> Drawing:
    """One map per method, with the asymptotic line of l1 minimisation in each."""
    figure, panels = plt.subplots(1, 4, figsize=(9.6, 2.8), sharey=True)
    image, dim = None, 30
    sparse = np.linspace(0.5, float(data.sparsity.max()), 60)
    line = [dim * needed_share(value / dim) for value in sparse]
    for axes, name in zip(panels, METHODS, strict=True):
        share = data.success.sel({"method": name}).transpose("sparsity", "measurements")
        image = axes.pcolormesh(
            data.measurements, data.sparsity, share, vmin=0, vmax=1, cmap="viridis", shading="nearest"
        )
        axes.plot(line, sparse, **{**THEORY, "color": "white"})
        axes.set(xlabel="measurements N", title=name)
        axes.grid(False)
    panels[0].set_ylabel("sparsity S")
    if image is not None:
        figure.colorbar(image, ax=panels, label="share found", shrink=0.9)
    return figure


SWEEPS = (
    BuiltIn(
        id="sparse-recovery/success",
        title="When a sparse vector is found, over measurements and sparsity",
        caption="Share of 64 noiseless Gaussian instances (d = 30) in which |b - beta|^2 is at most 1 % of |beta|^2: the "
        "shortest least-squares solution, 12 steps of ISTA and of FISTA with the best of five penalties, and the "
        "LASSO with a faint penalty. Dashed: where l1 minimisation begins to succeed in high dimension (statistical "
        "dimension).",
        file=Path(__file__).with_name("sparse-recovery-success.toml"),
        draw=draw_success,
        minutes=1.0,
    ),
)
