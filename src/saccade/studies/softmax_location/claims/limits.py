"""Limits by their trend: how the laws of large dimension, of saturation and of many tokens are
neared, with fitted exponents."""

from typing import Any

import numpy as np

from saccade.lab.claim import Sabotage, one_row
from saccade.lab.experiment import Run
from saccade.lab.fits import exponents, slopes
from saccade.lab.kinds import SLOPE
from saccade.studies.softmax_location import theory
from saccade.studies.softmax_location.claims import answers, changed, claim, quick
from saccade.studies.softmax_location.claims.definitions import at_truth
from saccade.studies.softmax_location.claims.landscape import saturated_law
from saccade.studies.softmax_location.claims.oracle import bayes_at, off_the_laws
from saccade.studies.softmax_location.experiments import oracle, states, sums


def _approach(run: Run, gamma: float | None = None) -> np.ndarray:
    """The rate at which the distance of the best lambda falls, times sqrt d, up to d = 160, over
    its law; the exponents of the other two distances from d = 400 on."""
    dims, away = np.array(run.parameters.dims), np.abs(off_the_laws(run, gamma) - 1)
    few, many = dims <= 160, dims >= 400
    rate = slopes(dims[few], np.log(away[few, 0] * np.sqrt(dims[few])))
    law = theory.best_inverse_temperature_gap(run.parameters.gamma)
    return one_row([-rate / law, *exponents(dims[many], away[many, 1:].T)])


DIMS = {"dims": (80.0, 100.0, 120.0, 160.0, 400.0, 800.0, 1600.0), "gamma": 0.8}
APPROACH = claim(
    id="softmax-location.approach-in-dimension", spec="SM-14",
    statement="The distance to these laws falls like 1/d for the two ratios of risks, and for the"
    " best lambda like d^-1/2 exp(-d/(4 (1 + gamma^2)(1 + 2 gamma^2))) (gamma = 0.8).",
    status="asymptotic", kind=SLOPE, experiment=oracle.best_oracle, measure=_approach,
    predict=lambda run: [1.0, -1.0, -1.0], resolution=[0.05, 0.03, 0.03],
    argued="Next orders: 1/d of the exponent, which is 1 % at d = 400, and 2 % of the rate at d ="
    " 100. At d = 160 the distance of lambda is 4e-6; beyond, rounding takes over.",
    parts=("best lambda", "over argmax", "best score"), scales=quick(DIMS),
    finding="The best lambda nears sqrt(2d)/(1 + gamma^2) exponentially fast in d: two tokens of"
    " equal scores decide to all orders of 1/d.",
    sabotages=(
        changed("kept", "Keep lambda = 5 as d grows.", kept=5.0),
        Sabotage(
            "other-gamma", "gamma = 1.3 in the laws.", measure=lambda run: _approach(run, 1.3))))


def _at_threshold(run: Run, beside: float = 0.0) -> np.ndarray:
    """Exponents in d of the distances of the risks from gamma^2/2: softmax, at lambda = m and at
    its best, and Bayes, maybe `beside` its capacity."""
    p = run.parameters
    bayes = bayes_at(run, float(theory.bayes_capacity(p.gamma)) + beside)
    risks = np.stack([run.data.fixed.values[0], run.data.best.values[0], bayes])
    return one_row(exponents(p.dims, np.abs(risks - p.gamma**2 / 2)))


LARGE: dict[str, Any] = {"dims": (160.0, 320.0, 640.0, 1280.0), "rates": (0.25,), "gamma": 0.8}
AT_CAPACITY = claim(
    id="softmax-location.capacity-at-threshold", spec="SM-15, SM-C3",
    statement="At capacity, L = exp(d/4) for softmax and exp(r d) for Bayes, the risks near"
    " gamma^2/2 like d^-1/2 (gamma = 0.8, d from 160 to 1280).", status="asymptotic", kind=SLOPE,
    experiment=oracle.capacity, measure=_at_threshold, predict=lambda run: -0.5, resolution=0.05,
    argued="Scores fluctuate by sqrt d around the threshold, over which a few tokens' worth is"
    " smoothed; the next order is d^-1, 0.03 of the exponent here.",
    parts=("softmax, lambda = m", "softmax, best lambda", "Bayes"), scales=quick(LARGE, seconds=2),
    sabotages=(Sabotage(
        "beside", "Rates smaller by 0.01.", parameters={"rates": (0.24,)},
        measure=lambda run: _at_threshold(run, -0.01)),))


def _below(run: Run) -> np.ndarray:
    """By rate: how fast risk sqrt(d) falls with d, over its law."""
    p = run.parameters
    risks = run.data.best.values * np.sqrt(p.dims)
    laws = [theory.softmax_rate(rate, p.gamma) for rate in run.data.rate.values]
    return one_row(-slopes(p.dims, np.log(risks)) / laws)


