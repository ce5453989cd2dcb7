"""Claims on what is possible with a known direction: pooling, linear rules, attention, Bayes."""

from dataclasses import replace
from functools import cache

import numpy as np
from scipy.special import ndtr

from saccade.lab.claim import Claim, Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import ABOVE, BELOW, ESTIMATE, IDENTITY, ORDERING
from saccade.studies.sparse_token import theory
from saccade.studies.sparse_token.claims.common import PAPER, both_scales, claim, setting_of, wrong
from saccade.studies.sparse_token.experiments import oracle
from saccade.studies.sparse_token.task import SparseTokenSetting


def _pooled_settings(run: Run, power: float = 1.0) -> list[SparseTokenSetting]:
    """Every length and rate of the run; `power` 1/2 puts sqrt(R) where R belongs."""
    informative = run.parameters.informative
    return [
        SparseTokenSetting(
            int(length), informative, float(rate), float(signal * informative ** (power - 1)))
        for length, signal in zip(run.data.length.values, run.data.signal.values, strict=True)
        for rate in run.data.positive_rate.values]


def _pooled_formula(run: Run, power: float = 1.0) -> list[float]:
    """Proposition 1's error at every length and rate, then the positives that its threshold
    misses."""
    settings = _pooled_settings(run, power)
    answers = [theory.pooled_oracle_error(item) for item in settings]
    missed = [
        item.positive_rate * float(ndtr(answer.threshold - item.signal_to_noise))
        for item, answer in zip(settings, answers, strict=True)]
    return [*(answer.error for answer in answers), *missed]


def _balanced_threshold(run: Run) -> list[float]:
    """Error and missed positives at half the signal-to-noise ratio, the best threshold of balanced
    labels; with those, at a quarter."""
    errors, missed = [], []
    for item in _pooled_settings(run):
        rate, snr = item.positive_rate, item.signal_to_noise
        cut = snr / (4 if rate == 0.5 else 2)
        missed.append(float(rate * ndtr(cut - snr)))
        errors.append(missed[-1] + float((1 - rate) * ndtr(-cut)))
    return errors + missed


POOLED_FORMULA = claim(
    "sparse-token.pooled-formula", "ST-P1",
    "A classifier of the mean token reaches min_t pi Phi(t - SNR) + (1 - pi) Phi(-t), SNR = theta"
    " R/sqrt(L), and no less.",
    "Adaptive quadrature of the smaller density to 1e-13 against the normal distribution function.",
    wrong("root-of-r", "Put sqrt(R) where R belongs.", _pooled_formula, 0.5),
    wrong(
        "no-prior", "Take the threshold of balanced labels (for those, half of it).",
        _balanced_threshold),
    source=f"Proposition 1, {PAPER}", kind=IDENTITY, experiment=oracle.pooled_integral,
    measure=lambda run: one_row(
        np.concatenate([run.data.error.values.ravel(), run.data.missed.values.ravel()])),
    predict=_pooled_formula, resolution=1e-10,
    scales={"quick": Scale({"growth": "constant-snr", "offset": 0.4, "informative": 2})})


def _log_errors(run: Run) -> np.ndarray:
    """Minus the smallest rise from length to length, and the distance of the last error to 1/2."""
    errors = run.data.error.values[:, 0]
    return one_row([-np.min(np.diff(errors)), 0.5 - errors[-1]])


POOLED_FAILS = claim(
    "sparse-token.pooled-fails-at-log", "ST-P1",
    "With theta = log L the best error of pooling rises with the length towards 1/2: pooling needs"
    " theta of order sqrt(L).",
    "No chance; at L = 10^4 the signal-to-noise ratio is 0.092, which leaves 1/2 - 0.018.",
    Sabotage("enough-signal", "theta = sqrt(L): the ratio stays at 1.", {"growth": "constant-snr"}),
    Sabotage(
        "more-than-enough", "theta = L^0.75: the error vanishes.",
        {"growth": "power", "offset": 0.75}),
    source=f"Proposition 1, {PAPER}", kind=BELOW, experiment=oracle.pooled_integral,
    measure=_log_errors, predict=lambda run: [0.0, 0.02], resolution=0.0,
    parts=("largest fall of the error", "1/2 minus the error at L=10^4"),
    scales={"quick": Scale({"lengths": (10, 100, 1000, 10_000), "positive_rates": (0.5,)})},
    figure="sparse-token/oracle")


