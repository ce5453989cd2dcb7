"""Claims on appendix E.2: descent on samples stays near the semi-idealised process, the nearer the
more images there are; and that process is what it says."""

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.fits import slopes
from saccade.lab.kinds import IDENTITY, SLOPE
from saccade.studies.spatial.claims import OURS, QUICK, TWO_STEPS, proxy
from saccade.studies.spatial.experiments import coupling, semi_idealised


def _exponents(run: Run) -> np.ndarray:
    """By repetition, in the number of images."""
    return slopes(np.log(run.data.samples.values), np.moveaxis(np.log(run.data.gap.values), 0, -1))


def _along(run: Run) -> np.ndarray:
    """The exponent of the part of v along w*, in the place of each of the three."""
    along = slopes(np.log(run.data.samples.values), np.log(run.data.alpha.values).T)
    return np.stack([along] * 3, axis=1)


COUPLED = Claim(
    id="spatial.coupling-by-samples", spec="VS-E9", source="Lemmas E.9 to E.15, E.19 and E.26",
    citation=proxy(
        f"Lemmas E.11, E.15 and E.26 (with E.9, E.10, E.13, E.14, E.19); {TWO_STEPS}",
        "eps_v <= O(poly(D)/sqrt(N)) [...] Delta_A <= O(poly(D)/sqrt(N))"),
    statement="After 40 steps (D = 9, d = 4) the part of v off w*, the largest entry of A less its"
    " semi-idealised value, and the difference of the outputs fall with the number of images like"
    " N^(-1/2).", status="asymptotic", kind=SLOPE, experiment=coupling.coupling, measure=_exponents,
    predict=lambda run: np.full(3, -0.5), resolution=0.25, statistic="mean",
    parts=("v off w*", "attention", "output"),
    argued="Means over 40 tasks or more of exponents over N = 400, 1600, 6400, which spread by 0.2;"
    " from random entries of 1e-4 (with 1e-3 the start itself is what is left of v off w* at 6400"
    " images, and that exponent is -0.3). Later the three-valued"
    " attention is unstable (VS-L41s) and the entries within sets part: no poly(d) of images that"
    " can be run keeps them together to the end.",
    scales={"standard": Scale({"start": 1e-4, "repetitions": 40}, 4, seconds=40)},
    sabotages=(
        Sabotage(
            "large-start", "Random entries of spread 0.1 at the start: they stay.", {"start": 0.1}),
        Sabotage(
            "along-the-feature", "What v has learned along w*, which does not fall.", measure=_along
        )))


SEMI_IDEALISED = Claim(
    id="spatial.semi-idealised", spec="VS-E9", source="ours; Appendix E.2 defines it",
    citation=OURS,
    statement="While alpha takes given values, gamma and rho of the semi-idealised process move by"
    " the slope of the population loss along one entry of A: descent over every image of two sets"
    " of three patches, entry by entry.", kind=IDENTITY,
    experiment=semi_idealised.semi_idealised_by_hand, scales=QUICK,
    measure=lambda run: one_row(run.data.made.values),
    predict=lambda run: run.data.plain.values.ravel(), resolution=1e-7,
    parts=tuple(f"{name}, step {step}" for step in (1, 2, 3) for name in ("gamma", "rho")),
    argued="Central differences over 1e-5 of a loss of order one leave 1e-10.",
    sabotages=(
        Sabotage("longer-steps", "By hand, steps longer by a hundredth.", {"longer": 1.01}),))
