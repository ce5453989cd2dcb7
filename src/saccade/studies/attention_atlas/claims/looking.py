"""Where learned attention lies: as well as can be, or elsewhere although it predicts well."""

from saccade.lab.claim import Sabotage
from saccade.lab.kinds import ABOVE, ESTIMATE
from saccade.studies.attention_atlas.claims import columns, of, of_map
from saccade.studies.attention_atlas.theory import looking_along_the_direction

GOOD, ELSEWHERE = 0.4, 0.45


def _well_and_away(run):
    """Whether a fit leaves little error and yet weighs what matters less than the rest."""
    return (of(run, "excess", 0) < GOOD) & (of(run, "auroc", 0) < ELSEWHERE)


AWAY = of_map(
    "AA-4", "predicts-looking-away",
    "Attention can predict well and look away: with half of the tokens informative (4 of 8)"
    " more than a quarter of the fits of erf attention to 400 samples leave less than .4 of the"
    " excess error, while the tokens that matter weigh less than the others.",
    ("single-location-4",), ("erf",), (400,), seconds=6, statistic="fraction", kind=ABOVE,
    measure=lambda run: _well_and_away(run).astype(float), predict=lambda run: 0.25, resolution=0.0,
    argued="40 of 64 fits did: the roles of mark and value are exchanged, and AUROC is .39 or .89",
    sabotages=(
        Sabotage(
            "softmax", "Softmax in the place of erf: it looks where the truth lies.",
            {"learners": ("softmax",)}),
        Sabotage(
            "one location", "One token of eight is informative.", {"tasks": ("single-location-1",)}
        )))

FOUND = of_map(
    "AA-15", "two-steps-look-along-the-direction",
    "From 400 samples the query of two gradients looks as well as the shift allows: of three tokens"
    " in eight that are shifted by 2, one weighs more than another token in Phi(2/sqrt 2) = .92 of"
    " the cases, and the heaviest is one of the three in .95, within .02.", ("sparse-token-3",),
    ("two-step",), (400,), draws=64, seconds=5, figure="curves", kind=ESTIMATE,
    measure=lambda run: columns(of(run, "auroc", 0), of(run, "top1", 0)),
    predict=lambda run: looking_along_the_direction(run.parameters.length, 3, 2.0), resolution=0.02,
    argued="40 draws gave .919 and .951; a query from 400 samples is off by some degrees",
    parts=("AUROC", "top-1"),
    sabotages=(Sabotage("24 samples", "The query comes from 24 samples.", {"samples": (24,)}),))
