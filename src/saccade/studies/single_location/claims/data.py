"""Claims on the data and the predictors: what norms tell, who wins at the truth, attention as
softmax, several informative tokens."""

import numpy as np

from saccade.lab.claim import Claim, Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import ESTIMATE, IDENTITY, ORDERING
from saccade.studies.single_location import theory
from saccade.studies.single_location.experiments import simulation
from saccade.studies.single_location.theory import Setting

CHANCE = Claim(
    id="single-location.norm-at-chance", spec="SL-G1",
    statement=(
        "With gamma^2 = 1/2 the token of largest norm is the informative one exactly as often as"
        " chance, one time in L."),
    source="Section 2.1, read literally", status="heuristic", kind=ESTIMATE,
    experiment=simulation.norm_baseline, measure=lambda run: run.data.hit.values,
    predict=lambda run: 1 / run.parameters.length, resolution=0.01,
    argued="A tenth of the chance level.", statistic="fraction", expected="refuted",
    scales={"quick": Scale(repetitions=8, seconds=3)},
    finding=(
        "Norms are not quite uninformative: squared norms have equal means but spreads 1.5 d and 2"
        " d, so the largest of ten tokens is the informative one in 7.9 % of cases (d = 80), less"
        " than chance."),
    corrected="single-location.norm-hit-rate",
    sabotages=(Sabotage(
        "gamma-one", "gamma = 1: the informative token is longer.", parameters={"gamma": 1.0}),))

NORM = Claim(
    id="single-location.norm-hit-rate", spec="SL-G1",
    statement=(
        "Choosing the token of largest norm finds the informative one with the probability given by"
        " two chi-square laws; below chance at gamma^2 = 1/2."),
    source="Section 2.1; the formula is ours", status="quadrature", kind=ESTIMATE,
    experiment=simulation.norm_baseline, measure=lambda run: run.data.hit.values,
    predict=lambda run: theory.largest_norm_hit_rate(
        run.parameters.dim, run.parameters.length, run.parameters.gamma),
    resolution=0.01, argued="Exact at every dimension; 0.01 is half of its distance from chance.",
    statistic="fraction", scales={"quick": Scale(repetitions=8, seconds=3)},
    sabotages=(
        Sabotage("chance", "Predict one in L.", predict=lambda run: 1 / run.parameters.length),))

PREDICTORS = Claim(
    id="single-location.predictor-order", spec="SL-E1",
    statement="At the true directions argmax beats softmax, and softmax beats erf, at d = 80.",
    source="Section 3, steps 1 to 3", status="heuristic", kind=ORDERING,
    experiment=simulation.predictors, measure=lambda run: np.diff(run.data.risk.values, axis=1),
    predict=lambda run: [0.0, 0.0], resolution=[2e-4, 0.05],
    argued=(
        "Paired on the same samples; softmax at lambda = 1 has risk 0.0013, erf 4.18 by the closed"
        " form."),
    statistic="mean", parts=("softmax - argmax", "erf - softmax"),
    scales={"quick": Scale(repetitions=4, seconds=2)},
    sabotages=(Sabotage(
        "flat-softmax", "lambda = 0.02: softmax hardly looks.",
        parameters={"inverse_temperature": 0.02}),))

ATTENTION = Claim(
    id="single-location.attention-is-softmax", spec="SL-A1",
    statement=(
        "A single-head attention layer read at [CLS] is the softmax predictor with inverse"
        " temperature lambda (x_CLS . Q)."),
    source="Section 3, eqs. (4)-(5)", status="exact", kind=IDENTITY,
    experiment=simulation.attention_layer, measure=lambda run: one_row(run.data.layer.values),
    predict=lambda run: run.data.softmax.values, resolution=1e-13,
    argued="The same sums in another order, of size below 100.",
    finding=(
        "The equality needs [CLS] kept out of its own keys; left in, it takes part of the"
        " attention."),
    sabotages=(Sabotage(
        "cls-among-keys", "Keep [CLS] among the keys and values.", parameters={"keep_cls": True}
    ),))


def _spread_theory(run: Run, forget: bool = False) -> list[float]:
    p = run.parameters
    setting = Setting(p.dim, p.length, p.inverse_temperature, p.gamma)
    return [
        float(theory.spread_manifold_risk(1.0, 1.0, setting, 1 if forget else m))
        for m in p.informative]


SPREAD = Claim(
    id="single-location.spread-information", spec="SL-M1",
    statement=(
        "With m informative tokens the one-location predictor at the truth has a closed-form risk:"
        " where erf saturates it loses gamma^2 (sqrt(m) - 1)^2 - (m - 1) zeta(0, lambda^2)."),
    source="extension named in Section 7; closed form ours", status="exact", kind=ESTIMATE,
    experiment=simulation.spread, measure=lambda run: run.data.risk.values, predict=_spread_theory,
    resolution=lambda run: 0.05 * np.array(_spread_theory(run)),
    argued="Exact at every dimension; 5 % of the risk is what the budget of samples tells apart.",
    statistic="mean", parts=("m=1", "m=2", "m=3", "m=4"),
    scales={"quick": Scale(repetitions=8, seconds=4)},
    finding=(
        "Spread over m tokens, the target is overshot: the predictor adds the m tokens at full"
        " weight where 1/sqrt(m) is right. It loses gamma^2 (sqrt(m)-1)^2, less the noise (m-1)"
        " zeta(0, lambda^2) of the uninformative tokens that they replace."),
    sabotages=(Sabotage(
        "one-location", "Predict the risk of one informative token.",
        predict=lambda run: _spread_theory(run, True)),))
