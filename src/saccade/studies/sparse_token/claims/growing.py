"""Claims on how fast single trials come near to the formulas for infinitely many dimensions: two
steps in four regimes, fits of the three models, and the whole protocol."""

from collections.abc import Callable
from typing import Any

import numpy as np

from saccade.lab.claim import Claim, Sabotage
from saccade.lab.experiment import Run
from saccade.lab.fits import exponents
from saccade.lab.kinds import SLOPE
from saccade.studies.sparse_token import theory
from saccade.studies.sparse_token.claims import common
from saccade.studies.sparse_token.claims.common import PAPER, both_scales, claim, setting_of
from saccade.studies.sparse_token.experiments import growing
from saccade.studies.sparse_token.task import SparseTokenSetting

Limits = Callable[..., np.ndarray]


def approach(
    run: Run, names: tuple[str, ...], limits: Limits, group: int = 8, **changes: Any
) -> np.ndarray:
    """Exponents in d of the mean distance of single trials from `limits`, [group, number]; the
    logarithm of a mean of eight is biased, by the same amount at every dimension."""
    values = np.stack([run.data[name].values for name in names], 1)
    away = np.abs(values - limits(run, **changes)[..., None])
    means = away.reshape(len(away) // group, group, -1, away.shape[-1]).mean(1)
    moves = means.max((0, 2)) > 1e-12  # what is the same in every trial has no exponent
    return exponents(run.data.dim.values, means[:, moves])


def _trend(
    id: str, spec: str, statement: str, argued: str, limits: Limits, names: tuple[str, ...],
    other: Sabotage, case: dict[str, Any], **fields: Any,
) -> Claim:
    return claim(
        id, spec, statement, argued, other,
        Sabotage(
            "samples-stay", "Give every dimension the samples of the smallest.",
            {"samples_stay": True}),
        status="asymptotic", kind=SLOPE, statistic="mean", predict=lambda run: -0.5,
        measure=lambda run: approach(run, names, limits),
        scales=both_scales(case, case, (4, 1), (3, 60)), **fields)


REGIMES = ("few samples", "looks away", "own trace", "all informative")


def step_limits(run: Run, stronger: float = 1.0, longer: float = 1.0) -> np.ndarray:
    """What norms, cosine and share tend to, [number, case]; with a signal `stronger` and a step of
    the query `longer` by a factor."""
    columns = []
    for (
        length, informative, rate, signal, per_dim, eta_w, eta_b, eta_q, beta, loss,
    ) in run.parameters.cases:
        setting = SparseTokenSetting(length, informative, rate, stronger * signal)
        after = theory.alignment_after_two_steps(
            setting, per_dim, eta_w, eta_b, longer * eta_q, beta, loss)
        share = theory.informative_share(setting, after.q_cosine, after.sharpness, 11).share
        columns.append([after.w_norm, after.q_cosine, after.q_norm, share])
    return np.array(columns).T


STEPS = _trend(
    "sparse-token.steps-in-dimension", "ST-T3",
    "Whatever two gradient steps do, single trials approach it like d^(-1/2): with few samples,"
    " where rare positives turn the query away, where a sample's own trace rules, and where all"
    " tokens are informative; |w|, the query's cosine and norm, and the attention it gives to"
    " informative tokens (d = 12 to 108).",
    "Exponents from groups of eight trials fluctuate by 0.16 to 0.28, 0.035 over 64 groups; d = 12"
    " bends them by up to 0.08. Exponents of 0, for another limit, and of -1 lie outside.",
    step_limits, growing.STEPPED,
    Sabotage(
        "another-limit",
        "Take the distance to the limits of a signal twice as strong, and of a step"
        " of the query three times as long.",
        measure=lambda run: approach(run, growing.STEPPED, step_limits, stronger=2.0, longer=3.0)),
    {}, source=f"Theorem 3, {PAPER}; formulas ours", experiment=growing.growing_steps,
    resolution=0.28,
    # where all tokens are informative their share is one in every trial
    parts=tuple(f"{name}, {regime}" for name in growing.STEPPED for regime in REGIMES)[:-1])


def fit_limits(run: Run, **changes: Any) -> np.ndarray:
    """What loss, error and |w| of a fit tend to, with changes of the setting."""
    p, setting = run.parameters, setting_of(run, **changes)
    if p.place_probabilities:
        fit = common.checked(theory.fit_at_places(
            setting, np.eye(p.length), p.place_probabilities, p.samples_per_dim, p.ridge, p.loss
        ))
    else:
        fit = common.solved(
            setting, p.model, p.samples_per_dim, p.ridge, p.loss, **common.query_of(run, p.model))
    return np.array([getattr(fit, name) for name in growing.FITTED])


def _fits(name: str, spec: str, words: str, case: dict[str, Any]) -> Claim:
    return _trend(
        f"sparse-token.{name}-in-dimension", spec,
        f"Training loss, test error and |w| of single fits approach those of the equations like"
        f" d^(-1/2): {words}.",
        "Exponents from groups of eight trials fluctuate by 0.14 to 0.24, 0.03 over 64 groups; a"
        " finite-size error of order 1/d bends them by 0.04 to 0.1 at the smallest d.", fit_limits,
        growing.FITTED,
        Sabotage(
            "another-limit", "Take the distance to the limits at theta = 1.",
            measure=lambda run: approach(run, growing.FITTED, fit_limits, signal=1.0)),
        case, source=f"{'Theorem 4' if spec == 'ST-T4' else 'Theorem 5'}, {PAPER}; equations ours",
        experiment=growing.growing_fits, resolution=0.27,
        parts=("training loss", "test error", "|w|"))


ATTENTION = _fits(
    "attention", "ST-T4",
    "attention, logistic loss (R = 2 of 5, pi = 0.4, theta = 2.5, cos = 0.7, k = 1.3; d = 8 to 72)",
    {})
POOLED = _fits(
    "pooled", "ST-T5", "pooling, logistic loss (R = 1 of 4, pi = 0.4, theta = 3.5; d = 8 to 72)",
    {"model": "pooled", "length": 4, "informative": 1, "signal": 3.5, "ridge": 0.02})
_VECTORISED = {
    "model": "vectorised", "length": 3, "informative": 1, "samples_per_dim": 7.0, "ridge": 0.06,
    "dims": (3, 9, 27)}
VECTORISED = _fits(
    "vectorised", "ST-T5",
    "the vectorised classifier, square loss (R = 1 of 3, pi = 0.4, theta = 2.5; d = 3 to 27)",
    _VECTORISED | {"loss": "square", "trials": 384})
PLACES = _fits(
    "places", "ST-T5",
    "the vectorised classifier with places of chances 0.6, 0.3 and 0.1, logistic loss (pi = 0.4,"
    " theta = 2.5; d = 3 to 27)", _VECTORISED | {"place_probabilities": (0.6, 0.3, 0.1)})


def protocol_limits(run: Run, **changes: Any) -> np.ndarray:
    """Test errors at both lengths with the predicted query: overlaps of the training length under
    the law of the asked one."""
    p, setting = run.parameters, setting_of(run, **changes)
    steps = theory.alignment_after_two_steps(
        setting, p.query_samples_per_dim, eta_q=p.eta_q, loss=p.loss)
    query = (steps.q_cosine, steps.sharpness)
    fit = common.solved(setting, "attention", p.samples_per_dim, p.ridge, p.loss, *query)
    asked = [setting_of(run, **changes | {"length": size}) for size in (p.length, p.test_length)]
    return np.array([
        theory.error_rate(theory.feature_law(item, "attention", *query), fit.overlaps)
        for item in asked])


PROTOCOL = _trend(
    "sparse-token.protocol-in-dimension", "ST-F1",
    "End to end, query by two steps and read-out by a fit, single trials approach the predicted"
    " test error like d^(-1/2), at the length they were trained at and at another (R = 1 of 4 and"
    " of 9, pi = 0.45, theta = 3.4, square loss; d = 10 to 90).",
    "Exponents from groups of eight trials fluctuate by 0.2, 0.025 over 64 groups; a finite-size"
    " error of order 1/d bends them by 0.05.", protocol_limits, growing.ASKED,
    Sabotage(
        "another-limit", "Take the distance to the limits at theta = 5.",
        measure=lambda run: approach(run, growing.ASKED, protocol_limits, signal=5.0)),
    {}, source=f"Figure 1, {PAPER}; formulas ours", experiment=growing.growing_protocol,
    resolution=0.25, parts=("test error", "at another length"))