def _linear_settings(run: Run) -> list[SparseTokenSetting]:
    return [
        SparseTokenSetting(length, 1, rate, signal) for length, rate, signal in run.parameters.cases
    ]


def _above_and_below(run: Run, bound=theory.vectorised_lower_bound, sparse=True) -> np.ndarray:
    """Found error over its lower bound and pooled error over the found one (both at least 1)."""
    settings, searched = _linear_settings(run), run.data.error.values
    bounds = np.array([bound(item).error for item in settings])
    pooled = np.array([
        theory.pooled_oracle_error(
            item if sparse else replace(item, informative=item.length)).error
        for item in settings])
    return one_row([*(searched / bounds), *(pooled / searched)])


VECTORISED_BOUNDED = claim(
    "sparse-token.vectorised-bounded", "ST-T1",
    "No linear classifier of all tokens has a vanishing error at finite SNR: it stays above min_t"
    " pi/2 Phi(t - 2 SNR) + (1 - pi) Phi(-t), and below pooling's.",
    "The search may miss the best weights, which only raises the error; pooling is among its"
    " starts up to the accuracy of BFGS, 1e-9.",
    Sabotage(
        "half-the-ratio", "Put SNR/2 for 2 SNR and all places for half of them in the bound.",
        measure=lambda run: _above_and_below(
            run, lambda item: theory.pooled_oracle_error(replace(item, signal=item.signal / 2)))),
    Sabotage(
        "dense", "Compare with pooling of tokens that all carry the signal.",
        measure=lambda run: _above_and_below(run, sparse=False)),
    source=f"Theorem 1, {PAPER}; the explicit bound is ours", status="bound", kind=ABOVE,
    experiment=oracle.linear_search, measure=_above_and_below, predict=lambda run: 1.0,
    resolution=1e-6)


def _bounds(run: Run, bound=theory.vectorised_lower_bound) -> list[float]:
    p = run.parameters
    return [
        bound(SparseTokenSetting(length, p.informative, rate, signal)).error
        for length, rate, signal in p.cases]


BOUND_FORMULA = claim(
    "sparse-token.linear-bound-formula", "ST-T1",
    "The bound on linear classifiers, min_t pi/2 Phi(t - 2 SNR) + (1 - pi) Phi(-t), is what half of"
    " the places leave by Markov's inequality: the mass of the smaller of two densities (R = 2).",
    "Adaptive quadrature to 1e-13 against a threshold found to 1e-11.",
    wrong(
        "all-places", "Count all places, at their mean weight.", _bounds, theory.pooled_oracle_error
    ),
    source=f"Theorem 1, {PAPER}; the explicit bound is ours", status="bound", kind=IDENTITY,
    experiment=oracle.bound_integral, measure=lambda run: one_row(run.data.error.values),
    predict=_bounds, resolution=1e-9)

RARE = {"cases": ((2, 0.1, 2.0), (10, 0.05, 4.0))}
SPARSE_WEIGHTS = claim(
    "sparse-token.sparse-weights-win", "ST-T1",
    "When positives are rare, a linear classifier that trusts some tokens more than others beats"
    " uniform pooling.", "No chance; a gain below 1e-5 would be within the accuracy of the search.",
    Sabotage("common-positives", "Balanced labels.", {"cases": ((2, 0.5, 1.0), (10, 0.5, 4.0))}),
    source="ours", kind=ORDERING, experiment=oracle.linear_search,
    measure=lambda run: one_row([
        theory.pooled_oracle_error(item).error - searched
        for item, searched in zip(_linear_settings(run), run.data.error.values, strict=True)]),
    predict=lambda run: 1e-6, resolution=1e-5, parts=("L=2", "L=10"), scales={"quick": Scale(RARE)},
    finding=(
        "The best linear classifier is not uniform when positives are rare (L = 2, pi = 0.1,"
        " theta = 2: 0.0896 against 0.0908), and weights on some tokens alone are not the best"
        " either (0.0897)."))


def _decay(run: Run) -> np.ndarray:
    """Largest ratio of errors from length to length, and the last error."""
    errors = run.data.error.values
    return one_row([np.max(errors[1:] / errors[:-1]), errors[-1]])


