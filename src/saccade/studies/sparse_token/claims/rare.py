"""Claim on errors that samples hardly see."""

import numpy as np

from saccade.lab.claim import one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import IDENTITY
from saccade.studies.sparse_token import calculators
from saccade.studies.sparse_token.claims import common
from saccade.studies.sparse_token.claims.common import both_scales, wrong
from saccade.studies.sparse_token.experiments import rare


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
