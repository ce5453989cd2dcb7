"""Claims on population descent: association is learned, in events, and not everywhere."""

from functools import partial

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import BELOW, ORDERING
from saccade.studies.spatial.experiments import idealised
from saccade.studies.spatial.experiments.idealised import EVENTS, UNLEARNS
from saccade.studies.spatial.theory.errors import label_error

SMALL_SETS = {
    "patches": 64, "set_size": 4, "slope": 1e-4, "diagonal": 1.0, "alpha": 0.01, "eta_v": 1e-3,
    "eta_a": 30.0, "steps": 3000}
QUICK = {"quick": Scale(seconds=4)}
PATH = partial(
    Claim, status="heuristic", kind=ORDERING, experiment=idealised.idealised, scales=QUICK)
LITERAL = Sabotage(
    "literal-step", "The paper's single step size, within the same budget of steps.",
    {"eta_a": 1e-3})
CROWDED = Sabotage(
    "crowded", "q = 0.9: nearly every patch bears a feature.", {"spurious_rate": 0.9, "steps": 1000}
)


def _gaps(run: Run) -> np.ndarray:
    """Smallest gamma - |rho| and -rho over the second half of the path, which must be positive."""
    half = slice(len(run.data.step) // 2, None)
    gamma, rho = run.data.gamma.values[half], run.data.rho.values[half]
    return one_row([np.min(gamma - 5 * np.abs(rho)), np.min(-rho)])


SAME_FIRST = PATH(
    id="spatial.same-outruns-other", spec="VS-L43",
    statement="Within sets the attention rises, between sets it falls, and five times less: gamma >"
    " 5 |rho|, rho < 0.", source="Lemma 4.3 (orders only), with numbers", measure=_gaps,
    resolution=[0.01, 0.001],
    argued="Deterministic path on 5000 weighted states; at the end gamma is 5.7 and rho -0.37.",
    parts=("gamma - 5|rho|", "-rho"), figure="spatial/portrait",
    sabotages=(
        Sabotage("small-sets", "C = 2, q = 1/2: association is unlearned.", UNLEARNS), CROWDED))

ALWAYS = PATH(
    id="spatial.association-always-learned", spec="VS-L43",
    statement="From gamma = rho = 0 descent makes gamma > rho at all later times, whatever D, C and"
    " q.", source="Lemma 4.3 and Theorem 4.1, read without their orders",
    measure=lambda run: one_row(run.data.gamma.values[-1] - run.data.rho.values[-1]),
    resolution=0.01, argued="Exact population (56 states), 4000 steps at D = 8, C = 2, q = 1/2.",
    expected="refuted",
    finding="Association can be anti-learned: at D = 8, C = 2, q = 1/2 gamma falls below rho and"
    " stays there; also at D = 64, C = 4 with q = 0.9.", corrected="spatial.same-outruns-other",
    scales={"quick": Scale(UNLEARNS, seconds=3)},
    sabotages=(Sabotage(
        "crowded", "D = 16, C = 2, q = 0.9.",
        {"patches": 16, "spurious_rate": 0.9, "eta_v": 0.001, "alpha": 0.05}),))


def _floor(run: Run) -> float:
    p = run.parameters
    return label_error(p.patches, p.set_size, p.spurious_rate)


IDEALISED = PATH(
    id="spatial.idealised-associates", spec="VS-T41",
    statement="Population descent learns association and comes within 0.003 of the error of f*.",
    source="Theorem 4.1",
    measure=lambda run: one_row([
        run.data.gamma.values[-1] - run.data.rho.values[-1],
        run.parameters.diagonal - run.data.rho.values[-1],
        _floor(run) + 0.003 - run.data.error.values[-1]]),
    resolution=[0.05, 0.05, 0.0005],
    argued="D = 64, C = 4, q = 1/4, 3000 steps; error 0.0048 on 5000 weighted states, 0.0046 on"
    " 100,000, beside 0.0036 of f*.", parts=("gamma - rho", "beta - rho", "error to spare"),
    figure="spatial/portrait", sabotages=(LITERAL, CROWDED))


def _turns(run: Run) -> np.ndarray:
    """I: first peak of alpha over its start; II: gamma gained; the dip; III: the rise from it."""
    alpha, gamma = run.data.alpha.values, run.data.gamma.values
    peak = int(np.argmax(alpha[: max(2, int(np.searchsorted(gamma, 1.0)) + 1)]))
    dip = peak + int(np.argmin(alpha[peak:]))
    return one_row([
        alpha[peak] / alpha[0] - 2, gamma[-1] - gamma[peak] - 1, 0.9 - alpha[dip] / alpha[peak],
        alpha[-1] / alpha[dip] - 1.02])


EVENTS_CLAIM = PATH(
    id="spatial.three-events", spec="VS-EV",
    statement="alpha rises while gamma rests (I), gamma takes off while alpha dips (II), then alpha"
    " rises again (III).", source="section 4.1, Lemmas D.2, D.8, D.11", measure=_turns,
    resolution=[0.1, 0.1, 0.01, 0.005],
    argued="Deterministic; D = 144, C = 9, where f* hardly errs. Asked for: doubling, a gain of 1,"
    " a dip of a tenth, a rise of 2 per cent.",
    parts=("I: alpha doubles", "II: gamma gains 1", "dip", "III: alpha rises"),
    figure="spatial/events", scales={"quick": Scale(EVENTS, seconds=5)},
    sabotages=(
        Sabotage(
            "literal-step", "The paper's single step size, within the same budget of steps.",
            {"eta_a": 1e-4}),
        Sabotage("small-sets", "C = 4: f* itself errs, and alpha does not rise again.", SMALL_SETS),
    ))

THIRD_ALWAYS = PATH(
    id="spatial.third-event-always", spec="VS-EV",
    statement="After association is learned alpha increases again.",
    source="Lemma D.11, without its orders",
    measure=lambda run: one_row(
        run.data.alpha.values[-1] / run.data.alpha.values[len(run.data.step) * 3 // 4 :].min()
        - 1.02),
    resolution=0.005,
    argued="D = 64, C = 4, q = 1/4; alpha over the last quarter of the (logarithmic) record, of"
    " which a rise of 2 per cent is asked for.", expected="refuted",
    finding="At D = 64, C = 4, q = 1/4 alpha falls to a third of its peak and never rises again: f*"
    " errs in 0.36 % of images, which caps the margin.", corrected="spatial.three-events",
    sabotages=(Sabotage("crowded", "q = 0.4.", {"spurious_rate": 0.4, "eta_v": 3e-4}),))

STALLS = PATH(
    id="spatial.literal-step-stalls", spec="VS-T41",
    statement="With one step size for v and A, 3000 steps move gamma by less than a thousandth.",
    source="ours; eq. (GD) has a single step size", kind=BELOW,
    measure=lambda run: one_row(run.data.final_gamma.values), predict=lambda run: 1e-3,
    resolution=0.0,
    argued="Deterministic; thirty times the step size makes alpha diverge, so the wait cannot be"
    " shortened that way.",
    finding="The paper's single step size is impractical: gamma moves by 1e-4 in 3000 steps. All"
    " our descents give A a larger step than v.",
    scales={"quick": Scale({"eta_a": 1e-3}, seconds=3)},
    sabotages=(Sabotage("own-step", "A step size of its own for A.", {"eta_a": 30.0}),))

BEATS = PATH(
    id="spatial.tie-breaking-helps", spec="VS-P0",
    statement="As soon as gamma exceeds rho the error drops below the linear floor, by breaking"
    " ties, though the loss hardly moves.", source="ours", status="exact",
    measure=lambda run: one_row([
        run.data.error.values[0] - run.data.error.values[10] - 0.02,
        0.001 - abs(run.data.loss.values[25] - run.data.loss.values[35])]),
    resolution=[0.001, 0.0001],
    argued="Deterministic: 0.1519 (exact) becomes 0.122, while ten steps of the plateau change the"
    " loss by 3e-4.", parts=("error drops by 0.02", "loss still"),
    sabotages=(Sabotage("literal-step", "A at rest: ties stay ties.", {"eta_a": 0.0}),))
