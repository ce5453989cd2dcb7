"""The claim that online descent is what the study says it is."""

from saccade.lab.claim import Sabotage, Scale, one_row
from saccade.lab.kinds import IDENTITY
from saccade.studies.group_sparse.claims import claim
from saccade.studies.group_sparse.experiments import online

LEARNERS = ("both move", "v1 alone moves", "logistic")
WHAT = ("first weight", "last weight", "online error", "test error")

STEPS = claim(
    "group-sparse.online-steps", "GS-D0",
    "Online descent from a selector, with W moving or frozen, and of logistic regression is descent"
    " of the logistic loss, sample by sample, each judged before it is learned from.",
    "The same stream through another program, automatic derivatives; rounding.", source="ours",
    kind=IDENTITY, experiment=online.online_steps, measure=lambda run: one_row(run.data.run.values),
    predict=lambda run: run.data.plain.values.ravel(), resolution=1e-10,
    parts=tuple(f"{who}, {what}" for who in LEARNERS for what in WHAT),
    scales={"quick": Scale(seconds=6)},
    sabotages=(
        Sabotage("square-loss", "The loop descends the square loss.", {"loss": "square"}),
        Sabotage("all-of-v", "The loop lets v2 move as well.", {"only_features": False})))
