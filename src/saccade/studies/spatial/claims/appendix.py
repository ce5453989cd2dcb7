"""Claims on the appendix's inequalities: those that hold, and two that fail as written."""

from functools import partial

from saccade.lab.claim import Claim, Measure, Sabotage, Scale, one_row
from saccade.lab.kinds import ABOVE, BELOW
from saccade.studies.spatial.experiments import inequalities

QUICK = {"quick": Scale(seconds=0.5)}
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
    statement="0.1 log(1 + e^-x) <= s(-x) <= 10 log(1 + e^-x) for x > 0 (in truth between 0.72 and"
    " 1).", experiment=inequalities.logistic_inequalities, measure=_room("ratio"),
    sabotages=(Sabotage("negative", "x from -30 on.", {"lowest": -30.0}),))

POWER_WRITTEN = BETWEEN(
    id="spatial.power-slope-as-written", spec="VS-K5", source="Lemma K.5 as written",
    statement="0.1/C+ log(1 + e^(-a^p)) <= a^(p-1)/(1 + e^(a^p)) <= 10/C- log(1 + e^(-a^p)) for C-"
    " < a < C+.", experiment=inequalities.power_inequalities, measure=_room("as_written"),
    argued="C- and C+ may close in on a, so a times the middle over the logarithm must lie in [0.1,"
    " 10]; a from 0.05 to 3, p = 3.", expected="refuted", corrected="spatial.power-slope",
    finding="Lemma K.5 loses a factor a^p: its lower bound fails for small a (a^p below about"
    " 0.13), its upper for a^p above 10.",
    sabotages=(Sabotage("fifth-power", "Take the fifth power, p = 5.", {"degree": 5}),))

POWER = BETWEEN(
    id="spatial.power-slope", spec="VS-K5",
    source="Lemma K.5, corrected by us; follows from Lemma K.6",
    statement="With the factor a^p on both outer sides the inequalities of Lemma K.5 hold.",
    experiment=inequalities.power_inequalities, measure=_room("with_power"),
    sabotages=(Sabotage("lost-factor", "Leave the factor out.", measure=_room("as_written")),))

LOG_PRODUCT = AT_MOST_ONE(
    id="spatial.log-product", spec="VS-K7", source="Lemma K.7",
    statement="log(1 + x y) <= (1 + y) log(1 + x) for 0 < y <= x.",
    experiment=inequalities.log_product, measure=_largest("ratio"), argued=GRID,
    sabotages=(Sabotage("without-one", "y log(1 + x) on the right.", {"extra": 0.0}),))

TENSOR = AT_MOST_ONE(
    id="spatial.tensor-power-time", spec="VS-K1", source="Lemma K.1",
    statement="A sequence that grows by between m z^k and M z^k passes v within Lemma K.1's time.",
    experiment=inequalities.tensor_power, measure=_largest("ratio"),
    argued="60 random (k, m, M, start, v), half of them growing as slowly as allowed; the largest"
    " ratio seen was 0.30.",
    sabotages=(Sabotage("tenth", "A tenth of the bound.", {"tight": 0.1}),))

COUNT_IN_IMAGE = AT_MOST_ONE(
    id="spatial.busy-in-image", spec="VS-K3",
    source="Lemma K.3, the inequality in its proof (denominator 3, our reading of a damaged one)",
    statement="The number of busy patches among D - C exceeds its mean by a share eps with"
    " probability at most e^(-mean eps^2/3).", experiment=inequalities.count_tails,
    measure=_largest("many"),
    sabotages=(Sabotage("twice-the-rate", "e^(-2 mean eps^2) on the right.", {"strength": 6.0}),))

COUNT_IN_SET = AT_MOST_ONE(
    id="spatial.busy-in-set", spec="VS-K4", source="Lemma K.4, eq. (241)",
    statement="k or more of the C patches of a random set are busy with probability at most 2^C"
    " q^k.", experiment=inequalities.count_tails, measure=_largest("few"),
    sabotages=(Sabotage("base-one", "q^k alone on the right.", {"base": 1.0}),))

