"""Claims on the appendix's inequalities: those that hold, and two that fail as written."""

from functools import partial

import numpy as np

from saccade.lab.claim import Claim, Measure, Repair, Sabotage, Scale, one_row
from saccade.lab.kinds import ABOVE, BELOW, SLOPE
from saccade.studies.spatial.claims import answers, exactly, proxy, scaled
from saccade.studies.spatial.experiments import inequalities

QUICK = {"quick": Scale(seconds=0.5)}
SHARP = 0.5 / np.log(2)  # s(-x) over log(1 + e^-x) at x = 0
LEMMA_K5 = "the following inequality holds: 0.1/C+ log(1 + e^(-a^p)) <= a^(p-1)/(1 + e^(a^p))"
LEMMA_E16 = "|psi(x) - psi(y)| <= psi(x) |e^(2(p-1) max|x_c - y_c|) - 1|"
GRID = "A grid, so the extreme ratio is what counts; the slack covers rounding."
RATIO = "Left side over right side must stay at or below 1 in every case tried."

BETWEEN = partial(
    Claim, status="bound", kind=ABOVE, resolution=0.0, argued=GRID, parts=("lower", "upper"),
    scales=QUICK)
AT_MOST_ONE = partial(
    Claim, status="bound", kind=BELOW, predict=lambda run: 1.0, resolution=0.0, argued=RATIO,
    scales=QUICK)


def _largest(name: str) -> Measure:
    return lambda run: one_row(run.data[name].values.max())


def _room(name: str) -> Measure:
    """How far ratios stay above 0.1 and below 10."""
    return lambda run: one_row(
        [run.data[name].values.min() - 0.1, 10 - run.data[name].values.max()])


LOGISTIC = BETWEEN(
    id="spatial.loss-and-slope", spec="VS-K6", source="Lemma K.6",
    citation=exactly(
        "Lemma K.6, eq. (245)", "0.1 log(1 + exp(-x)) <= S(-x) <= 10 log(1 + exp(-x))"),
    statement="0.1 log(1 + e^-x) <= s(-x) <= 10 log(1 + e^-x) for x > 0 (in truth between 0.72 and"
    " 1).", experiment=inequalities.logistic_inequalities, measure=_room("ratio"),
    sabotages=(
        Sabotage("negative", "x from -30 on.", {"lowest": -30.0}),
        Sabotage("mirrored", "s(x) in the middle in place of s(-x).", {"mirrored": True})))

LOGISTIC_SHARP = BETWEEN(
    id="spatial.loss-and-slope-sharp", spec="VS-K6", source="Lemma K.6, sharpened by us",
    citation=answers(
        "Lemma K.6, eq. (245)", "0.1 log(1 + exp(-x)) <= S(-x) <= 10 log(1 + exp(-x))"),
    statement="s(-x) lies between log(1 + e^-x) / (2 log 2) and log(1 + e^-x) for x > 0, and comes"
    " within 1e-6 of both.", experiment=inequalities.logistic_inequalities,
    measure=lambda run: one_row([
        run.data.ratio.values.min() - SHARP, 1 - run.data.ratio.values.max(),
        SHARP + 1e-6 - run.data.ratio.values.min(), run.data.ratio.values.max() - 1 + 1e-6]),
    resolution=1e-12, parts=("above", "below", "touched below", "touched above"),
    sabotages=(
        Sabotage("negative", "x from -30 on.", {"lowest": -30.0}),
        Sabotage("mirrored", "s(x) in the middle in place of s(-x).", {"mirrored": True}),
        Sabotage("short", "x from 1 to 2 only.", {"lowest": 1.0, "highest": 2.0})))

POWER_WRITTEN = BETWEEN(
    id="spatial.power-slope-as-written", spec="VS-K5", source="Lemma K.5 as written",
    citation=exactly("Lemma K.5", LEMMA_K5),
    statement="0.1/C+ log(1 + e^(-a^p)) <= a^(p-1)/(1 + e^(a^p)) <= 10/C- log(1 + e^(-a^p)) for C-"
    " < a < C+.", experiment=inequalities.power_inequalities, measure=_room("as_written"),
    argued="C- and C+ may close in on a, so a times the middle over the logarithm must lie in [0.1,"
    " 10]; a from 0.05 to 3, p = 3.", expected="refuted", corrected="spatial.power-slope",
    finding="Lemma K.5 loses a factor a^p: its lower bound fails for small a (a^p below about"
    " 0.13), its upper for a^p above 10.", sabotages=(),
    repairs=(Repair(
        "with-factor", "Restore the factor a^p on both outer sides.",
        measure=_room("with_power")),))

