"""The floor of the map: the best predictor is a conditional mean, or every excess error is off."""

from saccade.lab.claim import Claim, Sabotage, Scale
from saccade.lab.kinds import ESTIMATE
from saccade.studies.attention_atlas.claims import ours
from saccade.studies.attention_atlas.experiments.oracles import floor

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
        f"{share} at the mark, along {along}" for share in ("a quarter", "three quarters")
        for along in ("itself", "another")),
    scales={"quick": Scale(repetitions=4, seconds=1)}, figure="attention-atlas/mixtures",
    citation=ours("a conditional mean is told by what it leaves; split-25 and split-75"),
    sabotages=(Sabotage(
        "longer tokens", "The floor takes every token to be a quarter longer.", {"longer": 1.25}
    ),))