SOFTMAX = AT_MOST_ONE(
    id="spatial.softmax-lipschitz", spec="VS-E17", source="Lemma E.17",
    statement="|softmax(a)_i - softmax(b)_i| <= (e^(2 max|a-b|) - 1) softmax(a)_i.",
    experiment=inequalities.softmax_lipschitz, measure=_largest("softmax"), resolution=1e-9,
    argued=RATIO + " Half of the cases come as close to 1 as can be.",
    sabotages=(Sabotage("exponent-one", "e^(max|a-b|) on the right.", {"factor": 1.0}),))

POWERED_WRITTEN = AT_MOST_ONE(
    id="spatial.powered-average-as-written", spec="VS-E16", source="Lemma E.16 as written",
    statement="|psi(x) - psi(y)| <= psi(x) (e^(2(p-1) max|x-y|) - 1) for psi = (D sum_m S_m <v,"
    " X_m>)^(p-1), whatever the patches.", experiment=inequalities.softmax_lipschitz,
    measure=_largest("power"), resolution=1e-9, expected="refuted",
    corrected="spatial.powered-average",
    finding="Lemma E.16 needs <v, X_m> of one sign (its mediant inequality does): with both signs"
    " psi(x) may vanish while psi(y) does not.",
    scales={"quick": Scale({"mixed_signs": True}, seconds=0.5)},
    sabotages=(Sabotage("fifth-power", "Take the fifth power, p = 5.", {"degree": 5}),))

POWERED = AT_MOST_ONE(
    id="spatial.powered-average", spec="VS-E16", source="Lemma E.16, corrected by us",
    statement="Lemma E.16's inequality holds when all <v, X_m> have one sign.",
    experiment=inequalities.softmax_lipschitz, measure=_largest("power"), resolution=1e-9,
    sabotages=(Sabotage("mixed-signs", "Values of both signs.", {"mixed_signs": True}),))

SIGMOID = AT_MOST_ONE(
    id="spatial.sigmoid-lipschitz", spec="VS-E12", source="Lemma E.12",
    statement="x -> s(-sum_m x_m^p) has a gradient of norm at most p where every x_m^p >= -1/D (in"
    " truth at most about p/4).", experiment=inequalities.sigmoid_lipschitz,
    measure=_largest("ratio"),
    argued="2000 random points in up to 40 dimensions; the largest gradient seen was 0.26 p.",
    sabotages=(Sabotage("tenth", "A tenth of the bound.", predict=lambda run: 0.1),))

SLOPE = AT_MOST_ONE(
    id="spatial.activation-slope", spec="VS-D7",
    source="eq. (21) of Lemma D.7 and eq. (80) of Lemma E.8",
    statement="sigma'(z) <= 3/2 p z^(p-1) where z^(p-1) >= 2 nu/p, and sigma'(z) <= 3 nu where it"
    " is below.", experiment=inequalities.activation_slope,
    measure=lambda run: one_row(
        [run.data.above.values.max() / 1.5, run.data.below.values.max() / 3]),
    resolution=1e-12, parts=("power part", "linear part"), argued=GRID,
    sabotages=(Sabotage("across", "Both ranges moved across the edge.", {"shift": 0.3}),))

PLANTED = AT_MOST_ONE(
    id="spatial.planted-set-hides", spec="VS-T52", source="proof of Theorem 5.2, with numbers",
    statement="A planted set of C positive patches hides among look-alikes: the laws are within 0.6"
    " at q m = C^2, and 0.2 at C^3.", status="exact", experiment=inequalities.planted_set,
    measure=lambda run: one_row(run.data.distance.values[1:]), predict=lambda run: [0.6, 0.2],
    parts=("C^2", "C^3"),
    argued="Exact sums at C = 9, q = 0.2; the paper says o(1) when q m = poly(C), which here needs"
    " a power above 2.",
    sabotages=(Sabotage("too-few", "q m = C^1.2 and C^1.5.", {"exponents": (1.0, 1.2, 1.5)}),))
