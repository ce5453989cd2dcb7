"""The claims that descent of every weight, with batches and online, is what the study says."""

from functools import partial

import numpy as np

from saccade.lab.claim import Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import IDENTITY
from saccade.studies.group_sparse.claims import claim
from saccade.studies.group_sparse.experiments import online, weights

LEARNERS = ("both move", "v1 alone moves", "logistic")
WHAT = ("first weight", "last weight", "online error", "test error")
_exact = partial(claim, source="ours", kind=IDENTITY, resolution=1e-10)

STEPS = _exact(
    "group-sparse.online-steps", "GS-D0",
    "Online descent from a selector, with W moving or frozen, and of logistic regression is descent"
    " of the logistic loss, sample by sample, each judged before it is learned from.",
    "The same stream through another program, automatic derivatives; rounding.",
    experiment=online.online_steps, measure=lambda run: one_row(run.data.run.values),
    predict=lambda run: run.data.plain.values.ravel(),
    parts=tuple(f"{who}, {what}" for who in LEARNERS for what in WHAT),
    scales={"quick": Scale(seconds=6)},
    sabotages=(
        Sabotage("square-loss", "The loop descends the square loss.", {"loss": "square"}),
        Sabotage("all-of-v", "The loop lets v2 move as well.", {"only_features": False})))


def _both(run: Run, road: str) -> np.ndarray:
    """What is watched by one road: step by step from zero, then of the two layers."""
    first, second = ("run", "deep") if road == "run" else ("plain", "deep_plain")
    return np.append(run.data[first].values.ravel(), run.data[second].values)


WEIGHTS = _exact(
    "group-sparse.weights-by-loop", "GS-D0",
    "Descent of every weight, on fresh batches from zero or on one sample with W at a speed of its"
    " own (two layers, residual path, LayerNorm and MLP), is descent of the mean logistic loss; and"
    " loss, error, alignment, attention of every layer on every group, |v1|, |v2| and the four"
    " blocks of every W are those of their definitions, at the steps asked for in their order.",
    "The same samples through another program, automatic derivatives of the definition; rounding.",
    experiment=weights.weights_by_loop, measure=lambda run: one_row(_both(run, "run")),
    predict=lambda run: _both(run, "loop"),
    parts=tuple(f"{what}, step {step}" for step in weights.RECORD for what in weights.WATCHED)
    + tuple(f"two layers: {what}" for what in weights.DEEPER), scales={"quick": Scale(seconds=4)},
    sabotages=(
        Sabotage("other-order", "The loop looks after 2, 4 and 0 steps.", {"record": (2, 4, 0)}),
        Sabotage("full-speed", "The loop moves W as fast as v.", {"told_speed": 1.0}),
        Sabotage("other-sample", "The loop learns from another sample.", {"sample": "another"})))