LOG_SUFFICES = claim(
    "sparse-token.log-suffices", "ST-T2",
    "With theta = log L the error of hard attention falls with every tenfold length, to below 1e-8"
    " at L = 10^6.",
    "No chance; thresholds are searched in steps of 6e-5, which costs a relative 1e-7.",
    Sabotage("pool-instead", "Average the tokens instead of attending.", {"pooled": True}),
    Sabotage("weak-signal", "theta = log(L)/2.", {"offset": 0.5}),
    Sabotage("below-the-noise", "theta = sqrt(2 log L).", {"growth": "root-log", "offset": 0.0}),
    source=f"Theorem 2, {PAPER}", kind=BELOW, experiment=oracle.hardmax_grid, measure=_decay,
    predict=lambda run: [0.5, 1e-8], resolution=0.0,
    parts=("largest ratio of successive errors", "error at L=10^6"), figure="sparse-token/oracle")


def _hardmax(run: Run, **changes) -> list:
    """The formula at every length, with its signal."""
    pairs = zip(run.data.length.values, run.data.signal.values, strict=True)
    settings = [
        setting_of(run, length=int(length), signal=float(signal), **changes)
        for length, signal in pairs]
    return [theory.hardmax_oracle_error(setting) for setting in settings]


def _hardmax_formula(run: Run, **changes) -> list[float]:
    return [answer.error for answer in _hardmax(run, **changes)]


ROOT_LOG = claim(
    "sparse-token.root-log-suffices", "ST-T2b",
    "theta = sqrt(2 log L) + c already suffices for hard attention: at c = 3 the error falls with"
    " L towards pi Phi(-c), so any c that grows, however slowly, makes it vanish.",
    "No chance. Phi(-3) = 0.00134990 is what a positive sample misses when its token falls below"
    " the largest of the others.",
    Sabotage("no-margin", "c = 0: the error stays near 0.26.", {"offset": 0.0}),
    Sabotage("more-margin", "c = 4: the error falls below the limit of c = 3.", {"offset": 4.0}),
    Sabotage("too-weak", "theta = log(L)/5: the error rises.", {"growth": "log", "offset": 0.2}),
    source="ours", kind=BELOW, experiment=oracle.hardmax_grid,
    measure=lambda run: one_row([
        _decay(run)[0, 0], run.data.error.values[0], run.data.error.values[-1],
        0.5 * 0.00134989 / run.data.error.values[-1]]),
    predict=lambda run: [1.0, 0.0147, 0.0053, 1.0], resolution=0.0,
    parts=(
        "largest ratio of successive errors", "error at L=10", "error at L=10^6",
        "limit over the last error"),
    scales={"quick": Scale({"growth": "root-log", "offset": 3.0})}, figure="sparse-token/oracle",
    finding=(
        "log L is sufficient, not sharp: sqrt(2 log L) + 3 leaves 0.0146, 0.0099, 0.0078, 0.0066,"
        " 0.0057, 0.0052 at L = 10, ..., 10^6."))

HARDMAX_FORMULA = claim(
    "sparse-token.hardmax-formula", "ST-T2b",
    "Hard attention's best error is min_t pi Phi(t - theta)^R Phi(t)^(L-R) + (1 - pi)(1 -"
    " Phi(t)^L), from ten to a million tokens.",
    "A threshold within 3e-5 of the best costs the second order, 1e-9.",
    wrong(
        "one-informative", "Forget that two tokens are informative.", _hardmax_formula,
        informative=1),
    source=f"behind Theorem 2, {PAPER}; formula ours", kind=IDENTITY,
    experiment=oracle.hardmax_grid, measure=lambda run: one_row(run.data.error.values),
    predict=_hardmax_formula, resolution=1e-8,
    scales={"quick": Scale(
        {"growth": "root-log", "offset": 2.0, "informative": 2, "positive_rate": 0.3})})


def _maxima(run: Run) -> np.ndarray:
    """Sampled errors at the predicted thresholds, lengths as columns."""
    return np.stack(
        [
            run.data.error.isel(length=place).interp(threshold=predicted.threshold).values
            for place, predicted in enumerate(_hardmax(run))],
        1)


