"""Claims on the weight of the noise tokens in a softmax, term by term: shared by many of them, and
held by the largest few."""

from dataclasses import replace

import numpy as np
from scipy.special import gammaln
from scipy.stats import norm

from saccade.lab.claim import Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.fits import exponents
from saccade.lab.kinds import SLOPE
from saccade.studies.sparse_token import theory
from saccade.studies.sparse_token.claims import common
from saccade.studies.sparse_token.claims.common import both_scales, wrong
from saccade.studies.sparse_token.experiments import noise


def _columns(run: Run, more: tuple[str, ...] = ()) -> np.ndarray:
    """Mean log sums by count, and `more` of the run; by name: stored runs have another order."""
    names = [*(f"noise {count}" for count in run.parameters.counts), *more]
    return np.stack([run.data[name].values for name in names], 1)


def _shared(run: Run, more: int = 0, spread: bool = True) -> list[float]:
    """Log sums of the noise, then log odds; with `more` noise tokens, or by log N + k^2/2 alone."""
    p, setting = run.parameters, common.setting_of(run)

    def log_sum(count: int, k: float) -> float:
        return theory.mean_log_noise(count, k) if spread else float(np.log(count) + k**2 / 2)

    k, others = p.odds_sharpness, setting.length - setting.informative
    odds = theory.mean_log_odds(replace(setting, length=setting.length + more), k)
    if not spread:
        odds += theory.mean_log_noise(others, k) - log_sum(others, k)
    counts = zip(p.counts, p.sharpness, strict=True)
    return [*(log_sum(count + more, value) for count, value in counts), odds]


SHARED = common.estimate(
    "sparse-token.noise-shared", "ST-T2",
    "Where many noise tokens share their weight, its mean logarithm over N tokens is log N + k^2/2"
    " - (e^{k^2} - 1)/(2 N) (20 tokens at k = 1, 60 at 1.2), and the log odds of three informative"
    " tokens of 43 are against the 40 others (theta = 2.3, k = 1.2).",
    "Next terms are 0.005, 0.003 and 0.007; log sums of a sample fluctuate by 0.3, 0.2 and 0.3,"
    " five of that over sqrt(64000) is 0.004 to 0.007. The spread alone is 0.043, 0.027 and 0.040.",
    wrong("no-spread", "Predict log N + k^2/2, without the spread.", _shared, spread=False),
    wrong("three-more", "Count the three informative tokens as noise too.", _shared, more=3),
    source="ours", experiment=noise.summed_noise, measure=lambda run: _columns(run, ("odds",)),
    predict=_shared, resolution=[0.015, 0.01, 0.018],
    parts=("noise, 20 tokens", "noise, 60 tokens", "log odds, 3 of 43"),
    scales=both_scales({}, {}, (4, 4), (0.5, 0.5)))


def _few(run: Run) -> list[float]:
    p = run.parameters
    return [theory.mean_log_noise(round(p.count), k) for k in p.sharpness]


def _written(run: Run, scaled: float, alone: float) -> np.ndarray:
    """k a + x (scaled + log Gamma(1 - 1/x)) - alone: both numbers should be Euler's constant."""
    count, k = run.parameters.count, np.array(run.parameters.sharpness)
    height = norm.isf(1 / count)
    x = k / (count * norm.pdf(height))
    return k * height + x * (scaled + gammaln(1 - 1 / x)) - alone


def _many(run: Run) -> np.ndarray:
    return np.log(run.parameters.count) + np.array(run.parameters.sharpness) ** 2 / 2


FEW = common.estimate(
    "sparse-token.noise-of-few", "ST-T2",
    "Where the largest few of 10^12 noise tokens hold their weight (k = 14 and 18, 2 and 2.5 times"
    " the border b), its mean logarithm is k a + x (g_E + log Gamma(1 - 1/x)) - g_E, with both of"
    " its Euler's constants.",
    "The form is for large log N: at 10^12 its next term is 0.05. A log sum fluctuates by 2 and 3,"
    " five of that over sqrt(32768) is 0.08. Euler's constant is 0.58; what the 200 largest leave"
    " out is 0.001.",
    wrong("not-alone", "Drop the Euler's constant that stands alone.", _written, np.euler_gamma, 0),
    wrong(
        "not-scaled", "Drop the Euler's constant that x multiplies.", _written, 0, np.euler_gamma),
    wrong("neither", "Drop both Euler's constants.", _written, 0, 0),
    wrong("many-share", "Let many tokens share the weight.", _many), source="ours",
    experiment=noise.largest_noise,
    measure=lambda run: np.stack(
        [run.data[f"k={k:g}"].values for k in run.parameters.sharpness], 1),
    predict=_few, resolution=[0.2, 0.2], parts=("k = 14", "k = 18"),
    scales=both_scales({}, {}, (4, 4), (0.5, 0.5)))


