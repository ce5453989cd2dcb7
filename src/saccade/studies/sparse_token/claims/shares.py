"""Claims on the attention map itself while it is trained: the share of the informative tokens."""

from functools import partial

import numpy as np

from saccade.lab.claim import Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import IDENTITY
from saccade.studies.sparse_token import theory
from saccade.studies.sparse_token.claims import common
from saccade.studies.sparse_token.claims.common import PAPER, both_scales, wrong
from saccade.studies.sparse_token.claims.steps import after_steps
from saccade.studies.sparse_token.dynamics import joint_descent
from saccade.studies.sparse_token.experiments import shares

mapped = partial(common.estimate, experiment=shares.informative_shares)


def _even(run: Run, informative: int | None = None) -> float:
    return (informative or run.parameters.informative) / run.parameters.length


UNMOVED = common.claim(
    "sparse-token.map-before", "ST-T3",
    "Before training and after the first step, which leaves the query where it is, attention is"
    " even: R/L of it lies on the informative tokens.",
    "Softmax weights of zero scores, to rounding; at w = 0 the gradient of q is zero.",
    wrong("one-more", "Expect the share of three tokens.", _even, 3),
    Sabotage(
        "read-out-first", "Start the read-out along the signal: the first step turns the query.",
        {"start_along": 0.5}),
    source=f"Theorem 3, {PAPER}", kind=IDENTITY, experiment=shares.informative_shares,
    measure=lambda run: one_row([
        np.max(np.abs(run.data[name].values - _even(run))) + _even(run)
        for name in shares.STAGES[:2]]),
    predict=_even, resolution=1e-12, parts=shares.STAGES[:2], scales={"quick": Scale(seconds=0.3)},
    figure="sparse-token/maps")


def _predicted(run: Run, **changes) -> list[float]:
    """Share and chance of the first place, from the overlaps after two steps."""
    after = after_steps(run, run.parameters.samples_per_dim, **changes)
    other = {name: changes[name] for name in ("signal", "positive_rate") if name in changes}
    setting = common.setting_of(run, **other)
    seen = theory.informative_share(setting, after.q_cosine, after.sharpness)
    return [seen.share, seen.first]


def _shares(run: Run) -> np.ndarray:
    return np.stack([run.data[name].values for name in shares.SHARES[2:]], 1)


TURNED = mapped(
    "sparse-token.map-after-two", "ST-T3",
    "After the second step attention has turned to the informative tokens as the overlaps of the"
    " query predict: their share of it on fresh positive samples, and how often one of them comes"
    " first (R = 2 of 6, pi = 0.4, theta = 3).",
    "A trained query's share fluctuates by 0.05 and its hits by 0.03; nine of that over sqrt(256),"
    " and 0.01 for the finite size.",
    wrong("other-loss", "Predict with the square loss.", _predicted, loss="square"),
    wrong(
        "weaker", "Measure at theta = 2, predict for 3.", _predicted, signal=3.0, at={"signal": 2.0}
    ),
    source=f"Theorem 3, {PAPER}; formulas ours", measure=_shares, predict=_predicted,
    resolution=[0.04, 0.03], parts=("share after two steps", "an informative token first"),
    scales=both_scales({}, {}, (4, 2), (1, 20)), figure="sparse-token/maps")

RARE = {
    "length": 8, "informative": 1, "positive_rate": 0.2, "signal": 2.0, "samples_per_dim": 8.0,
    "eta_q": 60.0, "dim": 48, "trials": 128}
TURNED_AWAY = mapped(
    "sparse-token.map-looks-away", "ST-N1",
    "Where two steps turn the query away (R = 1 of 8, pi = 0.2, theta = 2) attention avoids the"
    " informative token, by as much as the overlaps predict.",
    "A trained query's share fluctuates by 0.02, its hits by 0.05; nine of that over sqrt(256).",
    wrong("balanced", "Predict for balanced labels.", _predicted, positive_rate=0.5),
    Sabotage("even", "Expect an even map.", predict=lambda run: [_even(run)] * 2), source="ours",
    measure=_shares, predict=_predicted, resolution=[0.02, 0.04],
    parts=("share after two steps", "informative token first"),
    scales=both_scales(RARE, RARE | {"dim": 300}, (4, 2), (1, 20)),
    finding="Two steps can halve the attention on the one informative token of a positive sample.")


def _joint(run: Run) -> np.ndarray:
    """What the explorer shows of the same descent, at the same stops."""
    p, data = run.parameters, run.data
    along = joint_descent(data.X.values, data.y.values, p.step_size, p.decay, p.steps)
    return np.column_stack(along)[list(p.stops)].ravel()


JOINT = common.claim(
    "sparse-token.joint-by-hand", "ST-O2",
    "The descent that the explorer shows moves query, read-out and bias together along the slopes"
    " written out by hand, its steps falling like eta/(1 + decay t); the inverse temperature stays"
    " 1.", "Rounding of sums of a few dozen terms of order one.",
    Sabotage("a-step-late", "By hand the schedule is one step further.", {"late": 1}),
    source="ours", kind=IDENTITY, experiment=shares.joint_by_hand,
    measure=lambda run: one_row(run.data.state.values), predict=_joint, resolution=1e-12)