MAXIMA = claim(
    "sparse-token.maxima-sampled", "ST-T2b",
    "The largest of 10, 100 and 1000 sampled tokens, two of them informative at theta = sqrt(2 log"
    " L) + 1, errs at the predicted threshold as the formula of hard attention says (pi = 0.3).",
    "Errors near 0.05 on 2000 samples a replicate have a deviation of 0.004, of 0.0004 over 128.",
    wrong("one-informative", "Forget that two are informative.", _hardmax_formula, informative=1),
    source=f"behind Theorem 2, {PAPER}; formula ours", kind=ESTIMATE,
    experiment=oracle.sampled_maxima, measure=_maxima, predict=_hardmax_formula, resolution=0.004,
    statistic="mean", parts=("L=10", "L=100", "L=1000"),
    scales={"quick": Scale(repetitions=4, seconds=2)})


def _oracles(run: Run, sharper: float = 1.0, **changes) -> list:
    """Predicted for hard-max, softmax averages, pooled, and the likelihood ratio."""
    sharpness = tuple(sharper * k for k in run.parameters.sharpness)
    return _oracles_at(setting_of(run, **changes), sharpness)


@cache
def _oracles_at(setting: SparseTokenSetting, sharpness: tuple[float, ...]) -> list:
    softmax = [theory.softmax_oracle_error(setting, k) for k in sharpness]
    ends = theory.pooled_oracle_error(setting), theory.subset_bayes_error(setting)
    return [theory.hardmax_oracle_error(setting), *softmax, *ends]


def _oracle_errors(run: Run, sharper: float = 1.0, **changes) -> list[float]:
    return [oracle.error for oracle in _oracles(run, sharper, **changes)]


def _sampled_errors(run: Run) -> np.ndarray:
    """Sampled errors at the predicted thresholds, and of the likelihood ratio."""
    columns = [
        run.data.error.sel(statistic=name).interp(threshold=predicted.threshold).values
        for name, predicted in zip(run.data.statistic.values, _oracles(run)[:-1], strict=True)]
    return np.stack([*columns, run.data.bayes.values], 1)


def _sampled(name: str, words: str, case: dict, resolution: list[float], argued: str) -> Claim:
    return claim(
        f"sparse-token.{name}", "ST-T2",
        "On sampled tokens hard attention, softmax attention, pooling and the likelihood ratio"
        f" reach their predicted errors ({words}).", argued,
        wrong("blunt", "Predict with a tenth of the sharpness.", _oracle_errors, 0.1),
        wrong("longer", "Predict for twice as many tokens.", _oracle_errors, length=20),
        source=f"Section on representation, {PAPER}; formulas ours", status="quadrature",
        kind=ESTIMATE, experiment=oracle.token_statistics, measure=_sampled_errors,
        predict=_oracle_errors, resolution=resolution, statistic="mean",
        parts=("hardmax", "softmax k=0.5", "softmax k=1", "softmax k=2", "pooled", "bayes"),
        scales=both_scales(case, case, (4, 1), (3, 12)))


ORACLE_SAMPLED = _sampled(
    "oracle-sampled", "L = 10, theta = 5", {}, [0.0025, 0.0025, 0.0025, 0.0025, 0.01, 0.0025],
    "An error of 0.018 on 8000 samples a replicate has a deviation of 0.0015, of 0.0003 over 32;"
    " the quadrature is good to 1e-4.")
TWO_SAMPLED = _sampled(
    "oracle-sampled-two", "L = 10, R = 2, pi = 0.3, theta = 2.2",
    {"informative": 2, "positive_rate": 0.3, "signal": 2.2}, [0.006] * 6,
    "An error of 0.15 on 8000 samples a replicate, half of them positive, has a deviation of 0.004,"
    " of 0.0007 over 32. The likelihood ratio, of pairs of tokens, is 0.02 below the largest token"
    " here, so that a wrong formula does not hide behind the exact rules it is held below.")

MOST_SAMPLED = _sampled(
    "oracle-sampled-most", "L = 6, R = 4, pi = 0.6, theta = 1.2",
    {"length": 6, "informative": 4, "positive_rate": 0.6, "signal": 1.2}, [0.006] * 6,
    "An error of 0.13 to 0.2 on 8000 samples a replicate has a deviation of 0.004, of 0.0007 over"
    " 32. Here pooling is the next best, 0.008 above the likelihood ratio of all 15 subsets.")


RULES = ("pooled", "hardmax", "softmax", "bayes")


