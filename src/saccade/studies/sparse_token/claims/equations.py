"""Claims on the equations of fitted linear classifiers, against a root search of the definition."""

from functools import partial

import numpy as np

from saccade.lab.claim import Scale, one_row
from saccade.lab.experiment import Run
from saccade.lab.kinds import IDENTITY
from saccade.studies.sparse_token import calculators, cells, theory
from saccade.studies.sparse_token.claims.common import asked, checked, claim, wrong
from saccade.studies.sparse_token.experiments import equations
from saccade.studies.sparse_token.task import SparseTokenSetting

CASES = tuple(f"{loss}, n/d={alpha:g}" for loss, alpha, _ in equations.CASES)
_solved = partial(
    claim, source="ours", status="quadrature", kind=IDENTITY, experiment=equations.linear_equations,
    resolution=1e-7)


def _setting(run: Run) -> SparseTokenSetting:
    p = run.parameters
    return SparseTokenSetting(len(p.chances), 1, p.positive_rate, p.signal)


def _at_places(run: Run, chances=None) -> np.ndarray:
    """The study's own answers for uneven places, case by case."""
    p, rows = run.parameters, []
    for loss, alpha, ridge in p.cases:
        fit = checked(theory.fit_at_places(
            _setting(run), np.eye(len(p.chances)), chances or p.chances, alpha, ridge, loss))
        rows.append([*(getattr(fit, name) for name in equations.SOLVED), *fit.token_signal])
    return np.array(rows).ravel()


PLACES = _solved(
    "sparse-token.places-equations", "ST-T5",
    "For uneven places the study's solution of the equations, closed form for the square loss, is"
    " that of a general root search: losses, errors, bias, |W| and every token's overlap, with more"
    " and with fewer samples than weights.",
    "Two quadratures of smooth functions, 401 and 100 nodes, and residuals below 1e-9.",
    wrong("certain", "Predict for a nearly certain place.", _at_places, (0.97, 0.01, 0.01, 0.01)),
    measure=lambda run: one_row(
        np.concatenate([run.data.solved.values, run.data.token_signal.values], 1)),
    predict=_at_places,
    parts=tuple(
        f"{what}, {case}" for case in CASES
        for what in (*equations.SOLVED, *(f"token {place}" for place in range(4)))))

EVEN = {"chances": (0.25,) * 4}
NUMBERS = (*equations.SOLVED, "w_signal")


def _of_models(run: Run, signal: float | None = None) -> np.ndarray:
    """The vectorised classifier, then pooling with as many samples a weight and as strong a ridge,
    whose weights are sqrt(L) times as long."""
    p, setting, rows = run.parameters, _setting(run), []
    if signal is not None:
        setting = SparseTokenSetting(setting.length, 1, setting.positive_rate, signal)
    for model, share in (("vectorised", 1), ("pooled", setting.length)):
        for loss, alpha, ridge in p.cases:
            fit = checked(theory.fit(setting, model, alpha / share, ridge / share, loss))
            scale = {"w_norm": share**-0.5, "w_signal": share**-0.5}
            rows.append([scale.get(name, 1.0) * getattr(fit, name) for name in NUMBERS])
    return np.array(rows).ravel()


def _of_definition(run: Run) -> np.ndarray:
    together = run.data.token_signal.values.sum(1, keepdims=True) / 2  # over sqrt(L)
    once = np.concatenate([run.data.solved.values, together], 1).ravel()
    return one_row(np.tile(once, 2))


MODELS = _solved(
    "sparse-token.linear-equations", "ST-T5",
    "For even places the vectorised classifier's equations, and pooling's with as many samples a"
    " weight and as strong a ridge, have the solution of a general root search, both losses.",
    "Two quadratures of smooth functions, 801 and 100 nodes, and residuals below 1e-9.",
    wrong("weaker", "Predict for theta = 2.9.", _of_models, 2.9), measure=_of_definition,
    predict=_of_models,
    parts=tuple(
        f"{what}, {case}, {model}" for model in ("vectorised", "pooled") for case in CASES
        for what in NUMBERS),
    scales={"quick": Scale(EVEN)})

ONE = {"chances": (1.0,)}
ALONG = (*NUMBERS, "w_query")
TOWARDS = (0.6, 0.6, -0.8, -0.8)
"""The query's cosine with the signal, case by case."""


def _attends(run: Run, signal: float | None = None) -> np.ndarray:
    """Attention to the only token there is, with a query of sharpness 1.3."""
    p, rows = run.parameters, []
    for (loss, alpha, ridge), cosine in zip(p.cases, TOWARDS, strict=True):
        fit = checked(asked(
            calculators.fit, length=1, informative=1, positive_rate=p.positive_rate,
            signal=signal or p.signal, model="attention", alignment=cosine, sharpness=1.3,
            loss=loss, samples_per_dim=alpha, ridge=ridge))
        rows.append([getattr(fit, name) for name in ALONG])
    return np.array(rows).ravel()


def _turned(run: Run) -> np.ndarray:
    signal = run.data.token_signal.values
    return one_row(
        np.concatenate([run.data.solved.values, signal, signal * np.array(TOWARDS)[:, None]], 1))


ONE_TOKEN = _solved(
    "sparse-token.one-token-equations", "ST-T4",
    "With one token attention is a linear classifier, whatever its query, towards the signal or"
    " away from it: the equations in five overlaps have the solution of the linear ones, and w lies"
    " along the query by its cosine with the signal.",
    "Two quadratures; nine nodes of a shifted grid leave some 1e-6.",
    wrong("weaker", "Predict for theta = 2.9.", _attends, 2.9), measure=_turned, predict=_attends,
    resolution=1e-5, parts=tuple(f"{what}, {case}" for case in CASES for what in ALONG),
    scales={"quick": Scale(ONE)})

BEST_OF = tuple(
    ("logistic", share * 3.5, share * ridge) for share in (4, 1) for ridge in (0.01, 0.1, 1.0))


def _winner(run: Run, signal: float | None = None) -> list[float]:
    """A cell of the sweep over classifiers; attention is evenly shared, so that it pools."""
    p = run.parameters
    cell = cells.winner.function(
        None, length=len(p.chances), informative=1, positive_rate=p.positive_rate,
        signal=signal or p.signal, alignment=0.3, sharpness=0.0, samples_per_dim=3.5)
    return cell.test_error.sel(model=["attention", "pooled", "vectorised"]).values.tolist()


def _least(run: Run) -> np.ndarray:
    """Pooling with as many samples a weight and as strong a ridge, twice; the vectorised one."""
    pooled, vectorised = run.data.solved.values[:, 2].reshape(2, -1).min(axis=1)
    return one_row([pooled, pooled, vectorised])


BEST = _solved(
    "sparse-token.best-of-ridges", "ST-T5",
    "A cell of the sweep over classifiers has the smallest error over its three ridges, 0.01, 0.1"
    " and 1, of a general root search (logistic loss, n/d = 3.5): of pooling, of attention that is"
    " evenly shared, of the vectorised classifier.",
    "Two quadratures; nine nodes of a shifted grid leave some 1e-6 of attention.",
    wrong("weaker", "Predict for theta = 2.9.", _winner, 2.9), measure=_least, predict=_winner,
    resolution=[1e-5, 1e-7, 1e-7], parts=("attention", "pooled", "vectorised"),
    scales={"quick": Scale(EVEN | {"cases": BEST_OF}, seconds=1)})
