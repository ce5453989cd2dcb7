"""Claims on errors that samples hardly see, and on those of nearly even attention."""

from functools import cache

import numpy as np

from saccade.lab.claim import one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import IDENTITY
from saccade.studies.sparse_token import calculators, theory
from saccade.studies.sparse_token.claims import common
from saccade.studies.sparse_token.claims.common import both_scales, setting_of, wrong
from saccade.studies.sparse_token.experiments import oracle, rare
from saccade.studies.sparse_token.task import SparseTokenSetting


def _logarithms(run: Run, stronger: float = 0.0) -> list[float]:
    """Of the three errors, with signals `stronger` by so much."""
    p = run.parameters
    two = common.asked(
        calculators.oracle_error, length=2, informative=1, positive_rate=p.positive_rate,
        signal=p.signal + stronger, sharpness=p.sharpness)
    three = common.asked(
        calculators.bayes, length=3, informative=2, positive_rate=p.positive_rate,
        signal=p.three_signal + stronger)
    return np.log([two.bayes, two.softmax, three.error]).tolist()


RARE = common.claim(
    "sparse-token.rare-errors", "ST-T2",
    "Errors of 1e-4 and less come out as rare as they are: Bayes and softmax (k = 0.8) of two"
    " tokens at theta = 7.4, Bayes of two informative tokens of three at theta = 5.7, pi = 0.3.",
    "Logarithms; sums over 900 and 140 cells an axis leave 0.01, the nodes 0.005.",
    wrong("stronger", "Expect the errors of signals larger by 0.1.", _logarithms, 0.1),
    source="ours", status="quadrature", kind=IDENTITY, experiment=rare.rare_errors,
    measure=lambda run: one_row(
        np.log([float(run.data[name]) for name in ("bayes", "softmax", "three")])),
    predict=_logarithms, resolution=0.04,
    parts=("Bayes, two tokens", "softmax, two tokens", "Bayes, two of three"),
    scales=both_scales({}, {}, (1, 1), (1, 1)))


@cache
def _blunt(setting: SparseTokenSetting, sharpness: tuple[float, ...]) -> list[theory.OracleError]:
    return [theory.softmax_oracle_error(setting, k) for k in sharpness]


def _blunt_errors(run: Run, sharper: float = 0.0) -> list[float]:
    """At every sharpness of the run, raised by `sharper`."""
    sharpness = tuple(k + sharper for k in run.parameters.sharpness)
    return [answer.error for answer in _blunt(setting_of(run), sharpness)]


def _at_thresholds(run: Run) -> np.ndarray:
    """Sampled errors at the predicted thresholds."""
    root = run.parameters.length**0.5
    answers = _blunt(setting_of(run), run.parameters.sharpness)
    return np.stack(
        [
            run.data.error.isel(sharpness=place).interp(threshold=root * answer.threshold).values
            for place, answer in enumerate(answers)],
        1)


BLUNT = common.estimate(
    "sparse-token.blunt-softmax", "ST-T2",
    "On 3000 sampled tokens, one of them informative at theta = 50, softmax attention whose weights"
    " are nearly even errs at its predicted threshold as predicted: at k = 0 like pooling, and by a"
    " third less at k = 0.01.",
    "Errors of 0.32 and 0.23 on 600 samples a replicate have a deviation of 0.019, of 0.002 over"
    " 128; their valleys are a few 1/sqrt(L) wide, a thousandth of theta.",
    wrong("sharper", "Predict for a sharpness larger by 0.01.", _blunt_errors, 0.01), source="ours",
    status="quadrature", experiment=oracle.blunt_softmax, measure=_at_thresholds,
    predict=_blunt_errors, resolution=0.025, parts=("k=0", "k=0.01"),
    scales=both_scales({}, {}, (4, 4), (2, 2)))