def _no_signal(run: Run, share: float = 1.0, turned: bool = False) -> list[float]:
    """Pooling, hard attention, softmax attention and Bayes without a signal, rate by rate: errors,
    and of the first three the positives that lie below the threshold."""
    rates = share * run.data.positive_rate.values
    settings = [
        SparseTokenSetting(3, 2, float(1 - rate if turned else rate), 0.0) for rate in rates]
    rules = (
        theory.pooled_oracle_error, theory.hardmax_oracle_error,
        lambda item: theory.softmax_oracle_error(item, 1.0), theory.subset_bayes_error)
    answers = [[rule(item) for item in settings] for rule in rules]
    missed = [
        item.positive_rate * float(ndtr(answer.threshold)) for row in answers[:3]
        for item, answer in zip(settings, row, strict=True)]
    return [*(answer.error for row in answers for answer in row), *missed]


NO_SIGNAL = claim(
    "sparse-token.no-signal-guesses", "ST-T2",
    "Without a signal nothing beats the commoner answer: all four errors are the smaller of pi and"
    " 1 - pi, and rules with a threshold miss all positives where those are rare, and none where"
    " they are common.", "Quadrature of one density to 1e-13; a threshold at infinity.",
    wrong("other-rate", "Predict for two thirds of the positives.", _no_signal, 2 / 3),
    wrong("labels-turned", "Predict for labels turned round.", _no_signal, turned=True),
    source="ours", kind=IDENTITY, experiment=oracle.pooled_integral,
    measure=lambda run: one_row(np.concatenate(
        [np.tile(run.data.error.values[0], 4), np.tile(run.data.missed.values[0], 3)])),
    predict=_no_signal, resolution=1e-8,
    parts=(
        *(f"{rule}, pi={rate}" for rule in RULES for rate in (0.3, 0.8)),
        *(f"{rule}, missed, pi={rate}" for rule in RULES[:3] for rate in (0.3, 0.8))),
    scales={"quick": Scale({
        "lengths": (3,), "informative": 2, "positive_rates": (0.3, 0.8),
        "growth": "constant-snr", "offset": 0.0})})


def _gain(run: Run, **changes) -> float:
    """What the likelihood ratio gains on the largest token."""
    hardmax, *_, ratio = _oracle_errors(run, **changes)
    return hardmax - ratio


RATIO_GAIN = claim(
    "sparse-token.likelihood-ratio-gain", "ST-T2",
    "One weak token (L = 4, pi = 0.45, theta = 1.5): on the same sampled tokens the likelihood"
    " ratio makes 0.0044 fewer errors than the best threshold on the largest token, as predicted.",
    "Paired, the two rules differ on one sample in twenty: 0.0025 a replicate, 0.0002 over 128.",
    wrong("stronger", "Predict for theta = 3, where little is to be gained.", _gain, signal=3.0),
    source="ours", status="quadrature", kind=ESTIMATE, experiment=oracle.token_statistics,
    measure=lambda run: _sampled_errors(run)[:, 0] - run.data.bayes.values, predict=_gain,
    resolution=0.002, statistic="mean",
    scales={"quick": Scale(
        {"length": 4, "positive_rate": 0.45, "signal": 1.5, "sharpness": ()}, 4, seconds=4)})


def _of_many(run: Run, rule=theory.subset_bayes_error) -> list[float]:
    """What stands in for the Bayes error, case by case, and whether it is called a bound."""
    answers = [rule(SparseTokenSetting(*case)) for case in run.parameters.cases]
    return [*(item.error for item in answers), *(float(item.status == "bound") for item in answers)]


BOUND_OF_MANY = claim(
    "sparse-token.bound-of-many", "ST-T2",
    "Where subsets are too many to sum over, the Bayes error is said to be bounded by the better of"
    " two rules: by pooling for 300 weak tokens of 4096 and for all but 110 of 10000, by the"
    " largest token for 105 stronger ones of 10000.",
    "A threshold within 3e-5 of the best costs the second order, 1e-9.",
    wrong("pooling-alone", "Bound it by pooling alone.", _of_many, theory.pooled_oracle_error),
    wrong(
        "largest-alone", "Bound it by the largest token alone.", _of_many,
        theory.hardmax_oracle_error),
    source="ours", status="bound", kind=IDENTITY, experiment=oracle.two_rules,
    measure=lambda run: one_row([*run.data.error.values.min(axis=1), *[1.0] * 3]), predict=_of_many,
    resolution=[1e-8] * 3 + [0.0] * 3,
    parts=tuple(
        f"{what}, L={case[0]}, R={case[1]}" for what in ("error", "bound") for case in oracle.MANY))