POWER = BETWEEN(
    id="spatial.power-slope", spec="VS-K5",
    source="Lemma K.5, corrected by us; follows from Lemma K.6",
    citation=answers("Lemma K.5", LEMMA_K5),
    statement="With the factor a^p on both outer sides the inequalities of Lemma K.5 hold.",
    experiment=inequalities.power_inequalities, measure=_room("with_power"),
    sabotages=(Sabotage("lost-factor", "Leave the factor out.", measure=_room("as_written")),))

LOG_PRODUCT = AT_MOST_ONE(
    id="spatial.log-product", spec="VS-K7", source="Lemma K.7",
    citation=exactly("Lemma K.7", "log(1 + xy) <= (1 + y) log(1 + x)"),
    statement="log(1 + x y) <= (1 + y) log(1 + x) for 0 < y <= x.",
    experiment=inequalities.log_product, measure=_largest("ratio"), argued=GRID,
    sabotages=(Sabotage("without-one", "y log(1 + x) on the right.", {"extra": 0.0}),))

TENSOR = AT_MOST_ONE(
    id="spatial.tensor-power-time", spec="VS-K1", source="Lemma K.1",
    citation=exactly("Lemma K.1", "T = 3/(m z(0)^(k-1)) + 2^k M/m ceil(log(v/z(0))/log 2)"),
    statement="A sequence that grows by between m z^k and M z^k passes v within Lemma K.1's time.",
    experiment=inequalities.tensor_power, measure=_largest("ratio"),
    argued="60 random (k, m, M, start, v), half of them growing as slowly as allowed; the largest"
    " ratio seen was 0.32, since such a sequence needs 1/((k-1) m z0^(k-1)) steps.",
    sabotages=(
        Sabotage("no-first-term", "Leave out the term 3/(m z0^(k-1)).", {"first": 0.0}),
        Sabotage("first-of-a-quarter", "1/4 in place of the 3.", {"first": 0.25})))

COUNT_IN_IMAGE = AT_MOST_ONE(
    id="spatial.busy-in-image", spec="VS-K3",
    source="Lemma K.3, the inequality in its proof (denominator 3, our reading of a damaged one)",
    citation=proxy("proof of Lemma K.3, eq. (240)", "we apply a Chernoff bound to obtain"),
    statement="The number of busy patches among D - C exceeds its mean by a share eps with"
    " probability at most e^(-mean eps^2/3).", experiment=inequalities.count_tails,
    measure=_largest("many"),
    sabotages=(Sabotage("twice-the-rate", "e^(-2 mean eps^2) on the right.", {"strength": 6.0}),))

COUNT_IN_SET = AT_MOST_ONE(
    id="spatial.busy-in-set", spec="VS-K4", source="Lemma K.4, eq. (241)",
    citation=exactly("proof of Lemma K.4, eq. (241)", "P[Delta >= k] <= 2^C q^k"),
    statement="k or more of the C patches of a random set are busy with probability at most 2^C"
    " q^k.", experiment=inequalities.count_tails, measure=_largest("few"),
    sabotages=(Sabotage("base-one", "q^k alone on the right.", {"base": 1.0}),))

SOFTMAX = AT_MOST_ONE(
    id="spatial.softmax-lipschitz", spec="VS-E17", source="Lemma E.17",
    citation=exactly(
        "Lemma E.17", "|softmax(a)_i - softmax(b)_i| <= |e^(2 max|b_k - a_k|) - 1| softmax(a)_i"),
    statement="|softmax(a)_i - softmax(b)_i| <= (e^(2 max|a-b|) - 1) softmax(a)_i.",
    experiment=inequalities.softmax_lipschitz, measure=_largest("softmax"), resolution=1e-9,
    argued=RATIO + " Half of the cases come as close to 1 as can be.",
    sabotages=(Sabotage("exponent-one", "e^(max|a-b|) on the right.", {"factor": 1.0}),))

POWERED_WRITTEN = AT_MOST_ONE(
    id="spatial.powered-average-as-written", spec="VS-E16", source="Lemma E.16 as written",
    citation=exactly("Lemma E.16", LEMMA_E16),
    statement="|psi(x) - psi(y)| <= psi(x) (e^(2(p-1) max|x-y|) - 1) for psi = (D sum_m S_m <v,"
    " X_m>)^(p-1), whatever the patches.", experiment=inequalities.softmax_lipschitz,
    measure=_largest("power"), resolution=1e-9, expected="refuted",
    corrected="spatial.powered-average",
    finding="Lemma E.16 needs <v, X_m> of one sign (its mediant inequality does): with both signs"
    " psi(x) may vanish while psi(y) does not.",
    scales={"quick": Scale({"mixed_signs": True}, seconds=0.5)}, sabotages=(),
    repairs=(Repair("one-sign", "All <v, X_m> of one sign.", {"mixed_signs": False}),))

