"""The claim on means of erf and of its square with their slopes, on which risks and their slopes
rest."""

import numpy as np

from saccade import gaussian
from saccade.lab.claim import Sabotage, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import IDENTITY
from saccade.studies.single_location.claims import changed, claim, quick
from saccade.studies.single_location.experiments import erf_means

NUMBERS = (
    "erf'", "erf''", "erf'''", *(f"E erf, slope {order}" for order in range(4)),
    *(f"zeta, slope {order}" for order in range(4)), "Owen's T", "zeta's curvature")


def _told(run: Run, power: float = 1.0) -> np.ndarray:
    t, variance = np.array(run.parameters.points).T
    variance = variance**power
    return np.array([
        *(gaussian.erf_derivative(t, order) for order in (1, 2, 3)),
        *gaussian.expect_erf_derivatives(t, variance), *gaussian.zeta_derivatives(t, variance),
        gaussian.owens_t(t, variance / 2), gaussian.zeta_curvature(t, variance)]).ravel()


def _measured(run: Run) -> np.ndarray:
    """Number by number; the curvature is asked for twice, alone and among the slopes."""
    values = run.data["value"].values.T
    return one_row(np.concatenate([values, values[9:10]]))


SLOPES = claim(
    "single-location.erf-slopes", "SL-L18",
    "The closed forms of erf', erf'', erf''', of E erf(t + G) and zeta(t, s) with three"
    " derivatives in t each, and Owen's T are integrals of their definitions, away from t = 0 and"
    " for variances that are not 1.", source="ours", kind=IDENTITY, experiment=erf_means.erf_slopes,
    measure=_measured, predict=_told, resolution=1e-9,
    argued="Differences of fourth order over 1e-3 leave 1e-11 in the third derivative, the rest is"
    " known to 1e-13.",
    parts=tuple(f"{name}, t={t:g}" for name in NUMBERS for t, _ in erf_means.POINTS),
    scales=quick(),
    sabotages=(
        Sabotage(
            "deviation-for-variance", "Read the variance as a deviation.",
            predict=lambda run: _told(run, 2.0)),
        changed("elsewhere", "By hand at t larger by 0.01.", farther=0.01)))
