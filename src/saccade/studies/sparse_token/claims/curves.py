"""The claim on curves over the number of samples: fits one after the other, and best errors."""

import numpy as np

from saccade.lab.claim import Sabotage, Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import IDENTITY
from saccade.studies.sparse_token import theory
from saccade.studies.sparse_token.claims.common import checked, claim, wrong
from saccade.studies.sparse_token.experiments import equations
from saccade.studies.sparse_token.task import SparseTokenSetting
from saccade.studies.sparse_token.theory.plan import (
    Choice,
    fine_error,
    need,
    settle,
    spent,
    stretched,
)

ALPHAS = (2.0, 8.0)
RIDGES = tuple(float(4 * 10.0**power) for power in np.arange(-4, -0.9, 0.5))
SHOWN = 5
CASES: tuple[equations.Case, ...] = tuple(
    ("logistic", alpha, ridge) for alpha in ALPHAS for ridge in RIDGES)


def _solved(run: Run) -> np.ndarray:
    """Test errors and bias at one ridge, and the least error over all, by number of samples."""
    solved = run.data.solved.values.reshape(len(ALPHAS), len(RIDGES), -1)
    error, b = solved[..., 2], solved[..., 4]
    return one_row(np.concatenate([error[:, SHOWN], b[:, SHOWN], error.min(axis=1)]))


def _sharpness(
    run: Run, alpha: float = 7.0, logit: float = 0.3, taught: float = 1.0, aim: float = 0.93,
    more: float = 10.5,
) -> np.ndarray:
    """What a plan for `alpha` samples split by `logit` makes of them, over what is wanted of one
    for 7 and 0.3: two steps of the size that it names, on `taught` times its samples, the sharpness
    1.8 and the cosine it counts on; all its samples and their split; the same of a plan that is
    asked for `aim` of the error, over 0.93 of it; whether a plan of pooling that is asked for the
    error of `more` times its samples says that it is met."""
    p = run.parameters
    setting = SparseTokenSetting(len(p.chances), 1, p.positive_rate, p.signal)
    choice = spent(setting, alpha, (logit, np.log(1.8), np.log(0.02)))[0]
    steps = theory.alignment_after_two_steps(
        setting, taught * choice.query_samples_per_dim, eta_q=choice.eta_q)
    total = choice.query_samples_per_dim + choice.fit_samples_per_dim
    need = settle(setting, "attention", choice, aim * choice.error, 0.0)
    assert need.choice is not None
    met = fine_error(setting, "attention", need.choice)
    pooled = Choice(0.5, 0.02, 0.0, alpha)
    far = settle(
        setting, "pooled", pooled, fine_error(setting, "pooled", stretched(pooled, more)), 0.0)
    return one_row([
        steps.sharpness / 1.8, steps.q_cosine / choice.alignment, total / 7,
        _logit(choice) / 0.3, met / (0.93 * choice.error), _logit(need.choice) / 0.3,
        float(far.status == "converged")])


def _logit(choice: Choice) -> float:
    """Of the share of the samples that the query gets."""
    return float(np.log(choice.query_samples_per_dim / choice.fit_samples_per_dim))


def _curves(run: Run, signal: float | None = None) -> list[float]:
    p = run.parameters
    setting = SparseTokenSetting(len(p.chances), 1, p.positive_rate, signal or p.signal)
    fits = [checked(fit) for fit in theory.fit_curve(setting, "vectorised", ALPHAS, RIDGES[SHOWN])]
    best = theory.best_errors(setting, "vectorised", ALPHAS)
    return [*(fit.test_error for fit in fits), *(fit.b for fit in fits), *best]


CURVES = claim(
    "sparse-token.curves", "ST-T5",
    "Fits along a curve, each started from its neighbour, and the best errors of the planner over"
    " its ridges are those of a general root search at every point.",
    "Two quadratures of smooth functions, 201 and 100 nodes, and residuals below 1e-8.",
    wrong("weaker", "Predict for theta = 2.9.", _curves, 2.9), source="ours", status="quadrature",
    kind=IDENTITY, experiment=equations.linear_equations, measure=_solved, predict=_curves,
    resolution=1e-6,
    parts=tuple(
        f"{what}, n/d={alpha:g}" for what in ("test error", "bias", "best error")
        for alpha in ALPHAS),
    scales={"quick": Scale({"chances": (0.25,) * 4, "cases": CASES}, seconds=2)})

