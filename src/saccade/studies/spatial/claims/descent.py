"""Claims on descent: on the population, where association is learned in events and not everywhere;
on samples, over seeds (the realistic problem); and transfer with the attention frozen."""

from functools import partial

import numpy as np

from saccade.lab.claim import Claim, Repair, Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import ABOVE, BELOW, ORDERING
from saccade.studies.spatial.claims import OURS, TWO_STEPS, answers, proxy
from saccade.studies.spatial.experiments import idealised, realistic
from saccade.studies.spatial.experiments.idealised import EVENTS, UNLEARNS
from saccade.studies.spatial.theory.population import label_error

SMALL_SETS = {
    "patches": 64, "set_size": 4, "slope": 1e-4, "diagonal": 1.0, "alpha": 0.01, "eta_v": 1e-3,
    "eta_a": 30.0, "steps": 3000}
QUICK = {"quick": Scale(seconds=4)}
PATH = partial(
    Claim, status="heuristic", kind=ORDERING, experiment=idealised.idealised, scales=QUICK)
AT_EVERY_TIME = (
    "because of the initialization and the data structure, we have patch association for any time t"
)
LITERAL = Sabotage(
    "literal-step", "The paper's single step size, within the same budget of steps.",
    {"eta_a": 1e-3})
AT_REST = Sabotage("attention-at-rest", "A at rest: ties stay ties.", {"eta_a": 0.0})
CROWDED = Sabotage(
    "crowded", "q = 0.9: nearly every patch bears a feature.", {"spurious_rate": 0.9, "steps": 1000}
)


