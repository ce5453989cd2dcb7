"""Claims on long sequences, by samples: how the attention map and the errors of softmax attention
grow with the length, and what signal the vectorised classifier needs."""

from functools import cache

import numpy as np

from saccade.lab.claim import Sabotage, Scale
from saccade.lab.experiment import Run
from saccade.lab.fits import exponents, slopes
from saccade.lab.kinds import ESTIMATE, SLOPE
from saccade.studies.sparse_token import theory
from saccade.studies.sparse_token.claims.common import PAPER, both_scales, claim, wrong
from saccade.studies.sparse_token.experiments import long
from saccade.studies.sparse_token.experiments.oracle import signal_at
from saccade.studies.sparse_token.task import SparseTokenSetting


def _cells(run: Run, laws=None, rate=None) -> list[list[tuple[SparseTokenSetting, float]]]:
    """Setting and sharpness of every law (rows) at every length (columns)."""
    p = run.parameters
    return [
        [
            (
                SparseTokenSetting(
                    length, p.informative, rate or p.positive_rate,
                    signal_at(length, growth, factor)),
                k * (signal_at(length, "root-log", 0.0) if grows else 1.0))
            for length in p.lengths]
        for growth, factor, grows, k in laws or p.laws]


def _growth(lengths, log_odds, informative: int) -> np.ndarray:
    """Powers of L of the odds under all laws but the last; under the last, sqrt L, the power of the
    logarithm by which an informative token outweighs a noise token. Then all log odds at the
    largest length."""
    lengths = np.asarray(lengths, float)
    outweighs = log_odds[..., -1, :] + np.log(lengths / informative - 1)
    powers = slopes(np.log(lengths), log_odds[..., :-1, :])
    last = exponents(lengths, outweighs)[..., None]
    return np.concatenate([powers, last, log_odds[..., -1]], -1)


def _predicted_growth(run: Run, log_odds=theory.mean_log_odds, laws=None) -> np.ndarray:
    values = [[log_odds(*cell) for cell in row] for row in _cells(run, laws)]
    return _growth(run.parameters.lengths, np.array(values), run.parameters.informative)


def _all_share(setting: SparseTokenSetting, k: float) -> float:
    """The odds if the noise were shared by many tokens at every sharpness."""
    noise = setting.length - setting.informative
    shared = np.log(noise) + k**2 / 2
    return theory.mean_log_odds(setting, k) + theory.mean_log_noise(noise, k) - float(shared)


OTHER_LAWS = tuple(
    (growth, factor, grows, k)
    for (_, _, grows, k), (growth, factor) in zip(
        long.LAWS,
        (("log", 0.8), ("log", 0.8), ("log", 0.8), ("times-root-log", 1.25), ("power", 0.4)),
        strict=True))
MAP_GROWTH = claim(
    "sparse-token.map-grows", "ST-T2",
    "Sampled to 10^4 tokens, two of them informative, the odds with which softmax attention finds"
    " them grow as the random-energy model says: at theta = 1.25 sqrt(2 log L) a sharpness of 0.3"
    " sqrt(2 log L) loses them, 0.6 and 1.5 find them; at theta = 0.75 log L a constant sharpness"
    " of 1.6 does, and at theta = 0.3 sqrt L one of 0.7, with a logarithm that grows like sqrt L.",
    "Slopes over two decades fluctuate by 0.02, 0.03, 0.1, 0.02 and 0.002 a replicate, log odds by"
    " 0.1 to 0.4; what the two asymptotic forms of the noise leave out is 0.1, of the largest few"
    " tokens 0.3.",
    wrong(
        "many-share", "Let many tokens share the noise at every sharpness.", _predicted_growth,
        _all_share),
    wrong(
        "other-growth",
        "Let theta grow like log L for sqrt(2 log L), the other way round, and like L^0.4 for sqrt"
        " L.", _predicted_growth, laws=long.LAWS, at={"laws": OTHER_LAWS}),
    source=f"Theorem 2, {PAPER}; formulas ours", status="asymptotic", kind=SLOPE, statistic="mean",
    experiment=long.long_sequences,
    measure=lambda run: _growth(
        run.data.length.values, run.data.log_odds.values, run.parameters.informative),
    predict=_predicted_growth, resolution=[0.04, 0.06, 0.15, 0.05, 0.02, 0.1, 0.2, 0.8, 0.12, 0.1],
    parts=tuple(
        f"{what}, {law}" for what in ("growth", "at 10^4")
        for law in (
            "sqrt(2 log L), k=0.3", "sqrt(2 log L), k=0.6", "sqrt(2 log L), k=1.5", "log L",
            "sqrt L")),
    scales=both_scales(
        {"samples": 300, "tokens": 500_000, "draws": 12}, {"replicates": 64}, (2, 1), (2, 60)),
    figure="sparse-token/long",
    finding=(
        "Strength alone is not enough for a softmax: at theta = c sqrt(2 log L), c > 1, it finds"
        " the token only if its sharpness is above (c - sqrt(c^2 - 1)) sqrt(2 log L)."))

