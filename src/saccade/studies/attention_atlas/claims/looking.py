"""Error and localisation come apart: a layer that predicts well and looks elsewhere."""

from saccade.lab.claim import Sabotage, Scale
from saccade.lab.kinds import ABOVE
from saccade.studies.attention_atlas.claims import of, ours, ours_of_map

GOOD, ELSEWHERE = 0.4, 0.45
_AWAY = {"tasks": ("single-location-4",), "learners": ("erf",), "samples": (400,)}


def _well_and_away(run):
    """Whether a fit leaves little error and yet weighs what matters less than the rest."""
    return (of(run, "excess", 0) < GOOD) & (of(run, "auroc", 0) < ELSEWHERE)


AWAY = ours_of_map(
    id="attention-atlas.predicts-looking-away", spec="AA-4", statistic="fraction",
    statement=(
        "Attention can predict well and look away: with half of the tokens informative (4 of 8)"
        " more than a quarter of the fits of erf attention to 400 samples leave less than .4 of the"
        " excess error, while the tokens that matter weigh less than the others."),
    kind=ABOVE, measure=lambda run: _well_and_away(run).astype(float), predict=lambda run: 0.25,
    resolution=0.0,
    argued="40 of 64 fits did: the roles of mark and value are exchanged, and AUROC is .39 or .89",
    scales={"quick": Scale(_AWAY, repetitions=4, seconds=6)}, figure="attention-atlas/map",
    citation=ours("erf on single-location-4"),
    sabotages=(
        Sabotage(
            "softmax", "Softmax in the place of erf: it looks where the truth lies.",
            {"learners": ("softmax",)}),
        Sabotage(
            "one location", "One token of eight is informative.", {"tasks": ("single-location-1",)}
        )))