SPENT = claim(
    "sparse-token.samples-spent", "ST-PLAN",
    "The samples of a plan are spent as it says: shares by the logit, and a step size that gives"
    " the query its sharpness, at the cosine on which the read-out counts. More samples for a"
    " smaller error are split alike, and bring it; six moves reach ten times the samples, and the"
    " last of them counts.",
    "Rounding; the planner stops within 0.2 % of an error. Six moves of e^0.4 are a factor of 11.",
    Sabotage(
        "more-samples", "Two steps on a tenth more samples.",
        measure=lambda run: _sharpness(run, taught=1.1)),
    Sabotage(
        "another-plan", "A plan for 7.7 samples split by a logit of 0.33, and 0.91 of its error.",
        measure=lambda run: _sharpness(run, 7.7, 0.33, aim=0.91)),
    Sabotage(
        "too-far", "Ask for the error of 16 times the samples.",
        measure=lambda run: _sharpness(run, more=16.0)),
    source="ours", status="quadrature", kind=IDENTITY, experiment=equations.linear_equations,
    measure=_sharpness, predict=lambda run: 1.0, resolution=[*[1e-9] * 4, 2.1e-3, 1e-9, 0.0],
    parts=("sharpness", "cosine", "in all", "logit", "error met", "logit then", "far met"),
    scales={"quick": Scale({"chances": (0.25,) * 4, "cases": CASES[:1]})})

MOST, RIDGE = 30_000.0, 4e-4


def _far(run: Run, share: float = 1.0, beyond: float = 3.0, easy: float = 0.499) -> np.ndarray:
    """Of a target error that leaves `share` of the distance to the error with infinitely many
    samples: what the vectorised classifier needs and L times what pooling needs, over the samples
    of the run; its ridge over that of the run; whether there is no number for pooling at a target
    `beyond` times as near; whether fewer samples than are tried may suffice for an error of
    `easy` with balanced labels."""
    p, error = run.parameters, float(run.data.solved.values[0, 2])
    setting = SparseTokenSetting(len(p.chances), 1, p.positive_rate, p.signal)
    limit = theory.pooled_oracle_error(setting).error
    target = limit + share * (error - limit)
    told, pooled = (need(setting, model, target) for model in ("vectorised", "pooled"))
    none = need(setting, "pooled", limit + (error - limit) / beyond)
    few = need(SparseTokenSetting(setting.length, 1, 0.5, p.signal), "pooled", easy)
    numbers = [item.samples_per_dim or np.inf for item in (told, pooled)]
    ridge = np.inf if told.choice is None else told.choice.ridge
    return one_row([
        numbers[0] / MOST, setting.length * numbers[1] / MOST, ridge / RIDGE,
        float(none.samples_per_dim is None), float(few.status == "fewer may suffice")])


NEEDS = claim(
    "sparse-token.needs-near-limit", "ST-PLAN",
    "Close to what infinitely many samples reach the planner still names the number: 30000 a"
    " dimension for the vectorised classifier of four tokens and a quarter for pooling, at the"
    " smallest ridge; beyond 10000 samples a weight it says that there is none. Where the fewest"
    " samples that it tries are enough (an error of 0.499 with balanced labels) it says so.",
    "The bisection ends within 1 %; both sides know the error to 1e-9, and it is 4e-5 above the"
    " limit.",
    Sabotage(
        "further-off", "Ask for half as many samples' error, and for pooling's again.",
        measure=lambda run: _far(run, 2.0, 1.1)),
    Sabotage(
        "much-further", "Ask for the error of a few samples, where a larger ridge is better.",
        measure=lambda run: _far(run, 2000.0)),
    Sabotage(
        "not-so-easy", "Ask for an error of 0.45 with balanced labels.",
        measure=lambda run: _far(run, easy=0.45)),
    source="ours", status="quadrature", kind=IDENTITY, experiment=equations.linear_equations,
    measure=_far, predict=lambda run: 1.0, resolution=[0.011, 0.011, 1e-9, 0.0, 0.0],
    parts=("vectorised", "pooled", "ridge", "none", "few"),
    scales={
        "quick": Scale({"chances": (0.25,) * 4, "cases": (("logistic", MOST, RIDGE),)}, seconds=2)})
