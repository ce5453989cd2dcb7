"""Claims on growing dimensions: single trials approach the asymptotic numbers like d^(-1/2), and
separability is lost ever more sharply at the predicted capacity."""

from typing import Any

import numpy as np

from saccade.lab.claim import Claim, Sabotage
from saccade.lab.experiment import Run
from saccade.lab.fits import exponents, slopes
from saccade.lab.kinds import ESTIMATE, SLOPE
from saccade.studies.sparse_token import theory
from saccade.studies.sparse_token.claims import common
from saccade.studies.sparse_token.claims.common import PAPER, both_scales, claim
from saccade.studies.sparse_token.experiments import sizes


def predicted_limits(run: Run, **changes) -> list[float]:
    """What the four numbers of a run tend to."""
    p, setting = run.parameters, common.setting_of(run, **changes)
    after = theory.alignment_after_two_steps(
        setting, p.query_samples_per_dim, p.eta_w, p.eta_b, p.eta_q, p.beta, p.loss)
    fit = common.solved(
        setting, "attention", p.samples_per_dim, p.ridge, p.loss, p.alignment, p.sharpness)
    return [after.w_cosine, after.q_cosine, fit.train_loss, fit.test_error]


def distances(run: Run, limits: list[float], group: int = 8) -> np.ndarray:
    """Mean distance of single trials from the limits, [group of trials, number, dimension]. Its
    logarithm is biased, by the same amount at every dimension."""
    values = np.stack([run.data[name].values for name in sizes.GROWN], 1)
    away = np.abs(values - np.array(limits)[:, None])
    return away.reshape(-1, group, *away.shape[1:]).mean(1)


def _approach(run: Run, **changes) -> np.ndarray:
    return exponents(run.data.dim.values, distances(run, predicted_limits(run, **changes)))


APPROACH = claim(
    "sparse-token.approach-in-dimension", "ST-T4",
    "Single trials approach the asymptotic numbers like d^(-1/2): the cosines after the first and"
    " after the second gradient step, the training loss and the test error (d = 16 to 128).",
    "Exponents from groups of eight trials fluctuate by 0.2, 0.028 over 48 groups; d = 16 bends"
    " them by 0.03. Exponents of 0, for another limit, and of -1 lie well outside.",
    Sabotage(
        "another-limit", "Take the distance to the limits at theta = 1.4.",
        measure=lambda run: _approach(run, signal=1.4)),
    source=f"Theorems 3 and 4, {PAPER}; equations ours", status="asymptotic", kind=SLOPE,
    statistic="mean", experiment=sizes.growing_dimension, measure=_approach,
    predict=lambda run: -0.5, resolution=0.25,
    parts=("cosine of w, one step", "cosine of q, two steps", "training loss", "test error"),
    scales=both_scales({}, {}, (2, 2), (3, 200)), figure="sparse-token/sizes")


def spreads(run: Run, group: int = 8) -> np.ndarray:
    """Standard deviation of the lost separability in groups of trials, [group, dim]."""
    values = run.data.samples_per_dim.values
    return values.reshape(-1, group, values.shape[1]).std(1, ddof=1)


def _sharpening(run: Run, power: float = 0.0) -> np.ndarray:
    """Exponent of the width in the number of weights, and the centre at the largest d."""
    weights = run.data.weights.values
    slope = slopes(np.log(weights), np.log(spreads(run) * weights**power))
    centre = run.data.samples_per_dim.values[:, -1].reshape(len(slope), -1)
    return np.stack([slope, np.median(centre, 1)], 1)


def capacity(run: Run, **changes: Any) -> float:
    """The predicted n/d of a run's model, with changes of the setting."""
    model = run.parameters.model
    answer = theory.capacity(
        common.setting_of(run, **changes), model, **common.query_of(run, model))
    return common.checked(answer).samples_per_dim


def _sharpens(id: str, words: str, case: dict[str, Any], **fields: Any) -> Claim:
    return claim(
        id, "ST-J1",
        "Separability is lost ever more sharply at the predicted capacity: the spread of the"
        f" largest separable n/d falls like the number of weights to the power -1/2 ({words}).",
        "Exponents from groups of eight trials fluctuate by 0.17 to 0.27, 0.03 to 0.04 over 40"
        " groups; 0 and -1 lie outside. The centre is known to 4 % and differs by a few per cent at"
        " the largest d.",
        Sabotage(
            "in-samples", "Measure the width in samples, not in samples per weight.",
            measure=lambda run: _sharpening(run, 1.0)),
        common.wrong(
            "no-signal", "Forget the signal.", lambda run: [-0.5, capacity(run, signal=0.0)]),
        source=f"Conjecture 1, {PAPER}; formula ours", status="asymptotic", kind=ESTIMATE,
        statistic="mean", experiment=sizes.separability_width, measure=_sharpening,
        predict=lambda run: [-0.5, capacity(run)],
        resolution=lambda run: [0.28, 0.12 * capacity(run)],
        parts=("exponent of the width", "centre"), scales=both_scales(case, case, (3, 2), (4, 300)),
        **fields)


ATTENTION_SHARPENS = _sharpens(
    "sparse-token.transition-sharpens",
    "attention, cos = 0.8, R = 2 of 6, pi = 0.4, theta = 1.5; d = 3 to 27", {},
    figure="sparse-token/sizes")
POOLED_SHARPENS = _sharpens(
    "sparse-token.pooled-sharpens", "pooling, R = 1 of 3, pi = 0.4, theta = 2.5; d = 3 to 27",
    {"model": "pooled", "length": 3, "informative": 1, "signal": 2.5})
VECTORISED_SHARPENS = _sharpens(
    "sparse-token.vectorised-sharpens",
    "the vectorised classifier, R = 1 of 2, pi = 0.4, theta = 2; d = 3 to 17, 7 to 35 weights",
    {
        "model": "vectorised", "length": 2, "informative": 1, "signal": 2.0, "dims": (3, 7, 17),
        "most_per_dim": 18.0})