AT_BORDER = {"counts": (20, 100, 1000), "sharpness": (2.063, 2.8, 3.7), "samples": 500}


def _at_border(run: Run, form=theory.mean_log_noise) -> list[float]:
    p = run.parameters
    return [form(count, k) for count, k in zip(p.counts, p.sharpness, strict=True)]


def _held(count: int, k: float) -> float:
    """The second form alone, a pole at the border."""
    height = norm.isf(1 / count)
    x = k / (count * norm.pdf(height))
    return k * height + x * (np.euler_gamma + gammaln(1 - 1 / x)) - np.euler_gamma


BORDER = common.estimate(
    "sparse-token.noise-at-border", "ST-T2",
    "At the border k = b and a tenth above it (20 tokens at k = b, 100 at 1.05 b, 1000 at 1.1 b)"
    " the noise weighs, up to 0.3 in the mean logarithm, the smaller of what the two forms say.",
    "Forms are limits: by integrals they leave 0.12, 0.01 and 0.16. Log sums fluctuate by 0.8, five"
    " of that over sqrt(64000) is 0.02.",
    wrong(
        "few-at-border", "Let the largest few hold the weight from the border on.", _at_border,
        _held),
    wrong(
        "no-spread", "Predict log N + k^2/2, without the spread.", _at_border,
        lambda count, k: float(np.log(count) + k**2 / 2)),
    source="ours", experiment=noise.summed_noise, measure=_columns, predict=_at_border,
    resolution=[0.3] * 3, parts=("20 tokens", "100 tokens", "1000 tokens"),
    scales=both_scales(AT_BORDER, AT_BORDER, (4, 4), (1, 1)))


def _left_out(run: Run, shared=theory.mean_log_noise, held=theory.mean_log_noise) -> np.ndarray:
    """Powers of N and of log N with which what the two forms leave out falls."""
    p, data = run.parameters, run.data
    pairs = zip(np.exp(p.log_counts), p.high_sharpness, strict=True)
    away = [
        data.shared.values - [shared(count, p.sharpness) for count in p.counts],
        data.held.values - [held(count, k) for count, k in pairs]]
    ends = exponents(p.counts, np.abs(away[0])), exponents(p.log_counts, np.abs(away[1]))
    return one_row(ends)


def _without_spread(count: float, k: float) -> float:
    return float(np.log(count) + k**2 / 2)


def _without_euler(count: float, k: float) -> float:
    """The form of the largest few without the Euler's constant that stands alone."""
    return theory.mean_log_noise(count, k) + np.euler_gamma


LEFT_OUT = common.claim(
    "sparse-token.noise-in-length", "ST-T2",
    "Both forms of the noise are limits: what they leave out falls like N^-2 where many tokens"
    " share it (60 to 540 of them at k = 0.9), and like 1/log N where the largest few hold it (N ="
    " e^30 to e^300, k twice the border).",
    "Integrals to ten digits; the next terms bend the first power by 0.06 and the second by 0.01.",
    Sabotage(
        "no-spread", "Leave the spread (e^{k^2} - 1)/(2 N) out too.",
        measure=lambda run: _left_out(run, shared=_without_spread)),
    Sabotage(
        "not-alone", "Leave out the Euler's constant that stands alone.",
        measure=lambda run: _left_out(run, held=_without_euler)),
    source="ours", status="asymptotic", kind=SLOPE, experiment=noise.integrated_noise,
    measure=_left_out, predict=lambda run: [-2.0, -1.0], resolution=[0.15, 0.05],
    parts=("power of N", "power of log N"), scales={"quick": Scale(seconds=1)})