ERROR_LAWS = (
    ("times-root-log", 1.25, True, 0.3), ("times-root-log", 1.25, True, 1.5),
    ("log", 0.65, False, 1.6))


@cache
def _softmax(setting: SparseTokenSetting, k: float) -> theory.OracleError:
    return theory.softmax_oracle_error(setting, k, 10)


def _error_growth(run: Run, rule=_softmax) -> np.ndarray:
    """The power of L of the best error, law by law."""
    errors = [[rule(*cell).error for cell in row] for row in _cells(run)]
    return exponents(run.parameters.lengths, errors)


def _sampled_growth(run: Run) -> np.ndarray:
    """The same of sampled errors at the predicted thresholds: slopes of the logarithm of their mean
    and, to first order, of each replicate's deviation from it, so that none may be zero."""
    cuts = [[_softmax(*cell).threshold for cell in row] for row in _cells(run)]
    errors = np.stack(
        [
            np.stack(
                [
                    run.data.error.isel(law=law, length=place).interp(threshold=cut).values
                    for place, cut in enumerate(row)],
                -1)
            for law, row in enumerate(cuts)],
        1)
    mean = errors.mean(0)
    return slopes(np.log(run.parameters.lengths), np.log(mean) + errors / mean - 1)


ERROR_GROWTH = claim(
    "sparse-token.softmax-errors-fall", "ST-T2",
    "The error of softmax attention on sampled tokens falls with the length by the predicted power:"
    " at theta = 1.25 sqrt(2 log L), with a sharpness of 0.3 and of 1.5 sqrt(2 log L), and at theta"
    " = 0.65 log L (R = 2, pi = 0.3, L = 30 to 3000).",
    "Errors of 0.02 to 0.1 on 300 samples a replicate fluctuate by 20 %, which is 0.05 in a slope"
    " over two decades and 0.01 over 32 replicates; the quadrature has 2 % at 3000 tokens.",
    wrong(
        "pool-instead", "Expect the errors of pooling.", _error_growth,
        lambda setting, k: theory.pooled_oracle_error(setting)),
    source=f"Theorem 2, {PAPER}; formulas ours", status="quadrature", kind=SLOPE, statistic="mean",
    experiment=long.long_sequences, measure=_sampled_growth, predict=_error_growth,
    resolution=[0.06, 0.06, 0.1], parts=("sqrt(2 log L), k=0.3", "sqrt(2 log L), k=1.5", "log L"),
    scales=both_scales(
        {"lengths": (30, 300, 3000), "laws": ERROR_LAWS, "samples": 300, "tokens": 600_000},
        {"laws": ERROR_LAWS}, (4, 1), (3, 60)),
    figure="sparse-token/long")

STREAMED = claim(
    "sparse-token.streamed-tokens", "ST-T2",
    "Whole tokens, a few samples of them in memory at a time, agree with their projections alone:"
    " the error and the attention on informative tokens of a tilted query and read-out are those of"
    " the low-dimensional sampler (L = 500, R = 2).",
    "On 128 samples a replicate the difference of errors fluctuates by 0.05 and that of the shares"
    " by 0.05, which is 0.005 over 128 replicates.",
    Sabotage(
        "told-otherwise", "Tell the sampler a cosine of 0.6 for 0.8.", {"told_alignment": 0.6}),
    source="ours", kind=ESTIMATE, statistic="mean", experiment=long.streamed_tokens,
    measure=lambda run: np.stack(
        [
            run.data.full_error.values - run.data.seen_error.values,
            run.data.full_share.values - run.data.seen_share.values],
        1),
    resolution=[0.05, 0.06], parts=("error", "share"), scales=both_scales({}, {}, (4, 2), (2, 60)),
    figure="sparse-token/long")


def _attention_need(run: Run) -> float:
    """The power with which sqrt(2 log L) grows between the lengths."""
    lengths = run.data.length.values
    return float(exponents(lengths, np.sqrt(2 * np.log(lengths))))


NEED = claim(
    "sparse-token.vectorised-needs-root", "ST-T1",
    "A vectorised classifier fitted to samples needs a signal that grows like sqrt L: with equally"
    " many weights and samples the signal at which it errs in a fifth has the exponent 1/2 (R = 2,"
    " pi = 0.4, L = 4 to 32).",
    "One exponent fluctuates by 0.015, 0.003 over 32; 96 weights leave 0.01 for the finite size.",
    Sabotage(
        "places-stand-still", "The informative tokens are always the first two.",
        {"places": "first"}),
    Sabotage("as-attention", "Expect the growth of sqrt(2 log L).", predict=_attention_need),
    source=f"Theorem 1, {PAPER}", status="asymptotic", kind=SLOPE, statistic="mean",
    experiment=long.vectorised_need,
    measure=lambda run: exponents(run.data.length.values, run.data.signal.values),
    predict=lambda run: 0.5, resolution=0.04,
    scales={"quick": Scale(repetitions=2, seconds=2), "standard": Scale(seconds=100)},
    figure="sparse-token/long")