POWERED = AT_MOST_ONE(
    id="spatial.powered-average", spec="VS-E16", source="Lemma E.16, corrected by us",
    citation=answers("Lemma E.16", LEMMA_E16),
    statement="Lemma E.16's inequality holds when all <v, X_m> have one sign.",
    experiment=inequalities.softmax_lipschitz, measure=_largest("power"), resolution=1e-9,
    sabotages=(Sabotage("mixed-signs", "Values of both signs.", {"mixed_signs": True}),))

SIGMOID = AT_MOST_ONE(
    id="spatial.sigmoid-lipschitz", spec="VS-E12", source="Lemma E.12",
    citation=exactly("Lemma E.12", "Assume that x_m^p >= -1/D. Then, psi is p-Lipschitz"),
    statement="x -> s(-sum_m x_m^p) has a gradient of norm at most p where every x_m^p >= -1/D (in"
    " truth at most about p/4).", experiment=inequalities.sigmoid_lipschitz,
    measure=_largest("ratio"),
    argued="2000 random points in up to 40 dimensions; the largest gradient seen was 0.26 p.",
    sabotages=(Sabotage("farther-down", "Allow every x_m^p down to -100/D.", {"allowed": 100.0}),))

ACTIVATION = AT_MOST_ONE(
    id="spatial.activation-slope", spec="VS-D7",
    source="eq. (21) of Lemma D.7 and eq. (80) of Lemma E.8",
    citation=exactly(
        "proof of Lemma E.8, eq. (80), and of Lemma D.7, eq. (21)",
        "p x^(p-1) + nu <= 3 nu; |x| <= (2 nu/p)^(1/(p-1))"),
    statement="sigma'(z) <= 3/2 p z^(p-1) where z^(p-1) >= 2 nu/p, and sigma'(z) <= 3 nu where it"
    " is below.", experiment=inequalities.activation_slope,
    measure=lambda run: one_row(
        [run.data.above.values.max() / 1.5, run.data.below.values.max() / 3]),
    resolution=1e-12, parts=("power part", "linear part"), argued=GRID,
    sabotages=(Sabotage("across", "Both ranges moved across the edge.", {"shift": 0.3}),))

HIDES = scaled(
    "proof of Theorem 5.2", "We can easily see that as long as qm = poly(C), then TV(D1, D2) = o(1)"
)
POWERS = ("C^2", "C^2.5", "C^3")

PLANTED = AT_MOST_ONE(
    id="spatial.planted-set-hides", spec="VS-T52", source="proof of Theorem 5.2, with numbers",
    citation=HIDES,
    statement="A planted set of C = 64 positive patches hides among look-alikes: the laws are"
    " within 0.5 at q m = C^2, 0.19 at C^2.5 and 0.07 at C^3.", status="exact",
    experiment=inequalities.planted_set,
    measure=lambda run: one_row(run.data.distance.values[:, -1]),
    predict=lambda run: [0.5, 0.19, 0.07], parts=POWERS, argued="Exact sums at q = 0.2.",
    sabotages=(Sabotage(
        "fewer", "A power less by a half: C^1.5, C^2, C^2.5.", {"exponents": (1.5, 2.0, 2.5)}),))

PLANTED_TREND = Claim(
    id="spatial.planted-set-trend", spec="VS-T52",
    source="proof of Theorem 5.2; the exponent is ours", citation=HIDES,
    statement="At q m = C^e the distance of the laws falls like C^(1 - e/2) (C = 16, 32, 64): it"
    " vanishes for powers above 2, and not at C^2.", status="asymptotic", kind=SLOPE,
    experiment=inequalities.planted_set, measure=lambda run: one_row(run.data.slope.values),
    predict=lambda run: 1 - np.asarray(run.parameters.exponents) / 2, resolution=0.01, parts=POWERS,
    argued="Exact sums; the slopes of three sizes miss the limit by 0.006 at most, half of what"
    " those from 8, 16, 32 do.", scales=QUICK,
    finding="poly(C) must mean a power above 2: at q m = C^2 the distance stays at 0.498.",
    sabotages=(Sabotage(
        "fewer", "q m grows by half a power less than is predicted.",
        {"exponents": (1.5, 2.0, 2.5)}, predict=lambda run: [0.0, -0.25, -0.5]),))
