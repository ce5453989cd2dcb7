"""The constants of the proof of Proposition 8, found on a grid of the square of (kappa, nu)."""

from typing import Any

import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.single_location.experiments.step_sizes import Case, local


def _hessian(kappa: np.ndarray, nu: np.ndarray, case: Case, apart: float = 1e-5) -> np.ndarray:
    """Central differences of the slopes, in matrices of R_kk, R_kn, R_nk, R_nn."""
    columns = []
    for i, j in ((apart, 0.0), (0.0, apart)):
        ahead, behind = local(kappa + i, nu + j, case), local(kappa - i, nu - j, case)
        columns.append(np.stack([ahead.in_kappa - behind.in_kappa, ahead.in_nu - behind.in_nu], -1))
    return np.stack(columns, -1) / (2 * apart)


@experiment("single-location.proof-constants")
def proof_constants(
    key: Any, *, dims: tuple[float, ...] = (60.0, 300.0, 25.0, 20.0),
    inverse_temperatures: tuple[float, ...] = (0.35, 0.05, 0.3, 0.15),
    gammas: tuple[float, ...] = (0.8, 0.6, 1.15, 0.3), points: int = 401, kept: float = 0.5,
    reach: float = 1.0,
) -> xarray.Dataset:
    """By setting: G, the largest slope, and A, the largest norm of a Hessian, on a grid of the
    square |kappa|, |nu| <= `reach`, the Hessian by differences; and the step that keeps the share
    `kept` of what the slope promises, 1 or, if below, the positive root a of A G^2/2 a^3 + (G^2 +
    3 A G/2) a^2 + (G + 3 A/2) a = 1 - kept."""
    line = reach * np.linspace(-1, 1, points)
    kappa, nu = np.meshgrid(line, reach * np.linspace(-1, 1, 5), indexing="ij")
    rows = []
    for case in map(Case, dims, inverse_temperatures, gammas):
        here = local(kappa, nu, case)
        g = float(max(np.abs(here.in_kappa).max(), np.abs(here.in_nu).max()))
        a = float(np.linalg.svd(_hessian(kappa, nu, case), compute_uv=False).max())
        roots = np.roots([a * g**2 / 2, g**2 + 1.5 * a * g, g + 1.5 * a, kept - 1])
        size = min(1.0, float(roots[(np.abs(roots.imag) < 1e-9) & (roots.real > 0)].real.max()))
        rows.append([g, a, size])
    return xarray.Dataset(
        {
            "constant": (("case", "name"), np.array(rows)),
            "setting": (("case", "number"), np.stack([dims, inverse_temperatures, gammas], axis=1)),
        },
        {"name": ["slope", "curvature", "step"]})
