"""Claims on layers in a row: which one selects, what the value reads, and what each costs."""

from functools import partial

import numpy as np

from saccade.lab.claim import Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.lab.kinds import ABOVE, BELOW, ORDERING
from saccade.studies.group_sparse.claims import answers, claim
from saccade.studies.group_sparse.experiments import descent

NAMES = tuple(descent.DEEP)
_deep = partial(
    claim, source="ours; the paper leaves these open", status="heuristic", statistic="median",
    citation=answers("Conclusion", "explored deeper transformer architectures"),
    experiment=descent.architectures, figure="group-sparse/layers",
    scales={"standard": Scale({"variants": NAMES}, repetitions=2, seconds=120)})


def _second_over_first(run: Run) -> np.ndarray:
    """Attention of the second layer on the group minus that of the first; without a residual path
    the first minus the second."""
    first, second = np.moveaxis(np.nan_to_num(run.data.by_layer.values, nan=0.0), -1, 0)
    turned = np.array([-1.0 if name == "no residual path" else 1.0 for name in NAMES])
    return (turned[:, None] * (second - first)).T


SELECTS = _deep(
    "group-sparse.which-layer-selects", "GS-O1",
    "Of two layers with a residual path the second looks more at the relevant group, with and"
    " without LayerNorm and MLP; without a residual path the first does, and the second has nothing"
    " left to select.",
    "Paired in each run, medians; every variant has the same search over three step sizes on other"
    " seeds.", kind=ORDERING, measure=_second_over_first, resolution=0.02, parts=NAMES,
    sabotages=(
        Sabotage("two-steps", "Stop after two steps.", {"steps": 2}),
        Sabotage("one-step", "Stop after one step of a batch of 4.", {"steps": 1, "batch": 4})))

ERRORS = _deep(
    "group-sparse.two-layers-classify", "GS-O1",
    "Two layers classify after 300 steps: the error is below 0.1 for every variant.",
    "Medians over runs; uniform attention errs on 0.366 of the inputs. One layer is at 0.008.",
    "A second layer gains nothing here: the one layer's error is the smallest.", kind=BELOW,
    measure=lambda run: np.nan_to_num(run.data.error.values.T, nan=0.5), predict=lambda run: 0.1,
    resolution=0.0, parts=NAMES,
    sabotages=(Sabotage("two-steps", "Stop after two steps.", {"steps": 2}),))

ALIGNED = ("two layers", "with MLP", "with both")
VALUE = _deep(
    "group-sparse.deep-value-aligns", "GS-O1",
    "In two layers with a residual path the value turns to the true direction: cos(v1, v*) above"
    " 0.95, but for LayerNorm without an MLP, which is not judged.",
    "Medians over runs; an MLP reads along U^T v. LayerNorm alone leaves 0.59 to 0.98.", kind=ABOVE,
    measure=lambda run: run.data.alignment.sel(variant=list(ALIGNED)).values.T,
    predict=lambda run: 0.95, resolution=0.0, parts=ALIGNED,
    sabotages=(
        Sabotage("first-step", "Look after one step of a batch of 4.", {"steps": 1, "batch": 4}),))
