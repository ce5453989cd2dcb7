"""A split signal is what it says, and its floor is a conditional mean, or every excess error is
off."""

from saccade.lab.claim import Claim, Sabotage, Scale
from saccade.lab.kinds import ESTIMATE
from saccade.studies.attention_atlas.claims import ours
from saccade.studies.attention_atlas.experiments.oracles import floor

_SHARES = {"a quarter": 0.25, "three quarters": 0.75}

AS_SAID = Claim(
    id="attention-atlas.signal-is-split-as-said", spec="AA-14", source="saccade's atlas",
    status="exact", statistic="mean", experiment=floor,
    statement=(
        "A signal of which a share s is at the mark has variance 1 - s that is linear in its first"
        " token, and s beside it, for s = 1/4 and 3/4, within .04."),
    kind=ESTIMATE, measure=lambda run: run.data.variance.values.reshape(run.parameters.draws, -1),
    predict=lambda run: [part for s in _SHARES.values() for part in (1 - s, s)], resolution=0.04,
    argued="32 draws of 4,000 samples leave about .015; half a share more or less is .125",
    parts=tuple(
        f"{share} at the mark, {where}" for share in _SHARES for where in ("first token", "rest")),
    scales={"quick": Scale(repetitions=4, seconds=1)}, figure="attention-atlas/mixtures",
    citation=ours("least squares on the first token; split-25 and split-75"),
    sabotages=(Sabotage("half and half", "Half is at the mark.", {"tasks": ("split-50",) * 2}),))

FLOOR = Claim(
    id="attention-atlas.floor-is-a-conditional-mean", spec="AA-13", source="saccade's atlas",
    status="exact", statistic="mean", experiment=floor,
    statement=(
        "The floor of a split signal is the conditional mean of y: what it leaves has no part along"
        " itself, nor along another function of the tokens, within .03."),
    kind=ESTIMATE, measure=lambda run: run.data.left.values.reshape(run.parameters.draws, -1),
    predict=lambda run: 0.0, resolution=0.03,
    argued="32 draws of 4,000 samples leave about .01; evidence that is a quarter too strong, .06",
    parts=tuple(
        f"{share} at the mark, along {along}" for share in _SHARES
        for along in ("itself", "another")),
    scales={"quick": Scale(repetitions=4, seconds=1)}, figure="attention-atlas/mixtures",
    citation=ours("a conditional mean is told by what it leaves; split-25 and split-75"),
    sabotages=(Sabotage(
        "longer tokens", "The floor takes every token to be a quarter longer.", {"longer": 1.25}
    ),))
