"""Claims on two gradient steps: the overlaps they reach, their rate, and the cases where they look
away or hardly look at all."""

from collections.abc import Callable
from functools import partial

import numpy as np

from saccade.lab.claim import Repair, Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.fits import exponents
from saccade.lab.kinds import ESTIMATE, SLOPE
from saccade.studies.sparse_token import calculators, theory
from saccade.studies.sparse_token.claims import common
from saccade.studies.sparse_token.claims.common import PAPER, both_scales, share_of, wrong
from saccade.studies.sparse_token.experiments import same_tokens, steps

QUERY = ("q_signal", "q_norm", "q_cosine")
STATED = ("w_signal", "w_norm", "w_cosine", *QUERY)


def _measured(names: tuple[str, ...]) -> Callable[[Run], np.ndarray]:
    return lambda run: np.stack([run.data[name].values[:, 0] for name in names], 1)


def after_steps(run: Run, alpha: float | None = None, **changes) -> theory.Alignment:
    """The predicted state after the steps of a run, with changes of the setting or of the steps."""
    p = run.parameters
    other = {name: changes.pop(name) for name in ("signal", "positive_rate") if name in changes}
    values = {name: getattr(p, name) for name in ("eta_w", "eta_b", "eta_q", "beta", "loss")}
    after = theory.alignment_after_two_steps(
        common.setting_of(run, **other), alpha or p.samples_per_dim[0], **(values | changes))
    if after.status != "converged":
        raise ArithmeticError(f"quadratures of two sizes differ by {after.accuracy:.2g}")
    return after


def _predicted(names: tuple[str, ...]) -> Callable[..., list[float]]:
    return lambda run, **changes: [getattr(after_steps(run, **changes), name) for name in names]


stated, query = _predicted(STATED), _predicted(QUERY)
stepped = partial(common.estimate, experiment=steps.two_steps)
turned = partial(stepped, measure=_measured(QUERY), predict=query, parts=QUERY)

FIGURE_1 = {
    "informative": 1, "positive_rate": 0.5, "signal": 5.0, "samples_per_dim": (4.0,), "eta_q": 40.0}

OVERLAPS = stepped(
    "sparse-token.two-step-overlaps", "ST-T3",
    "After two gradient steps w and q have the predicted overlaps with the signal, norms and"
    " cosines (setting of Figure 1, alpha0 = 4).",
    "Measured deviations at d = 100 are 8, 6, 3, 13, 13 and 0.6 %; nine of them over sqrt(256),"
    " plus a finite-size error of about 1 %.",
    wrong("other-loss", "Predict with the square loss.", stated, loss="square"),
    wrong("weaker-signal", "Measure at theta = 3.", stated, signal=5.0, at={"signal": 3.0}),
    source=f"Theorem 3, {PAPER}; formulas ours", measure=_measured(STATED), predict=stated,
    resolution=share_of(stated, [0.06, 0.05, 0.03, 0.1, 0.1, 0.01]), parts=STATED,
    scales=both_scales(FIGURE_1 | {"dim": 80}, FIGURE_1, (4, 2), (8, 60)),
    figure="sparse-token/alignment")

LARGE_STEP = {
    "length": 2, "informative": 1, "positive_rate": 0.5, "signal": 3.0, "samples_per_dim": (0.5,),
    "eta_w": 4.0, "loss": "square"}
SELF_INTERACTION = turned(
    "sparse-token.self-interaction", "ST-T3",
    "Each sample meets its own trace in w at the second step; with few tokens, few samples and a"
    " large first step that term makes two fifths of the query.",
    "Measured deviations at d = 200 are 33, 26 and 11 %; nine of them over sqrt(256), plus a"
    " finite-size error of a few per cent.",
    wrong("no-self-interaction", "Drop the term c_y/(alpha0 L).", query, self_interaction=False),
    wrong("other-loss", "Predict with the logistic loss.", query, loss="logistic"),
    source=f"Theorem 3, {PAPER}; the term is ours", resolution=share_of(query, [0.25, 0.2, 0.12]),
    scales=both_scales(LARGE_STEP | {"dim": 200}, LARGE_STEP, (8, 4), (4, 10)),
    finding=(
        "Dropping a sample's own trace in w would predict a query of little more than half the"
        " length (13.6 instead of 22.9 at alpha0 = 1/2, L = 2, eta_w = 4, square loss)."))

ALL_TOKENS = {
    "length": 2, "informative": 2, "positive_rate": 0.2, "signal": 2.0, "samples_per_dim": (4.0,),
    "eta_w": 2.0, "eta_b": 0.3, "eta_q": 10.0, "beta": 0.7, "dim": 80}


def _all_tokens_count(run: Run) -> list[float]:
    """The query if L stood for L - 1 = 1 in its mean (L - 1) E[h] w and in its noise."""
    after = after_steps(run)
    mean = after.q_signal / after.w_cosine  # of the norm, the part along w
    norm = np.sqrt(4 * mean**2 + 2 * (after.q_norm**2 - mean**2))
    return [2 * after.q_signal, norm, 2 * after.q_signal / norm]


