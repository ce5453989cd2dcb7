"""Claims on large steps of the full layer: what the second one leaves, and a scan over D."""

from functools import partial

import numpy as np

from saccade.lab.claim import Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.lab.fits import slopes
from saccade.lab.kinds import ABOVE, ESTIMATE
from saccade.studies.group_sparse.claims import answers, claim
from saccade.studies.group_sparse.claims.concentration import SHARP
from saccade.studies.group_sparse.experiments import large_steps
from saccade.studies.group_sparse.theory.large_steps import missed_after_two

_large = partial(
    claim, source="ours; answers Theorem 3.2", citation=answers("Theorem 3.2", SHARP),
    figure="group-sparse/schedules")

MISSED = _large(
    "group-sparse.large-step-misses", "GS-T2c",
    "After two steps of the full layer, however large, 1 - S is the chance that a product of"
    " normals passes A(2)/|a(2)|, about sqrt(D)/4: 0.18, 0.34 and 0.29 at D = 4, 16 and 64.",
    "Means over 32 samples of inputs, which leave 0.003 at D = 4 and 0.02 at D = 64; eta = 60 is"
    " within 0.001 of the limit.",
    "The second step makes a gap of order eta^2 D and feature scores of order eta^2 sqrt(D): their"
    " quotient holds no step size, so 1 - S = exp(-Theta(D)) is out of its reach; exp(-Theta(sqrt"
    " D)) is what it leaves, from D of some hundreds on.", status="quadrature", kind=ESTIMATE,
    experiment=large_steps.second_step_attention, statistic="mean",
    measure=lambda run: run.data.one_minus_attention.values.T,
    predict=lambda run: [missed_after_two(int(size)) for size in run.data.groups.values],
    resolution=[0.01, 0.03, 0.03], parts=("D=4", "D=16", "D=64"),
    scales={"quick": Scale(repetitions=2, seconds=2)},
    sabotages=(
        Sabotage("half-features", "What the steps did to W11, halved.", {"feature_speed": 0.5}),
        Sabotage("moderate-step", "A step of 1.", {"step_size": 1.0})))


def _falls(run: Run) -> np.ndarray:
    """Draw by draw the slope of log(1 - S) against D, for the powers at which the position-only
    layer locks."""
    rest = run.data.one_minus_attention.sel(power=slice(0.0, None)).values
    return slopes(run.data.groups.values, np.log(np.maximum(rest, 1e-300)).swapaxes(1, 2)).T


SCAN = _large(
    "group-sparse.full-layer-large-steps", "GS-T2e",
    "Large steps do not give the full layer 1 - S <= exp(-Theta(D)) as they do the position-only"
    " one: with eta ~ D^p, 5 at D = 4 and p = 0 or 1/2, log(1 - S) falls by less than a half per"
    " group after 200 steps (d = 4; D = 4, 8, 12 and 16).",
    "Medians of slopes over draws of the six-number map; the second step alone gives the"
    " position-only layer a fall of eta^2/(8 pi), 1.0 at p = 0 and more at 1/2.",
    "With W11 free log(1 - S) rises with D at p = 0, where ever more draws lose the group or one"
    " query of it, and stands at p = 1/2.", experiment=large_steps.full_large_steps,
    status="heuristic", kind=ABOVE, measure=_falls, predict=lambda run: -0.5, resolution=0.0,
    statistic="median", parts=tuple(f"eta ~ D^{p:g}" for p in (0.0, 0.5)),
    scales={"standard": Scale(repetitions=2, seconds=60)},
    sabotages=(Sabotage("frozen-features", "W11 frozen at zero.", {"feature_speed": 0.0}),))
