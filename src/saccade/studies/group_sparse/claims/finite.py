"""Claims on finite samples: who finds the group."""

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale
from saccade.lab.kinds import BELOW, ORDERING
from saccade.studies.group_sparse.experiments import finite

SCREENING = Claim(
    id="group-sparse.screening-finds-more", spec="GS-F1",
    statement=(
        "On 16, 32 and 48 samples (d = 8, D = 16) screening finds the relevant group more often"
        " than the layer trained from scratch."),
    source="ours", status="heuristic", kind=ORDERING, experiment=finite.from_scratch,
    measure=lambda run: (run.data.screening_finds - run.data.layer_finds).values.T,
    predict=lambda run: np.zeros(3), resolution=0.1,
    argued="Paired on the same draws; a difference of 0.1 would matter.", statistic="mean",
    parts=("n=16", "n=32", "n=48"),
    scales={
        "quick": Scale({"samples": (16, 32, 48)}, repetitions=4, seconds=10),
        "standard": Scale({"samples": (16, 32, 48), "draws": 128}, repetitions=2, seconds=60)},
    figure="group-sparse/finding",
    finding=(
        "For finding the group from scratch a one-line screening beats the transformer; "
        "the paper's advantage is transfer of an attention already learned."),
    sabotages=(Sabotage(
        "other-labels", "Labels made by another group: neither can find it.",
        {"informative": False}),))

INTERPOLATES = Claim(
    id="group-sparse.interpolation-first", spec="GS-F1",
    statement=(
        "From scratch on 32 samples the layer interpolates before it selects: training loss below"
        " 0.05, attention below 0.3."),
    source="ours", status="heuristic", kind=BELOW, experiment=finite.from_scratch,
    measure=lambda run: np.stack([run.data.train_loss.values[0], run.data.attention.values[0]], 1),
    predict=lambda run: [0.05, 0.3], resolution=0.0, argued="Medians over draws.",
    statistic="median", parts=("training loss", "attention"),
    scales={
        "quick": Scale(seconds=10), "standard": Scale({"samples": (32,), "draws": 128}, seconds=60),
    },
    sabotages=(Sabotage("short", "Stop after five steps.", {"steps": 5}),))