NOTHING_TO_CHOOSE = turned(
    "sparse-token.nothing-to-choose", "ST-T3",
    "When all tokens are informative there is nothing to choose, and what is left of the query is"
    " (L - 1) E[h] w and noise, (L - 1) E[h^2] |w|^2 of it: it points away from the signal.",
    "Measured deviations at d = 80 are 19, 11 and 10 %; nine of them over sqrt(256), plus a"
    " finite-size error of one to two per cent.",
    Sabotage(
        "all-l-tokens", "Put L = 2 where L - 1 = 1 belongs: centring the scores costs one token.",
        predict=_all_tokens_count),
    wrong(
        "common-positives", "Measure at pi = 0.6, predict for 0.2.", query, positive_rate=0.2,
        at={"positive_rate": 0.6}),
    wrong("fewer-samples", "Predict for a quarter of the samples.", query, alpha=1.0),
    source=f"Theorem 3, {PAPER}, at R = L; formulas ours",
    resolution=share_of(query, [0.13, 0.08, 0.075]),
    scales=both_scales(ALL_TOKENS, ALL_TOKENS | {"dim": 300}, (8, 4), (2, 10)))

FEW_SAMPLES = {
    "length": 5, "informative": 2, "positive_rate": 0.3, "signal": 4.0, "samples_per_dim": (0.5,),
    "eta_w": 1.4, "eta_b": 0.6, "eta_q": 6.0, "beta": 0.7, "dim": 200, "trials": 128}
EVERYTHING = ("b", *STATED, "sharpness")


def _everything_measured(run: Run) -> np.ndarray:
    sharpness = run.parameters.beta * run.data.q_norm.values[:, 0]
    return np.column_stack([_measured(EVERYTHING[:-1])(run), sharpness])


def everything(run: Run, **changes) -> list[float]:
    """As the calculator says, for the numbers of the run or others."""
    p = run.parameters
    names = (
        "length", "informative", "positive_rate", "signal", "eta_w", "eta_b", "eta_q", "beta",
        "loss")
    values = {name: getattr(p, name) for name in names} | changes
    after = common.asked(calculators.alignment, samples_per_dim=p.samples_per_dim[0], **values)
    if after.status != "converged":
        raise ArithmeticError(f"quadratures of two sizes differ by {after.accuracy:.2g}")
    return [getattr(after, name) for name in EVERYTHING]


GENERIC = stepped(
    "sparse-token.generic-steps", "ST-T3",
    "With few samples (alpha0 = 1/2), two of five tokens informative, rare positives and every step"
    " size its own, bias, overlaps, norms, cosines and sharpness after two steps are as predicted.",
    "Measured deviations at d = 200 are 25, 20, 8, 14, 42, 13 and 30 %; nine of them over"
    " sqrt(1024), plus a finite-size error of 1 to 3 %. Each of the five terms of |q|^2 makes a"
    " fifth of it or more.",
    wrong("other-loss", "Predict with the square loss.", everything, loss="square"),
    wrong("common-positives", "Predict for pi = 0.5.", everything, positive_rate=0.5),
    source=f"Theorem 3, {PAPER}; formulas ours", measure=_everything_measured, predict=everything,
    resolution=share_of(everything, [0.1, 0.09, 0.04, 0.07, 0.17, 0.07, 0.14, 0.07]),
    parts=EVERYTHING, scales=both_scales(FEW_SAMPLES, FEW_SAMPLES | {"dim": 500}, (8, 4), (3, 10)))


def _rate_and_constant(run: Run) -> np.ndarray:
    """Exponent of 1 - |cos q| between two sample sizes (trials paired by number), and alpha0 (1 -
    |cos q|) at the larger; means of four, so that the logarithm of a mean is nearly unbiased."""
    alpha = run.data.samples_per_dim.values
    gap = (1 - np.abs(run.data.q_cosine.values)).reshape(-1, 4, 2).mean(1)
    exponent = np.log(gap[:, 1] / gap[:, 0]) / np.log(alpha[1] / alpha[0])
    return np.stack([exponent, gap[:, 1] * alpha[1]], 1)


def _predicted_rate(run: Run, power: float = -1.0) -> list[float]:
    far = 1e5
    constant = far * (1 - abs(after_steps(run, far).q_cosine))
    return [power, constant * (1 - 1 / run.parameters.dim)]


MANY = {"samples_per_dim": (25.0, 100.0), "dim": 24, "whole": False}
ALIGNMENT_RATE = stepped(
    "sparse-token.alignment-rate", "ST-C1",
    "The misalignment 1 - |cos(q, xi)| falls like C/alpha0, with the predicted C (0.1997 in the"
    " setting of the paper's alignment figure).",
    "At d = 24 one gap fluctuates by 34 %; means of four, 64 of them: 2.1 %, times nine; 1 - 1/d"
    " counts the missing dimension. (The exponent measured between 25 and 100 is -1.05, so the"
    " budget was doubled twice when other draws stayed undecided.)",
    wrong("slower-rate", "Expect 1/sqrt(alpha0).", _predicted_rate, -0.5),
    Sabotage("rare-and-weak", "pi = 0.2, R = 1, theta = 2.", {"informative": 1, "signal": 2.0}),
    source=f"Corollary 1, {PAPER}; the constant is ours", kind=SLOPE, measure=_rate_and_constant,
    predict=_predicted_rate, resolution=[0.16, 0.04], parts=("exponent", "alpha0 times the gap"),
    scales=both_scales(MANY | {"trials": 128}, MANY | {"trials": 512}, (16, 4), (10, 60)),
    figure="sparse-token/alignment")


