"""The claim on the derivatives that the searches of this study are steered by."""

import numpy as np

from saccade.lab.claim import Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import IDENTITY
from saccade.studies.sparse_token.claims.common import claim
from saccade.studies.sparse_token.experiments import derivatives as nodes
from saccade.studies.sparse_token.theory import saddle, separation
from saccade.studies.sparse_token.theory.law import FeatureLaw


def _off(run: Run) -> np.ndarray:
    """The largest difference of each kind between the study's derivatives and differences."""
    law = FeatureLaw(
        nodes.WEIGHT, nodes.LABEL, nodes.ALONG, nodes.ACROSS, nodes.SPREAD, nodes.SHIFT,
        np.array([0.0, 0.2, 0.4, 0.6, 0.8]), 0.5)
    problem = saddle.make_problem(law, 2 * nodes.ALPHA, nodes.RIDGE, 801, 9.0)
    local = saddle.Evaluator(problem)(nodes.AT)
    value, slope, curvature, _ = separation.violation_derivatives(law, nodes.SEPARATING)
    pairs = [
        ([local.train_loss, local.value], run.data["value"].values[:2]),
        (local.gradient, run.data.slope.values), (local.hessian, run.data.curvature.values),
        (value, run.data["value"].values[2]), (slope, run.data.violation_slope.values),
        (curvature, run.data.violation_curvature.values)]
    return one_row([np.abs(np.subtract(made, plain)).max() for made, plain in pairs])


DERIVATIVES = claim(
    "sparse-token.derivatives", "ST-T4",
    "The potential of the fitted logistic classifier and the violation of separability have the"
    " slopes and curvatures that their searches use: differences of both from their definitions, at"
    " five made-up nodes.",
    "Differences of fourth order over 1e-3 and 4e-3 of numbers known to 1e-14 leave 1e-10 in slopes"
    " and 2e-8 in curvatures.",
    Sabotage("other-node", "S of one node of five is larger by 0.05.", {"moved": 0.05}),
    source="ours", status="exact", kind=IDENTITY, experiment=nodes.derivatives, measure=_off,
    resolution=[1e-9, 1e-8, 1e-6, 1e-9, 1e-8, 1e-6],
    parts=(
        "loss and potential", "its slopes", "its curvatures", "violation", "violation's slopes",
        "violation's curvatures"),
    scales={"quick": Scale(seconds=1)})
