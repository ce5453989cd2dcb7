"""A claim on variants of the layer, each with its own best step size."""

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale
from saccade.lab.kinds import ABOVE
from saccade.studies.group_sparse.experiments import architectures

VARIANTS = Claim(
    id="group-sparse.variants-select", spec="GS-O1",
    statement=(
        "With a residual path, LayerNorm, an MLP or two layers, some layer still puts more than"
        " half of its attention on the group."),
    source="ours; the paper leaves these open", status="heuristic", kind=ABOVE,
    experiment=architectures.architectures,
    measure=lambda run: np.nan_to_num(run.data.attention.values.T, nan=0.0),
    predict=lambda run: 0.5, resolution=0.0,
    argued=(
        "Uniform attention is 1/6; each variant has the same search over three step sizes on other"
        " seeds."),
    statistic="median", parts=tuple(architectures.VARIANTS),
    scales={"standard": Scale(repetitions=2, seconds=120)},
    sabotages=(Sabotage("two-steps", "Stop after two steps.", {"steps": 2}),))
