"""Claims on what the appendix states as orders in D, over images with the attention at rest, at C =
4 patches a set and q D = C^2 busy ones. A statement of orders is judged by exponents: it holds if
the ratio of its two sides does not depend on D, and is refuted by a power of D."""

from functools import partial

import numpy as np

from saccade.lab.claim import Claim, Measure, Repair, Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.lab.fits import slopes
from saccade.lab.kinds import ABOVE, BELOW, SLOPE
from saccade.studies.spatial.claims import answers, scaled
from saccade.studies.spatial.experiments import orders

QUICK = {"quick": Scale(seconds=1)}
MEDIANS = "Medians of 40 samples of 500 images at D = 36, 64, 144 and 324."
AT_REST = partial(
    Claim, status="asymptotic", experiment=orders.orders_at_rest, statistic="median",
    argued=MEDIANS, scales=QUICK, figure="spatial/orders")
D_5 = scaled(
    "Lemma D.5 (with D.3 and E.6)",
    "sum over i outside S_l(X) of y<w*, O_i>^p <= o(lambda0)^p [with lambda0 = Theta(D^0.01)]")
D_1 = scaled("Lemma D.1", "alpha = O(1)/(C^2 lambda0) [with lambda0 = Theta(D^0.01)]")
G_3 = scaled(
    "Lemma G.3", "with high probability [...] Lambda + (C-1) Gamma + y Xi sum delta_r ="
    " Theta(Lambda + (C-1) Gamma)")
BLIND = "Hide the signal set from all other patches, as the proof of Lemma D.6 does."


def _exponents(*names: str, over: str | None = None) -> Measure:
    """Exponents in D, by sample; `over`: of the ratio to the p-th power of another column."""

    def measure(run: Run) -> np.ndarray:
        sums = run.data["sum"]
        logs = np.log(np.abs(sums.sel(of=list(names)).values))
        if over:
            powers = [run.parameters.degree if "linear" not in name else 1 for name in names]
            logs = logs - np.log(sums.sel(of=over).values)[..., None] * powers
        return slopes(np.log(run.data.size.values), np.moveaxis(logs, 1, -1))

    return measure


def _growth(run: Run) -> np.ndarray:
    """How much the other patches' sums gain from the least D to the largest, in signal sums."""
    sums = run.data["sum"].values
    return (sums[:, -1] - sums[:, 0])[:, [1, 3]] / sums[:, 0][:, [0, 2]]


SMALL = AT_REST(
    id="spatial.others-stay-small", spec="VS-D5", source="Lemmas D.3, D.5 and E.6", citation=D_5,
    statement="From D = 36 to 324 the sums over the patches outside the signal set (of p-th and of"
    " first powers) gain less than what the signal set gives.", kind=BELOW, measure=_growth,
    predict=lambda run: 0.0, resolution=1.0, parts=("p-th powers", "first powers"),
    expected="refuted", corrected="spatial.others-grow",
    finding="The D - C other patches all see the signal set through Xi C y: their sum is D times a"
    " constant, not o(D^0.03), and outweighs the signal set's fifty-fold at D = 324.", sabotages=(),
    repairs=(Repair("blind", BLIND, {"others": "blind"}),))

GROW = AT_REST(
    id="spatial.others-grow", spec="VS-D5", source="Lemmas D.3, D.5 and E.6, corrected by us",
    citation=answers(D_5.place, D_5.words),
    statement="With the attention at rest the sums over the patches outside the signal set grow in"
    " proportion to D.", kind=SLOPE, measure=_exponents("others", "linear others"),
    predict=lambda run: [1.0, 1.0], resolution=0.2, parts=("p-th powers", "first powers"),
    argued=MEDIANS + " D - C in place of D adds 0.06 to the exponents.",
    sabotages=(Sabotage(
        "associated", "gamma = 5: patches hardly see other sets, the less the fewer there are.",
        {"gamma": 5.0}),))

