"""Claims on 1 - S <= exp(-Theta(D)) when step size and time may change with D."""

from functools import partial

import numpy as np

from saccade.lab.claim import Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.fits import slopes
from saccade.lab.kinds import SLOPE
from saccade.studies.group_sparse.claims import answers, claim
from saccade.studies.group_sparse.claims.concentration import SHARP
from saccade.studies.group_sparse.experiments import schedules

FROZEN = Sabotage("frozen-attention", "Attention frozen at uniform.", {"encoding_factor": 0.0})
_on_schedules = partial(
    claim, source="ours; answers Theorem 3.2", citation=answers("Theorem 3.2", SHARP), kind=SLOPE,
    figure="group-sparse/schedules")
_on_map = partial(_on_schedules, experiment=schedules.schedules)


def _powers_of_d(run: Run, name: str = "one_minus_attention") -> np.ndarray:
    """Slope of the logarithm against log D, schedule by schedule."""
    return one_row(slopes(np.log(run.data.groups.values), np.log(run.data[name].values)))


def _by_late_law(run: Run) -> np.ndarray:
    """k of the late law is of order eta^(-2/3) D^(-1/3), so 1 - S is of order
    (eta t)^(-2/3) D^(-1/3)."""
    return -(1 + 2 * run.data.p.values + 2 * run.data.q.values) / 3


BY_SCHEDULE = _on_map(
    "group-sparse.concentration-by-schedule", "GS-T2e",
    "With steps that keep eta D <= 16 and grow or fall as D^p, and D^q of them, 1 - S of the"
    " position-only layer falls as the power -(1 + 2p + 2q)/3 of D, also for the D^3 steps of the"
    " paper's T*: never as exp(-Theta(D)).",
    "No chance; the late law's constant is D^(-1/3) up to 1/D, which leaves 0.04 in the"
    " exponents between D = 32 and 128.", status="asymptotic", measure=_powers_of_d,
    predict=_by_late_law, resolution=0.08,
    parts=tuple(f"eta ~ D^{p:g}, t ~ D^{q:g}" for p, q in schedules.POWERS),
    scales={"quick": Scale(seconds=3), "standard": Scale(seconds=60)},
    sabotages=(
        FROZEN, Sabotage("early", "Look after 200 steps, before the late law.", {"steps": 200})))

RATE = 0.3


def _fall_per_group(run: Run) -> np.ndarray:
    """Slope of log(1 - S) + log(D)/3 against D."""
    sizes = run.data.groups.values
    falls = np.log(run.data.one_minus_attention.values) + np.log(sizes) / 3
    return one_row(slopes(sizes, falls))


EXPONENTIAL_TIME = _on_map(
    "group-sparse.exponential-time-is-enough", "GS-T2e",
    "At a small fixed step 1 - S = exp(-Theta(D)) does come after exp(Theta(D)) steps: with"
    " t ~ e^(0.3 D), log(1 - S) + log(D)/3 falls by two thirds of 0.3 per group.",
    "No chance; a tenth of the rate, which is what 900 steps at D = 8 leave.", status="asymptotic",
    measure=_fall_per_group, predict=lambda run: -2 / 3 * RATE, resolution=0.02,
    scales={"quick": Scale(
        {
            "powers": ((0.0, 0.0),), "groups": (8, 12, 16, 20), "rate": RATE, "steps": 32_000,
            "step_size": 0.4},
        seconds=3)},
    sabotages=(
        FROZEN, Sabotage("same-time", "The same number of steps at every D.", {"rate": 0.0})))

LARGE_POWERS = ((-0.25, 0.0), (0.0, 0.0), (0.5, 0.0))
LARGE = {"powers": LARGE_POWERS, "groups": (32, 64, 128, 256), "steps": 400, "step_size": 6.0}
LOCKING = _on_map(
    "group-sparse.locking-by-schedule", "GS-T2e",
    "With steps far above the stability rule, eta ~ D^p, the second step locks the position-only"
    " layer with a gap that grows as D^(1 + 2p): exp(-Theta(D)) belongs to a large step that does"
    " not change with D, and other powers give other exponents.",
    "No chance; (D+1)^2/D is D up to 2/D, which leaves 0.03 in the exponents from D = 32 on.",
    status="exact", measure=lambda run: _powers_of_d(run, "gap"),
    predict=lambda run: 1 + 2 * run.data.p.values, resolution=0.06,
    parts=tuple(f"eta ~ D^{p:g}" for p, _ in LARGE_POWERS),
    scales={"quick": Scale(LARGE, seconds=2)},
    sabotages=(Sabotage("small-step", "A step of 0.05 at D = 32.", {"step_size": 0.05}),))


def _full(run: Run) -> np.ndarray:
    """Draw by draw: slope of log(1 - S) against log D at the end, and against log time, D by D."""
    falls = np.log(run.data.one_minus_attention.values)
    by_size = slopes(np.log(run.data.groups.values), falls[:, :, 1].T)
    by_time = (falls[:, :, 1] - falls[:, :, 0]).T / np.log(4)
    return np.column_stack([by_size, by_time])


FULL = _on_schedules(
    "group-sparse.full-layer-by-schedule", "GS-T2e",
    "With W11 free too (d = 4; eta = 1.6/D, 600 steps) 1 - S falls as a power of time near -2/3 and"
    " grows with D: as in the position-only layer, whose exponent of D is 0.71 at these sizes and"
    " 1/3 in the limit.",
    "Draw by draw of the six-number map, medians, which scatter by 0.01; 600 steps and D = 4"
    " to 12 are short of the limit. The exponent of D was read off a first run.",
    experiment=schedules.full_schedules, status="heuristic", measure=_full,
    predict=lambda run: [0.65, -2 / 3, -2 / 3, -2 / 3], resolution=0.12, statistic="median",
    parts=("exponent of D", "of time, D=4", "of time, D=8", "of time, D=12"),
    scales={"standard": Scale(repetitions=4, seconds=60)},
    sabotages=(Sabotage("early", "Look after 8 steps.", {"steps": 8}),))