def _gaps(run: Run) -> np.ndarray:
    """Smallest gamma - 5 |rho| and -rho in the second half of the path, which must be positive."""
    half = slice(len(run.data.step) // 2, None)
    gamma, rho = run.data.gamma.values[half], run.data.rho.values[half]
    return one_row([np.min(gamma - 5 * np.abs(rho)), np.min(-rho)])


SAME_FIRST = PATH(
    id="spatial.same-outruns-other", spec="VS-L43", source="Lemma 4.3 (orders only), with numbers",
    citation=proxy(
        f"section 4.1, after Lemma 4.3; {TWO_STEPS}",
        "the increment of gamma(t) is larger than the one of rho(t)"),
    statement="Within sets the attention rises, between sets it falls, and five times less: gamma >"
    " 5 |rho|, rho < 0 (D = 64, C = 4, q = 1/4).", measure=_gaps, resolution=[0.01, 0.001],
    parts=("gamma - 5|rho|", "-rho"),
    argued="Deterministic path on 5000 weighted states; at the end gamma is 5.7 and rho -0.37.",
    figure="spatial/portrait",
    sabotages=(
        Sabotage("small-sets", "C = 2, q = 1/2: association is unlearned.", UNLEARNS), AT_REST))

ALWAYS = PATH(
    id="spatial.association-always-learned", spec="VS-L43",
    source="Lemma 4.3 and Theorem 4.1, read without their orders",
    citation=answers("section 4.1, main insights", AT_EVERY_TIME),
    statement="From gamma = rho = 0 descent makes gamma > rho at all later times, whatever D, C and"
    " q.", measure=lambda run: one_row(run.data.gamma.values[-1] - run.data.rho.values[-1]),
    resolution=0.01,
    argued="Exact population (56 states), 4000 steps at D = 8, C = 2, q = 1/2. The paper assumes"
    " small q and C << D, so this refutes the reading without assumptions, not the paper.",
    expected="refuted", corrected="spatial.same-outruns-other",
    finding="Association can be anti-learned: at D = 8, C = 2, q = 1/2 gamma falls below rho and"
    " stays there; also at D = 64, C = 4 with q = 0.9.",
    scales={"quick": Scale(UNLEARNS, seconds=3)}, sabotages=(),
    repairs=(Repair(
        "larger-sets", "C = 4 of D = 64 patches, q = 1/4.",
        {**SMALL_SETS, "spurious_rate": 0.25}),))


def _floor(run: Run) -> float:
    p = run.parameters
    return label_error(p.patches, p.set_size, p.spurious_rate)


IDEALISED = PATH(
    id="spatial.idealised-associates", spec="VS-T41", source="Theorem 4.1",
    citation=proxy(
        f"Theorem 4.1; {TWO_STEPS}",
        "learns patch association [and] learns the labeling function f* i.e."
        " P[f*(X)F(X) > 0] = 1 - o(1)"),
    statement="Population descent learns association and comes within 0.003 of the error of f* (D ="
    " 64, C = 4, q = 1/4, with a larger step for A than for v).",
    measure=lambda run: one_row([
        run.data.gamma.values[-1] - run.data.rho.values[-1],
        run.parameters.diagonal - run.data.rho.values[-1],
        _floor(run) + 0.003 - run.data.error.values[-1]]),
    resolution=[0.05, 0.05, 0.0005], parts=("gamma - rho", "beta - rho", "error to spare"),
    argued="3000 steps; error 0.0048 on 5000 weighted states, 0.0046 on 100,000, beside 0.0036 of"
    " f*.", figure="spatial/portrait",
    sabotages=(
        LITERAL, CROWDED,
        Sabotage(
            "low-diagonal", "A diagonal below what is learned between sets: beta = -1.",
            {"diagonal": -1.0})))


def _turns(run: Run) -> np.ndarray:
    """I: first peak of alpha over its start; II: gamma gained; the dip; III: the rise from it."""
    alpha, gamma = run.data.alpha.values, run.data.gamma.values
    peak = int(np.argmax(alpha[: max(2, int(np.searchsorted(gamma, 1.0)) + 1)]))
    dip = peak + int(np.argmin(alpha[peak:]))
    return one_row([
        alpha[peak] / alpha[0] - 2, gamma[-1] - gamma[peak] - 1, 0.9 - alpha[dip] / alpha[peak],
        alpha[-1] / alpha[dip] - 1.02])


EVENTS_CLAIM = PATH(
    id="spatial.three-events", spec="VS-EV", source="section 4.1, Lemmas D.2, D.8, D.11",
    citation=proxy(
        f"section 4.1, Events I to III; {TWO_STEPS}",
        "alpha(t) increases again until the population risk becomes a o(1)"),
    statement="alpha rises while gamma rests (I), gamma takes off while alpha dips (II), then alpha"
    " rises again (III), at D = 144, C = 9, q = 1/4.", measure=_turns,
    resolution=[0.1, 0.1, 0.01, 0.005],
    parts=("I: alpha doubles", "II: gamma gains 1", "dip", "III: alpha rises"),
    argued="Deterministic; f* hardly errs here. Asked for: doubling, a gain of 1, a dip of a tenth,"
    " a rise of 2 per cent.", scales={"quick": Scale(EVENTS, seconds=5)}, figure="spatial/events",
    sabotages=(
        Sabotage(
            "literal-step", "The paper's single step size, within the same budget of steps.",
            {"eta_a": 1e-4}),
        Sabotage("small-sets", "C = 4: f* itself errs, and alpha does not rise again.", SMALL_SETS),
        Sabotage("late-start", "alpha starts where Event I would end.", {"alpha": 0.03})))

THIRD_ALWAYS = PATH(
    id="spatial.third-event-always", spec="VS-EV",
    source="Lemma D.11, read where f* errs and without its end",
    citation=answers(
        "Lemma D.11", "Consequently, alpha(t) is non-decreasing until the population risk satisfies"
        " L(A(t), v(t)) <= o(1)"),
    statement="After association is learned alpha increases again whatever D, C and q are, also"
    " where f* errs and however small the risk is by then: at D = 64, C = 4, q = 1/4.",
    measure=lambda run: one_row(
        run.data.alpha.values[-1] / run.data.alpha.values[run.data.gamma.values >= 1].min() - 1.02),
    resolution=0.005,
    argued="alpha at the end over its least value once gamma has passed 1: a rise of 2 per cent is"
    " asked for. The loss at the end is 0.02. The lemma promises a rise only until the risk is"
    " o(1), and the paper has an f* that hardly errs, so this refutes the reading without both,"
    " not the paper.", expected="refuted", corrected="spatial.three-events",
    finding="At D = 64, C = 4, q = 1/4 alpha falls to a third of its peak and never rises again: f*"
    " errs in 0.36 % of images, which caps the margin.", sabotages=(),
    repairs=(Repair("large-sets", "D = 144, C = 9: f* hardly errs.", EVENTS),))

STALLS = PATH(
    id="spatial.literal-step-stalls", spec="VS-T41", source="ours; eq. (GD) has a single step size",
    citation=answers("eq. (GD) and Parametrization 3.1", "where eta > 0 is the learning rate"),
    statement="With one step size for v and A, 3000 steps move gamma by less than a thousandth.",
    kind=BELOW, measure=lambda run: one_row(run.data.final_gamma.values), predict=lambda run: 1e-3,
    resolution=0.0,
    argued="Deterministic; thirty times the step size makes alpha diverge, so the wait cannot be"
    " shortened that way.",
    finding="The paper's single step size is impractical: gamma moves by 1e-4 in 3000 steps. All"
    " our descents give A a larger step than v.",
    scales={"quick": Scale({"eta_a": 1e-3}, seconds=3)},
    sabotages=(Sabotage("own-step", "A step size of its own for A.", {"eta_a": 30.0}),))

BEATS = PATH(
    id="spatial.tie-breaking-helps", spec="VS-P0", source="ours", citation=OURS,
    statement="As soon as gamma exceeds rho the error drops below the linear floor, by breaking"
    " ties, though the loss hardly moves.", status="exact",
    measure=lambda run: one_row([
        run.data.error.values[0] - run.data.error.values[10] - 0.02,
        0.001 - abs(run.data.loss.values[25] - run.data.loss.values[35])]),
    resolution=[0.001, 0.0001], parts=("error drops by 0.02", "loss still"),
    argued="Deterministic: 0.1519 (exact) becomes 0.122, while ten steps of the plateau change the"
    " loss by 3e-4.",
    sabotages=(
        AT_REST,
        Sabotage("hasty", "Ten times the step size of A: the plateau is over.", {"eta_a": 300.0})))

R1_SCALE = Scale({**realistic.R1, "repetitions": 20}, repetitions=1, seconds=400)
FEW = ("N=8", "N=32", "N=128")


def _learned(run: Run) -> np.ndarray:
    """Share of rows that associate above 0.99, error below 0.02, alignment above 0.95, all after
    the last step."""
    last = run.data.isel(step=-1)
    return np.stack([last.row_fraction - 0.99, 0.02 - last.error, last.cosine - 0.95], axis=1)


REALISTIC = Claim(
    id="spatial.realistic-associates", spec="VS-T42", source="Theorem 4.2",
    citation=proxy(
        f"Theorem 4.2; {TWO_STEPS}",
        "With high probability, the model learns patch association [and] fits the"
        " labeling function i.e. P[f*(X)F(X) > 0] = 1 - o(1)"),
    statement="From a random start, full-batch descent on a sample (6000 images of 16 patches;"
    " standard: 12,000 of 36) has found every set after its last step, errs below 2 % and aligns v"
    " with w* above 0.95.", status="heuristic", kind=ORDERING, experiment=realistic.realistic,
    measure=_learned, resolution=[0.05, 0.005, 0.01], statistic="median",
    parts=("all rows", "error", "alignment"),
    argued="Medians over 24 tasks, samples and starts. With 3000 images 2 of 24 lose a row again"
    " before the last step.",
    scales={"quick": Scale({"samples": 6000}, 1, seconds=25), "standard": R1_SCALE},
    figure="spatial/4",
    sabotages=(
        Sabotage(
            "shuffled-labels", "Score against a permuted partition.",
            {"shuffled": True, "repetitions": 20}),
        Sabotage("overfitting", "Train on 120 images only.", {"samples": 120, "repetitions": 20}),
        Sabotage(
            "slow-value", "v hardly moves: a five-hundredth of its step size.",
            {"eta_v": 1e-5, "repetitions": 20})))


def _errors(run: Run, kind: str) -> np.ndarray:
    return run.data.error.sel(kind=kind).values


TRANSFER_SCALES = {
    "quick": Scale(repetitions=1, seconds=30),
    "standard": Scale({**realistic.R1, "test": 8000}, repetitions=1, seconds=90)}
TRANSFERS = partial(
    Claim, status="heuristic", experiment=realistic.transfer, statistic="median",
    scales=TRANSFER_SCALES)

TRANSFER = TRANSFERS(
    id="spatial.transfer-from-few", spec="VS-T51", source="Theorem 5.1",
    citation=proxy(
        f"Theorem 5.1; {TWO_STEPS}", "Using N <= polylog(D) samples, the model (T) transfers to D"),
    statement="With the attention of one pretraining frozen (36 patches), v learned from 8, 32 or"
    " 128 images of a new feature errs within 0.015 of pretraining.", kind=ORDERING,
    measure=lambda run: float(run.data.pretrained_error) + 0.015 - _errors(run, "pretrained"),
    resolution=0.002, parts=FEW,
    argued="Medians over 40 new features, small samples and starts, one pretraining. (From 4 images"
    " some end with the wrong sign.)",
    sabotages=(Sabotage(
        "identity", "Freeze the untrained attention.",
        measure=lambda run: float(run.data.pretrained_error) + 0.015 - _errors(run, "identity"),
    ),))

ONE_STEP = TRANSFERS(
    id="spatial.transfer-one-step", spec="VS-T51", source="proof of Theorem 5.1",
    citation=proxy(
        f"proof of Theorem 5.1; {TWO_STEPS}",
        "even one step of the update using normalized gradient descent on v"
        " can already achieve test accuracy >= 1 - o(1)"),
    statement="One normalised gradient step on 32 images of 36 patches already transfers: error"
    " below 0.03.", kind=BELOW, measure=lambda run: run.data.one_step.values[:, 1],
    predict=lambda run: 0.03, resolution=0.0,
    argued="Median over 40 new features; linear models cannot go below 0.100 here.",
    sabotages=(Sabotage(
        "identity", "Descent with the untrained attention.",
        measure=lambda run: _errors(run, "identity")[:, 1]),))

WITHOUT = TRANSFERS(
    id="spatial.transfer-without-sets", spec="VS-T52", source="Theorem 5.2, for two learners",
    citation=proxy(
        "Theorem 5.2", "a binary classification algorithm without patch association knowledge"
        " [...] needs D^Omega(1) training samples to get test error <= o(1)"),
    statement="Without the partition of 36 patches up to 128 images are not enough for two"
    " learners: the untrained attention, frozen or trained along, errs above 0.08.", kind=ABOVE,
    measure=lambda run: np.concatenate([_errors(run, "identity"), _errors(run, "scratch")], axis=1),
    predict=lambda run: np.full(6, 0.08), resolution=0.0,
    parts=tuple(f"{kind} {few}" for kind in ("frozen", "trained") for few in FEW),
    argued="Medians over 40 new features. The theorem is about all algorithms; these are two.",
    sabotages=(Sabotage(
        "oracle", "Hand over the true sets.",
        measure=lambda run: np.concatenate(
            [_errors(run, "oracle"), _errors(run, "oracle")], axis=1)),))

CHEAT_TRANSFERS = TRANSFERS(
    id="spatial.cheat-transfers", spec="VS-T52x",
    source="ours, against the reading that association is what transfer needs",
    citation=answers("section 5", "learning patch association is required for efficient transfer"),
    statement="The cheating attention, whose overlap with the sets is zero, transfers as well as"
    " the true one, within 0.005.", kind=BELOW,
    measure=lambda run: _errors(run, "cheating") - _errors(run, "oracle"),
    predict=lambda run: [0.005, 0.005, 0.005], resolution=0.0, parts=FEW,
    argued="Paired medians over 40 new features.",
    finding="Transfer needs a grouping of the patches, not association as Definition 2.2 has it:"
    " the cheating attention does as well.",
    sabotages=(Sabotage(
        "identity", "The untrained attention instead.",
        measure=lambda run: _errors(run, "identity") - _errors(run, "oracle")),))