BELOW_CAPACITY = claim(
    id="softmax-location.capacity-rate", spec="SM-15, SM-C3",
    statement="Below capacity, with L = exp(r d) tokens, the least risk of softmax at the truth"
    " falls exponentially in d, at the rate (sqrt(1/2) - sqrt(2r))^2/(2 gamma^2) (gamma = 0.8, r ="
    " 0.18 and 0.2).", status="asymptotic", kind=SLOPE, experiment=oracle.capacity, measure=_below,
    predict=lambda run: 1.0, resolution=0.06,
    argued="Up to a power of d, taken as -1/2; a power wrong by 0.2 moves the fit by 4 %.",
    parts=("r=0.18", "r=0.2"),
    scales=quick({"dims": (640.0, 960.0, 1280.0), "rates": (0.18, 0.2), "gamma": 0.8}, seconds=2),
    sabotages=(changed("same-length", "Keep the tokens of the first dimension.", grow=False),))

SERIES = tuple((d, n, 0.9) for n in (10.0, 30.0) for d in (800.0, 1200.0, 1600.0, 2400.0))


def _saturated(run: Run, pairs: bool = True) -> np.ndarray:
    """By length: the exponent in d of the relative distance of the curvature from its law."""
    away = np.abs(run.data.curvature.values / saturated_law(run, pairs) - 1).reshape(2, -1)
    return one_row(exponents([case[0] for case in SERIES[:4]], away))


SATURATED = claim(
    id="softmax-location.saturated-approach", spec="SM-7",
    statement="The curvature at the truth nears its law of saturated softmax like 1/d (lambda ="
    " 0.9, gamma = 0.75, d from 800 to 2400).", status="asymptotic", kind=SLOPE,
    experiment=states.oracle_curvature, measure=_saturated, predict=lambda run: -1.0,
    resolution=0.12,
    argued="The order after 1/d bends the exponent by 0.08; beyond d = 2400 differences of numbers"
    " of order exp(-60) lose their digits.", parts=("L=10", "L=30"),
    scales=quick({"cases": SERIES, "gamma": 0.75}),
    sabotages=(Sabotage(
        "no-pairs", "Leave out the pairs of other tokens.",
        measure=lambda run: _saturated(run, False)),))

LEARNERS = tuple(name for name in sums.NAMES[:6] if name != "argmax")


def _what_is_left(run: Run, lengths: tuple[float, ...] = (1e6, 1e8, 1e10)) -> np.ndarray:
    """By predictor: the exponent in L of the relative distance from the risk of predicting zero,
    the one farthest from -1 among the cases with gamma up to 1."""
    _, _, gamma, noise = run.data.setting.values.T
    null = (gamma**2 + noise**2)[:, None]
    away = np.stack([np.abs(1 - at_truth(run, length=length)[:, :6] / null) for length in lengths])
    kept = away[:, gamma <= 1][..., [sums.NAMES.index(name) for name in LEARNERS]]
    found = exponents(lengths, np.moveaxis(kept, 0, -1))
    return one_row([column[np.argmax(np.abs(column + 1))] for column in found.T])


MANY = claim(
    id="softmax-location.hopeless-approach", spec="SM-15",
    statement="Far beyond capacity what the best predictors and softmax gain on predicting zero"
    " falls like 1/L (two and four dimensions, gamma = 0.6 and 1, L from 10^6 to 10^10).",
    status="asymptotic", kind=SLOPE, experiment=sums.two_at_the_truth, measure=_what_is_left,
    predict=lambda run: -1.0, resolution=0.01,
    argued="The next order is 1/L^2; risks are good to 1e-13, of gains of 1e-10.", parts=LEARNERS,
    sabotages=(Sabotage(
        "few", "Two, four and eight tokens.",
        measure=lambda run: _what_is_left(run, (2.0, 4.0, 8.0))),))


def _crossings(run: Run, shift: float = 0.0) -> np.ndarray:
    """By gamma and rival: the exponent in L of the distance of the crossing from its limit."""
    gammas = run.data.gamma.values
    limits = np.array([[theory.null_threshold(g), theory.erf_threshold(g)] for g in gammas])
    away = np.abs(run.data.dim.values - limits[..., None] - shift)
    return one_row(exponents(run.data.length.values, away))


CROSSINGS = claim(
    id="softmax-location.erf-wins-limit", spec="SM-16",
    statement="As L grows, softmax at its best lambda beats predicting zero from the dimension on"
    " where 2 gamma^2 exp(d/(4(3 - gamma^2))) passes 1, and erf at its best lambda a little later,"
    " where its gain over L passes erf's, gamma^4 d/2; both are neared like 1/L.",
    citation=answers(
        "Section 3, step 3",
        "this simplification of softmax using a component-wise nonlinearity has"
        " been shown not to degrade performance"),
    status="asymptotic", kind=SLOPE, experiment=oracle.crossings, measure=_crossings,
    predict=lambda run: -1.0, resolution=0.06,
    argued="Gains of order 1/L are compared, with corrections of 1/L; crossings are good to 1e-6.",
    parts=tuple(
        f"gamma^2={square}, {rival}" for square in (0.1, 0.06) for rival in ("null", "erf")),
    scales=quick(seconds=2),
    finding="With ever more tokens at gamma^2 = 0.1 erf beats softmax at the truth up to d = 19:"
    " the crossing is at 19.012, softmax beats predicting zero from 18.67 on.",
    sabotages=(
        Sabotage("shifted", "Limits larger by 0.05.", measure=lambda run: _crossings(run, 0.05)),))
