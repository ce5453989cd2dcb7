"""How many samples a target error needs: attention with the best split between its two stages,
pooling, the vectorised classifier.

For n/d samples in all, attention spends a share on the two gradient steps (which fix the alignment
rho; eta_q then sets the sharpness k freely) and the rest on the read-out. The error of the fitted
logistic classifier is minimised over share, sharpness and ridge; pooled and vectorised over the
ridge. The smallest n/d whose best error meets the target is the answer, or none is: pooling and the
vectorised classifier can never beat the pooled error at known direction, nor attention its own
error at perfect alignment. Status: asymptotic (n, d to infinity), a numerical search with its error
recomputed at full accuracy at the answer.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from saccade.errors import InvalidInput, require
from saccade.studies.sparse_token.task import LARGEST, MODELS, SparseTokenSetting
from saccade.studies.sparse_token.theory.alignment import alignment_after_two_steps
from saccade.studies.sparse_token.theory.fitted import Resolution, fit, solve
from saccade.studies.sparse_token.theory.law import Overlaps, error_rate, feature_law
from saccade.studies.sparse_token.theory.oracle import pooled_oracle_error, subset_bayes_error

MOST = 1e4  # samples per (effective) dimension beyond which a need counts as "no number"
LEAST = 1e-3  # samples per dimension below which nothing is tried
# A larger ridge gains little in the limit, and at finite d the label counts then move the free bias
# more than the signal does.
MOST_RIDGE = 0.1
SEARCH = Resolution(9, 7, 201)
FIRST = (
    0.0, float(np.log(1.5)), float(np.log(0.05)))  # logit of the share, log sharpness, log ridge


class Choice(NamedTuple):
    """The best way to spend n/d samples, and the test error it reaches."""

    error: float
    ridge: float
    query_samples_per_dim: float = 0.0
    fit_samples_per_dim: float = 0.0
    alignment: float = 0.0
    sharpness: float = 0.0
    eta_q: float = 0.0


class Need(NamedTuple):
    """What a model needs: `samples_per_dim` in all (None: none suffices), how spent, why not, or
    why it is not the smallest number that suffices."""

    model: str
    samples_per_dim: float | None
    error: float | None
    limit: float
    choice: Choice | None
    reason: str
    status: str


class Plan(NamedTuple):
    """The needs of the models for one target error, and the smallest error of any classifier."""

    setting: SparseTokenSetting
    target_error: float
    bayes_error: float
    needs: tuple[Need, ...]


def quick_fit(
    setting, model: str, alpha: float, ridge: float, rho=None, k=None, start: Overlaps | None = None
) -> tuple[float, Overlaps | None]:
    """Test error and overlaps of the logistic fit on the coarse quadrature of the search."""
    law = feature_law(setting, model, rho, k, SEARCH.log2_points)
    solution = solve(law, alpha, ridge, "logistic", SEARCH, start)
    # A failed solve must not look attractive to the search.
    return (error_rate(law, solution.point), solution.point) if solution.converged else (1.0, None)


def best_linear(setting: SparseTokenSetting, model: str, alpha: float) -> Choice:
    """Pooled or vectorised (larger features, L times the ridge) at the best ridge of a grid."""
    ridges = 10.0 ** np.arange(-4, np.log10(MOST_RIDGE) + 0.01, 0.5)
    ridges = (ridges * (setting.length if model == "vectorised" else 1)).tolist()
    error, ridge = min((quick_fit(setting, model, alpha, ridge)[0], ridge) for ridge in ridges)
    return Choice(error, ridge, 0.0, alpha)


def spent(
    setting: SparseTokenSetting, alpha: float, x, start: Overlaps | None = None
) -> tuple[Choice, Overlaps | None]:
    """Attention with share, sharpness and ridge given as x = (logit, log, log), and its fit, from
    which that of a neighbour may `start`."""
    share = float(1 / (1 + np.exp(-np.clip(x[0], -6, 6))))
    sharpness = float(np.exp(np.clip(x[1], -5, np.log(8))))
    ridge = float(np.exp(np.clip(x[2], np.log(1e-4), np.log(MOST_RIDGE))))
    left = (1 - share) * alpha
    with np.errstate(divide="ignore", invalid="ignore"):  # |q| may leave the numbers, below
        steps = alignment_after_two_steps(setting, share * alpha, eta_q=1.0)
    eta_q = sharpness / max(steps.q_norm, 1e-300)
    if eta_q > LARGEST:  # of so few samples that the first step fits them all, and slopes vanish
        return Choice(1.0, ridge, share * alpha, left, 0.0, sharpness, LARGEST), None
    error, point = quick_fit(setting, "attention", left, ridge, steps.q_cosine, sharpness, start)
    return Choice(error, ridge, share * alpha, left, steps.q_cosine, sharpness, eta_q), point


def best_attention(
    setting: SparseTokenSetting, alpha: float, start=FIRST
) -> tuple[Choice, tuple[float, ...]]:
    """The best share, sharpness and ridge by Nelder and Mead's search, from the usual place and
    from `start`.

    Attending and hardly attending can both be local optima, so a neighbour's answer alone is not to
    be trusted as a start.
    """

    point: Overlaps | None = None

    def error(x) -> float:
        nonlocal point
        choice, point = spent(setting, alpha, x, point)
        return choice.error

    def search(first, evaluations: int):
        simplex = np.array(first) + np.concatenate([np.zeros((1, 3)), np.diag([0.8, 0.5, 1.2])])
        options = {"initial_simplex": simplex, "maxfev": evaluations, "xatol": 0.05, "fatol": 1e-5}
        return minimize(error, simplex[0], method="Nelder-Mead", options=options)

    ends = [search(FIRST, 45)] + ([] if np.allclose(start, FIRST) else [search(start, 25)])
    best = min(ends, key=lambda end: end.fun).x
    return spent(setting, alpha, best)[0], tuple(best)


def best_choice(
    setting: SparseTokenSetting, model: str, alpha: float, start=FIRST
) -> tuple[Choice, tuple[float, ...]]:
    """The best choice with n/d = alpha samples in all, and a start for a neighbouring search."""
    if model == "attention":
        return best_attention(setting, alpha, start)
    return best_linear(setting, model, alpha), FIRST


def best_errors(setting: SparseTokenSetting, model: str, samples_per_dim) -> list[float]:
    """The curve behind the answer: best test error at every n/d, on the coarse quadrature."""
    errors, start = [], FIRST
    for alpha in samples_per_dim:
        choice, start = best_choice(setting, model, float(alpha), start)
        errors.append(choice.error)
    return errors


def plan(
    setting: SparseTokenSetting, target_error: float, models=MODELS, bayes: float | None = None,
    tolerance: float = 0.01,
) -> Plan:
    """Samples per dimension each model needs for a test error, to a relative `tolerance` in n/d."""
    smallest, status = bayes, "given"
    if smallest is None:
        smallest, status = subset_bayes_error(setting)[:2]
    # a bound may lie above the Bayes error
    check_target(setting, target_error, 0.0 if status == "bound" else smallest)
    return Plan(
        setting, target_error, smallest,
        tuple(need(setting, model, target_error, tolerance) for model in models))


def check_target(setting: SparseTokenSetting, target_error: float, smallest: float) -> None:
    """Refuse a target no classifier can meet, and one that needs no samples."""
    trivial = min(setting.positive_rate, 1 - setting.positive_rate)
    inside = bool(np.isfinite(target_error)) and 0 < target_error < trivial
    rule = f"must lie between 0 and {trivial:.6g}, the error of always giving the commoner answer"
    require(inside, "target_error", target_error, rule)
    if target_error < smallest:
        raise InvalidInput(
            f"target_error = {target_error!r} is below the Bayes error {smallest:.4g}: no"
            " classifier of these tokens reaches it.")


def limit_error(setting: SparseTokenSetting, model: str) -> tuple[float, str]:
    """The error no number of samples gets below, and why."""
    pooled = pooled_oracle_error(setting).error
    linear = (
        "even with the direction known, a signal-to-noise ratio of theta R/sqrt(L) ="
        f" {setting.signal_to_noise:.3g} leaves an error of {pooled:.4g}")
    if model != "attention":
        return pooled, linear
    steps = alignment_after_two_steps(setting, MOST, eta_q=1.0)
    ladder = [(k, ridge) for k in (0.5, 1.0, 1.5, 2.0, 3.0, 5.0) for ridge in (1e-4, 1e-2)]
    quick = [
        quick_fit(setting, "attention", MOST, ridge, steps.q_cosine, k)[0] for k, ridge in ladder]
    k, ridge = ladder[int(np.argmin(quick))]
    best = fit(setting, "attention", MOST, ridge, "logistic", steps.q_cosine, k).test_error
    if best < pooled:
        return best, (
            f"even at a cosine of {steps.q_cosine:.4g} and the best sharpness, the read-out of"
            f" {MOST:g} samples per dimension errs with {best:.4g}")
    away = (
        "two gradient steps turn the query away from the signal" if steps.q_cosine < 0
        else "the query does not help")
    return pooled, (
        f"{away} (cosine {steps.q_cosine:.3g}), so attention can do no better than pooling,"
        f" and {linear}")


def need(setting: SparseTokenSetting, model: str, target: float, tolerance: float = 0.01) -> Need:
    """The smallest n/d that reaches `target`: a bracket, bisection in log n/d, a fine check."""
    limit, why = limit_error(setting, model)
    none = Need(model, None, None, limit, None, why, "no number suffices")
    if target <= limit:
        return none
    most = MOST * (setting.length if model == "vectorised" else 1)
    seek = partial(best_choice, setting, model)
    low, high, choice, start = bracket(seek, target, most)
    if low is None:
        error = fine_error(setting, model, choice)
        return Need(
            model, high, error, limit, choice._replace(error=error),
            f"the fewest that are tried, {high:.3g} samples per dimension, meet it",
            "fewer may suffice")
    if high is None:
        return none._replace(reason=(
            f"more than {most:g} samples per dimension would be needed; the error with infinitely"
            f" many is {limit:.4g}"))
    while np.log(high / low) > tolerance:
        middle = float(np.sqrt(low * high))
        tried, start = seek(middle, start)
        if tried.error <= target:
            high, choice = middle, tried
        else:
            low = middle
    return settle(setting, model, choice, target, limit)


def bracket(seek, target: float, most: float):
    """(too few, enough, choice at enough, start): n/d by factors of four from 1 to `most`, where
    enough is None if that is too few, or down to below `LEAST`, where too few is None if that is
    enough."""
    alpha = 1.0
    choice, start = seek(alpha)
    factor = 0.25 if choice.error <= target else 4.0
    while True:
        if factor > 1 and alpha >= most:
            return alpha, None, choice, start
        if factor < 1 and alpha < LEAST:
            return None, alpha, choice, start
        other = min(alpha * factor, most)
        tried, start = seek(other, start)
        if (tried.error <= target) != (choice.error <= target):
            return (other, alpha, choice, start) if factor < 1 else (alpha, other, tried, start)
        alpha, choice = other, tried


def settle(setting, model: str, choice: Choice, target: float, limit: float) -> Need:
    """Move n/d (same split, sharpness, ridge) until the error of the full quadrature meets it."""
    error = fine_error(setting, model, choice)
    for _ in range(6):
        if met(error, target):
            break
        rise = np.log(fine_error(setting, model, stretched(choice, 1.05)) / error) / np.log(1.05)
        if rise >= -1e-3:
            break
        move = float(np.exp(np.clip(np.log(target / error) / rise, -0.4, 0.4)))
        choice = stretched(choice, move)
        error = fine_error(setting, model, choice)
    total = choice.query_samples_per_dim + choice.fit_samples_per_dim
    told = (
        ("", "converged") if met(error, target)
        else ("the error was not met to 0.2 %", "not converged"))
    return Need(model, total, error, limit, choice._replace(error=error), *told)


def met(error: float, target: float) -> bool:
    """To 0.2 %."""
    return bool(abs(error / target - 1) < 2e-3)


def stretched(choice: Choice, factor: float) -> Choice:
    """The same choice with `factor` times as many samples in both stages."""
    return choice._replace(
        query_samples_per_dim=factor * choice.query_samples_per_dim,
        fit_samples_per_dim=factor * choice.fit_samples_per_dim)


def fine_error(setting: SparseTokenSetting, model: str, choice: Choice) -> float:
    """Test error of a choice at the default accuracy of `fit`; its query is that of eta_q."""
    query = (None, None)
    if model == "attention":
        steps = alignment_after_two_steps(setting, choice.query_samples_per_dim, eta_q=choice.eta_q)
        query = (steps.q_cosine, steps.sharpness)
    return fit(
        setting, model, choice.fit_samples_per_dim, choice.ridge, "logistic", *query).test_error