def _cosine(run: Run, **changes) -> float:
    return after_steps(run, **changes).q_cosine


RARE_WEAK = {
    "informative": 1, "positive_rate": 0.2, "signal": 2.0, "samples_per_dim": (10.0,), "dim": 60}
NEGATIVE = stepped(
    "sparse-token.negative-alignment", "ST-N1",
    "For rare or weak signals the two steps turn the query away from the signal: the cosine is"
    " negative, as predicted.",
    "At d = 60 the cosine fluctuates by 0.09 a trial; nine of that over sqrt(256) is 0.05, plus a"
    " finite-size error below 0.01.",
    wrong(
        "stronger-signal", "Measure at theta = 6, where the query turns to the signal.", _cosine,
        signal=2.0, at={"signal": 6.0}),
    wrong("balanced", "Predict for balanced labels.", _cosine, positive_rate=0.5), source="ours",
    measure=lambda run: run.data.q_cosine.values[:, 0], predict=_cosine, resolution=0.06,
    scales=both_scales(RARE_WEAK, RARE_WEAK | {"dim": 200}, (4, 4), (6, 60)),
    figure="sparse-token/alignment",
    finding=(
        "Two gradient steps can teach attention to look away: at L = 10, pi = 0.2, theta = 2, eta"
        " = 1/2 the cosine tends to -1."))

POSITIVE = common.ordering(
    "sparse-token.always-aligned", "ST-N1",
    "Two gradient steps always align the query positively with the signal.",
    "A cosine below 0.05 is no alignment to speak of; a trial fluctuates by 0.09 at d = 60.",
    repairs=(Repair("stronger-signal", "theta = 6.", {"signal": 6.0}),),
    source=f"reading of the abstract and of Corollary 1, {PAPER}", status="asymptotic",
    experiment=steps.two_steps, measure=lambda run: run.data.q_cosine.values[:, 0], resolution=0.05,
    expected="refuted", corrected="sparse-token.negative-alignment",
    scales={"quick": Scale(RARE_WEAK, repetitions=4, seconds=1)},
    finding=(
        "The alignment is nontrivial but not always positive; its sign is that of pi |E h+|"
        " theta^2 R (1 - R/L) - (L - 1) E h."))


def _differences(run: Run) -> np.ndarray:
    """Attention minus pooling, on the same tokens."""
    pair = np.stack([run.data[name].values for name in ("train_loss", "test_error")], 1)
    return pair[:, :, 0] - pair[:, :, 1]


TINY_QUERY = common.claim(
    "sparse-token.tiny-query-pools", "ST-N2",
    "With step sizes of 1/2 the learned query is so short (0.024) that attention does what pooling"
    " does, to 0.01 in loss and error.",
    "Paired on the same tokens the differences fluctuate by 0.001; what is left is what so short a"
    " query gains, 0.008 in loss and 0.003 in error.",
    Sabotage("sharp-query", "A query of norm 1.", {"sharpness": 1.0}),
    Sabotage(
        "looks-away", "A query of norm 3 that points away.", {"alignment": -0.95, "sharpness": 3.0}
    ),
    source="ours", status="measured", kind=ESTIMATE, statistic="mean",
    experiment=same_tokens.blunt_query, measure=_differences, resolution=0.01,
    parts=("training loss", "test error"), scales={"quick": Scale(repetitions=4, seconds=3)},
    finding=(
        "With eta = 1/2, beta = 1 attention is nearly pooling (test error 0.005 against 0.008);"
        " scores grow like eta_q beta^2, and an eta_q near 40 makes the sharpness of order one."))


def _vanishing(run: Run) -> np.ndarray:
    """Exponents in the norm of the mean distance between attention and pooling."""
    away = [np.abs(run.data[name].values).mean(0) for name in ("train_loss", "test_error")]
    return one_row(exponents(run.data.norm.values, away))


VANISHING_QUERY = common.claim(
    "sparse-token.vanishing-query", "ST-N2",
    "As the query's norm vanishes attention becomes pooling, linearly in the norm: training loss"
    " and test error of fits to the same tokens differ by a power of one (norms 0.0005 to 0.008).",
    "The next term is quadratic: a per cent or two of the difference at a norm of 0.008.",
    Sabotage("long-queries", "Queries of norms 0.5 to 2.", {"norms": (0.5, 1.0, 2.0)}),
    source="ours", status="asymptotic", kind=SLOPE, experiment=same_tokens.vanishing_query,
    measure=_vanishing, predict=lambda run: 1.0, resolution=0.05,
    parts=("training loss", "test error"), scales={"quick": Scale(seconds=2)})
