"""The claim on the constants of the proof of Proposition 8: the bounds of slopes and Hessians on
the square, and the step that follows from them."""

import numpy as np

from saccade.lab.claim import Sabotage, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import IDENTITY
from saccade.studies.single_location import theory
from saccade.studies.single_location.claims import changed, claim, quick
from saccade.studies.single_location.experiments import proof_constants
from saccade.studies.single_location.theory import Setting


def _written_out(run: Run, instead: str = "") -> np.ndarray:
    """Logarithms of G, A and the step, by setting. `instead` "origin" puts the larger of |R_kk| and
    |R_kn| at the origin for A, "first order" 1/(2 C), C = G + 3 A/2 as for alpha = 0, for the step,
    also where that is above 1."""
    rows = []
    for dim, lam, gamma in run.data.setting.values:
        at = Setting(dim, 10.0, lam, gamma)
        slope, curvature = theory.bounds_on_square(at)
        size = theory.proof_step(at)
        if instead == "origin":
            curvature = float(np.abs(np.asarray(theory.origin_hessian(at))[0]).max())
        if instead == "first order":
            size = 1 / (2 * slope + 3 * curvature)
        rows.append([slope, curvature, size])
    return np.log(rows).ravel()


CONSTANTS = claim(
    "single-location.proof-constants", "SL-P8",
    "The proof's bounds G of the slopes and A of the Hessians are the largest values on the square,"
    " and its step solves alpha C(alpha) = 1/2 or is 1: sums from the definition of the risk,"
    " differences and a cubic equation at four settings.",
    source="Appendix A.6, (22) to (28); the constants written out are ours", kind=IDENTITY,
    experiment=proof_constants.proof_constants,
    measure=lambda run: one_row(np.log(run.data.constant.values)), predict=_written_out,
    resolution=5e-4,
    argued="A maximum between two of the 401 points of kappa, at most 0.0025 away, is missed by"
    " (0.0025 b)^2 times a few, b up to 1.8: below 1e-4. Differences over 2e-5 are good to 1e-9.",
    parts=tuple(
        f"{name}, setting {number}" for number in range(1, 5) for name in ("G", "A", "alpha")),
    scales=quick(seconds=1),
    sabotages=(
        changed("half-the-square", "Look at |kappa|, |nu| <= 1/2 only.", reach=0.5),
        changed("keep-more", "Keep three quarters of what the slope promises.", kept=0.75),
        Sabotage(
            "at-the-origin", "For A the largest entry of the Hessian at the origin.",
            predict=lambda run: _written_out(run, "origin")),
        Sabotage(
            "first-order", "The step 1/(2 C) with C at alpha = 0, also above 1.",
            predict=lambda run: _written_out(run, "first order"))))