SIGNAL = AT_REST(
    id="spatial.signal-sum", spec="VS-D4", source="Lemmas D.4 and E.5",
    citation=scaled("Lemma D.4 (with E.5)", "y<w*, O_i>^p = Theta(G)^p [...] S = C Theta(G)^p"),
    statement="What the signal set's patches get goes with the gain: the sum of p-th powers over C"
    " G^p, and that of first powers over C G, do not depend on D.", kind=SLOPE,
    measure=_exponents("signal", "linear signal", over="gain"), predict=lambda run: [0.0, 0.0],
    resolution=0.15, parts=("p-th powers", "first powers"),
    argued=MEDIANS + " The ratios are 2.3 to 2.5 and 1.",
    sabotages=(
        Sabotage("crowded", "q fixed: q D grows with D.", {"busy_power": 1.0}),
        Sabotage(
            "all-patches", "Sum over all other patches instead.",
            measure=_exponents("others", "linear others", over="gain"))))

THRESHOLD = AT_REST(
    id="spatial.threshold-fixed", spec="VS-D1", source="Lemma D.1 (used in D.2, D.9 and D.12)",
    citation=D_1,
    statement="The alpha at which the sigmoid leaves one half (mean 0.4) does not fall with D"
    " faster than D^-0.01.", kind=ABOVE, measure=_exponents("threshold"), predict=lambda run: -0.01,
    resolution=0.05, expected="refuted", corrected="spatial.threshold-falls",
    finding="The other patches bring the sigmoid down first: the threshold falls like D^(-1/p).",
    sabotages=(),
    repairs=(Repair("signal-alone", "Leave the other patches out.", {"others": "none"}),))

FALLS = AT_REST(
    id="spatial.threshold-falls", spec="VS-D1", source="Lemma D.1, corrected by us",
    citation=answers(D_1.place, D_1.words),
    statement="The alpha at which the sigmoid leaves one half falls like D^(-1/p).", kind=SLOPE,
    measure=_exponents("threshold"), predict=lambda run: -1 / 3, resolution=0.05,
    sabotages=(
        Sabotage("signal-alone", "Leave the other patches out.", {"others": "none"}),
        Sabotage("fifth-power", "p = 5 in the model.", {"degree": 5})))

DOMINATES = AT_REST(
    id="spatial.gain-dominates", spec="VS-G3", source="Lemma G.3", citation=G_3,
    statement="At the start what a signal patch gets is within a half of the gain G in nine images"
    " of ten.", kind=BELOW, measure=lambda run: run.data.off.values, predict=lambda run: 0.1,
    resolution=0.0, parts=("D=36", "D=64", "D=144", "D=324"), expected="refuted",
    corrected="spatial.gain-dominates-later",
    finding="With e^beta = 2.7 the spurious signals, which spread by (q D)^(1/2) = C, put half of"
    " the images outside, at every D: the lemma needs e^beta above twice poly(C) log d.",
    sabotages=(), repairs=(Repair("large-diagonal", "beta = 4: e^beta is 55.", {"diagonal": 4.0}),))

LATER = AT_REST(
    id="spatial.gain-dominates-later", spec="VS-G3", source="Lemma G.3, once gamma has grown",
    citation=answers(G_3.place, G_3.words),
    statement="With gamma = 3 what a signal patch gets is within a half of the gain G in 99 images"
    " of 100.", kind=BELOW, measure=lambda run: run.data.off.values, predict=lambda run: 0.01,
    resolution=0.0, parts=("D=36", "D=64", "D=144", "D=324"),
    scales={"quick": Scale({"gamma": 3.0}, seconds=1)},
    sabotages=(Sabotage("at-rest", "gamma = 0.", {"gamma": 0.0}),))

REACH = AT_REST(
    id="spatial.reach", spec="VS-G4", source="Lemma G.4",
    citation=scaled(
        "Lemma G.4", "Lambda + (C-1) Gamma + Xi sum |delta_r| <= Theta(1) with high probability"),
    statement="Lambda + (C-1) Gamma + Xi sum |delta| stays below 1 in every image (the weights of a"
    " row sum to one, so it must).", status="bound", kind=BELOW,
    measure=lambda run: run.data.reach.values.max(axis=1), predict=lambda run: 1.0, resolution=0.0,
    sabotages=(Sabotage(
        "twice", "Count the weight of the spurious patches twice.",
        measure=lambda run: (run.data.reach + run.data.weight).values.max(axis=1)),))
