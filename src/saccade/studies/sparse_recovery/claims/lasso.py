"""Claims on the LASSO: roads to its minimum, its duality gap, how sharp the bounds of ISTA and
FISTA are, and coherences that are known."""

from functools import partial
from itertools import combinations

import jax
import numpy as np
from scipy.special import betainc, j1

from saccade.lab.claim import Sabotage, one_row
from saccade.lab.experiment import Run
from saccade.lab.fits import exponents
from saccade.lab.kinds import ESTIMATE, IDENTITY, SLOPE
from saccade.studies.sparse_recovery import cells, theory
from saccade.studies.sparse_recovery.claims import broken, claim, seconds
from saccade.studies.sparse_recovery.experiments import lasso, solvers

ROADS = claim(
    "sparse-recovery.lasso-roads", "SR-P1",
    "Paths, coordinate descent and active sets find the same minimum of 40 LASSO problems, each"
    " with a lam of its own, and the paths need no help.",
    "Rounding; 300 sweeps converge at 80 x 30, where a path has some 30 pivots.",
    Sabotage("other-penalty", "Follow the paths to 1.1 lam.", {"path_factor": 1.1}),
    Sabotage("few-sweeps", "Three sweeps of coordinate descent.", {"sweeps": 3}),
    Sabotage("no-tolerance", "Ask for a gap of 1e-18: rounding forbids.", {"tolerance": 1e-18}),
    measure=lambda run: one_row(
        [*(run.data[name].values.mean() for name in ("paths", "sweeps")), float(run.data.left)]),
    predict=lambda run: [*[run.data["active sets"].values.mean()] * 2, 0.0],
    resolution=[1e-8, 1e-8, 0.05], kind=IDENTITY, experiment=lasso.lasso_roads,
    parts=("paths", "coordinate descent", "share left to active sets"), scales=seconds(quick=3))


def _large(run: Run) -> np.ndarray:
    """Objectives above scikit-learn's (medians over problems), the median gap, and gaps reported
    by working sets that stopped early (means)."""
    data = run.data
    above = [np.median(data[name] - data.peer) for name in ("working_sets", "whole")]
    told = [data[name].values.mean() for name in ("early_gap", "relative_gap")]
    return one_row([*above, np.median(data.gap), *told])


LARGE = claim(
    "sparse-recovery.large-lasso", "SR-P1",
    "Working sets alone find scikit-learn's minimum of problems with 60 rows and 400 columns, in"
    " the median, and say truly how near they are.",
    "Rounding, and what scikit-learn's stopping rule leaves. About one problem in twenty needs the"
    " fallback, so medians over nine.",
    Sabotage("other-penalty", "Give scikit-learn 1.3 lam.", {"penalty_factor": 1.3}),
    Sabotage("loose", "Stop at a gap of nine tenths: at zero.", {"tolerance": 0.9}),
    Sabotage("early-elsewhere", "Stop early at 1.2 lam.", {"early_share": 1.2}), measure=_large,
    predict=lambda run: [0.0, 0.0, 0.0, *[run.data.true_gap.values.mean()] * 2], resolution=1e-8,
    kind=IDENTITY, experiment=lasso.large_lasso,
    parts=("working sets", "with their fallback", "gap", "gap when stopped", "relative gap"),
    scales=seconds(quick=3))

SEARCHES = claim(
    "sparse-recovery.line-searches", "SR-P1",
    "The line searches of working sets and of active sets end at the least F among the points where"
    " a coordinate vanishes and the end of the way.", "Rounding; the mean over 30 random ways.",
    Sabotage("whole-way", "The loops look at the end of the way only.", {"whole": True}),
    measure=lambda run: one_row(run.data.found.values.mean(axis=1)),
    predict=lambda run: run.data.least.values.mean(axis=1), resolution=1e-9, kind=IDENTITY,
    experiment=lasso.line_searches, parts=("working sets", "active sets"), scales=seconds(quick=1))


DEPENDENT = claim(
    "sparse-recovery.dependent-columns", "SR-P1",
    "Where columns depend on each other active sets still end at the minimum, from a start that"
    " wastes length, and without a penalty at the shortest solution of least squares.",
    "Rounding; eight problems of six columns of rank three, all supports and signs tried.",
    Sabotage("other-penalty", "The plain versions for 1.1 lam, and 1.1 y.", {"plain_lam": 0.33}),
    measure=lambda run: one_row(run.data.found.values.mean(axis=1)),
    predict=lambda run: run.data.plain.values.mean(axis=1), resolution=1e-7, kind=IDENTITY,
    experiment=lasso.dependent_columns, parts=("F", "shortest", "left over"),
    scales=seconds(quick=1))


def _stated(run: Run) -> list[float]:
    X, y, b = (run.data[name].values for name in ("X", "y", "b"))
    lam = run.parameters.lam
    return [
        float(value)
        for value in (
            theory.lasso_objective(X, y, b, lam), theory.duality_gap(X, y, b, lam),
            theory.duality_gap(X, y, b, 0.0), theory.lam_max(X, y), _together(X, y, b, lam), 3)]


def _together(X: np.ndarray, y: np.ndarray, b: np.ndarray, lam: float) -> float:
    """The gaps of three problems at once, for lam, zero and nine lam, each with a weight."""
    X, y, b = (np.stack([part] * 3) for part in (X, y, b))
    return float(theory.duality_gap(X, y, b, lam * np.array([1.0, 0.0, 9.0])) @ [1, 2, 3])


GAP = claim(
    "sparse-recovery.gap-by-definition", "SR-P1",
    "Objective, duality gap (also for lam = 0, alone and beside others) and lam_max are those of"
    " their definitions at a point that is no minimum; an error that is no number is infinite.",
    "Rounding; the gap is written without cancellation.",
    Sabotage("per-row", "The other convention: F over the number of rows.", {"per_row": True}),
    Sabotage("one-less", "One estimate less that is no number.", {"no_numbers": 1}),
    measure=lambda run: one_row(run.data.value.values), predict=_stated, resolution=1e-10,
    kind=IDENTITY, experiment=lasso.gap_by_definition,
    parts=("objective", "gap", "gap, lam = 0", "lam_max", "gaps together", "errors, no numbers"),
    scales=seconds(quick=2))


def _used(run: Run) -> np.ndarray:
    """The share of its bound that each algorithm uses after k steps on its slowest quadratic."""
    p, steps = run.parameters, run.data.step.values
    bounds = [bound(steps, p.largest, p.start) for bound in (theory.ista_bound, theory.fista_bound)]
    return one_row(run.data.gap.values / np.array(bounds))


def _fista_share(k: int) -> float:
    """Of 2 L D^2/(k + 1)^2, by FISTA's recursion for one coordinate of curvature L (1.8412/k)^2
    that starts D = 1 from the minimum."""
    slow, moment, before, off = (lasso.SLOWEST / k) ** 2, 1.0, 1.0, 1.0 - (lasso.SLOWEST / k) ** 2
    for _ in range(k - 1):
        later = (1 + np.sqrt(1 + 4 * moment**2)) / 2
        ahead = off + (moment - 1) / later * (off - before)
        moment, before, off = later, off, (1 - slow) * ahead
    return slow * off**2 / 2 / (2 / (k + 1) ** 2)


def _limits(run: Run) -> np.ndarray:
    k = run.data.step.values
    fista = [*(_fista_share(int(few)) for few in k[:-1]), j1(lasso.SLOWEST) ** 2]
    return np.concatenate([k / (2 * k + 1) * (1 - 1 / (2 * k + 1)) ** (2 * k), fista])


SHARP = claim(
    "sparse-recovery.rates-nearly-attained", "SR-T5",
    "On the slowest quadratic ISTA uses k/(2k+1) (1 - 1/(2k+1))^(2k), about 1/(2e), of its bound"
    " after k = 10, 100, 1000 steps, and FISTA what its recursion says of its own, which tends to"
    " J_1(1.841)^2 = 0.339.",
    "Exact, but for FISTA's 1000 steps: that limit is of a differential equation (Su, Boyd, Candes"
    " 2014), from which steps are off by log(k)/k.",
    Sabotage("faster", "Three times the curvature.", {"faster": 3.0}), measure=_used,
    predict=_limits, resolution=[1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 0.003], status="asymptotic",
    kind=ESTIMATE, experiment=lasso.slowest_quadratics,
    parts=tuple(f"{who}, {k} steps" for who in ("ISTA", "FISTA") for k in (10, 100, 1000)),
    scales=seconds(quick=3),
    finding=(
        "The bounds of ISTA and FISTA are loose by 2e = 5.4 and by 2.95 at most: on one quadratic"
        " they are nearly attained."))


def _approach(run: Run) -> np.ndarray:
    """Exponents in k of what ISTA's share lacks to 1/(2e), and of what FISTA's lacks to J_1^2, over
    log k."""
    ista, fista = _used(run).reshape(2, -1)
    k = run.data.step.values.astype(float)
    short = np.stack(
        [np.abs(1 / (2 * np.e) - ista), np.abs(j1(lasso.SLOWEST) ** 2 - fista) / np.log(k)])
    return one_row(exponents(k, short))


IN_THE_LIMIT = claim(
    "sparse-recovery.rates-in-the-limit", "SR-T5",
    "What ISTA uses of its bound on the slowest quadratic comes to 1/(2e) as 1/k, and what FISTA"
    " uses of its own to J_1(1.841)^2 as log(k)/k.",
    "No chance. After 10, 100 and 1000 steps ISTA's next order leaves 0.01 of the exponent; FISTA's"
    " is not known, and 0.1 was set after a look at its first two numbers.",
    Sabotage("faster", "Three times the curvature.", {"faster": 3.0}), measure=_approach,
    predict=lambda run: -1.0, resolution=[0.02, 0.1], status="asymptotic", kind=SLOPE,
    experiment=lasso.slowest_quadratics, parts=("ISTA", "FISTA, over log k"),
    scales=seconds(quick=3))


def _of_simplex(run: Run) -> np.ndarray:
    X, W = run.data.X.values[0], run.data.W.values[0]
    lengths = np.linspace(0.52, 0.8, X.shape[1])  # no length is one, and none above
    return one_row([
        theory.normalised_coherence(X), theory.coherence(W, X), theory.lp_coherence(X),
        theory.normalised_coherence(X * lengths), theory.lp_coherence(X * lengths),
        theory.frobenius_objective(W, X)])


def _simplex_coherences(run: Run) -> list[float]:
    """All pairs of d = N + 1 unit vectors that sum to zero have the product -1/N. With lengths c_j
    it is max c_j/c_i/N for normalised columns and max_i 1/(c_i sum_{j != i} 1/c_j) at best."""
    rows, dim = run.parameters.rows, run.parameters.rows + 1
    c = np.linspace(0.52, 0.8, dim)
    best = max(1 / (c[i] * (1 / np.delete(c, i)).sum()) for i in range(dim))
    return [*[1 / rows] * 3, c[-1] / c[0] / rows, best, dim * (1 + 1 / rows)]


SIMPLEX = claim(
    "sparse-recovery.coherence-of-a-simplex", "SR-A2",
    "For N + 1 vectors at equal angles all three coherences are 1/N, and with unequal lengths they"
    " are those of their closed forms.", "Rounding; the linear program is solved to 1e-9.",
    Sabotage("random-columns", "Random columns instead.", {"simplex": False}), measure=_of_simplex,
    predict=_simplex_coherences, resolution=1e-7, kind=IDENTITY, experiment=solvers.weights,
    parts=(
        "normalised columns", "ALISTA's weight", "linear program", "normalised, unequal",
        "linear program, unequal", "|W^T X|^2"),
    scales=seconds(quick=2, rows=5, dim=6, matrices=1, simplex=True))


def _within(run: Run, rows: int | None = None) -> float:
    """What N random rows do not see of a vector of d numbers is a share of its squared length that
    has the law Beta((d - N)/2, N/2)."""
    p = run.parameters
    seen = p.measurements if rows is None else rows
    return float(betainc((p.dim - seen) / 2, seen / 2, p.tolerance))


FOUND = claim(
    "sparse-recovery.least-squares-share", "SR-P1",
    "In a cell of the sweep the shortest solution of least squares is as often within two fifths of"
    " the vector's squared length as the share that five random rows of eight miss is below that.",
    "500 vectors leave 0.02; five standard errors.",
    Sabotage("six-rows", "Told for six rows.", predict=lambda run: _within(run, 6)),
    measure=lambda run: one_row([float(run.data.success.sel({"method": "least squares"}))]),
    predict=_within, resolution=0.1, kind=IDENTITY, experiment=cells.success,
    scales=seconds(quick=1, dim=8, measurements=5, sparsity=6, depth=2, trials=500, tolerance=0.4))


def _shares(run: Run, fewer: int = 0) -> list[float]:
    """How often four methods find 4000 vectors of our own, maybe from fewer rows, in NumPy; l1
    minimisation by going through all sets of as many columns as there are rows."""
    p, chance = run.parameters, np.random.default_rng(1)
    rows = p.measurements - fewer
    X = chance.normal(size=(4000, rows, p.dim))
    chosen = chance.permuted(np.tile(np.arange(p.dim) < p.sparsity, (4000, 1)), axis=1)
    beta = chosen * chance.normal(size=(4000, p.dim))
    y = np.einsum("pnd,pd->pn", X, beta)

    def share(b: np.ndarray) -> float:
        return float(np.mean(((b - beta) ** 2).sum(1) <= p.tolerance * (beta**2).sum(1)))

    shortest = np.einsum("pdn,pn->pd", np.linalg.pinv(X), y)
    stepped = [
        max(share(_stepped(X, y, lam, p.depth, ahead)) for lam in cells.PENALTIES)
        for ahead in (False, True)]
    return [share(shortest), *stepped, share(_least_length(X, y))]


def _stepped(X: np.ndarray, y: np.ndarray, lam: float, steps: int, ahead: bool) -> np.ndarray:
    """ISTA, or with momentum FISTA."""
    largest = np.linalg.norm(X, 2, axis=(1, 2))[:, None] ** 2
    b = point = np.zeros((len(X), X.shape[2]))
    t = 1.0
    for _ in range(steps):
        r = np.einsum("pnd,pd->pn", X, point) - y
        u = point - np.einsum("pnd,pn->pd", X, r) / largest
        new, later = np.sign(u) * np.maximum(np.abs(u) - lam / largest, 0), 1.0
        if ahead:
            later = (1 + np.sqrt(1 + 4 * t**2)) / 2
        point = new + (t - 1) / later * (new - b)
        b, t = new, later
    return b


def _least_length(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The solution of X b = y with the least |b|_1: it needs no more columns than rows."""
    best, length = np.zeros((len(X), X.shape[2])), np.full(len(X), np.inf)
    for columns in map(list, combinations(range(X.shape[2]), X.shape[1])):
        values = np.linalg.solve(X[:, :, columns], y[..., None])[..., 0]
        shorter = np.abs(values).sum(1) < length
        length = np.where(shorter, np.abs(values).sum(1), length)
        whole = np.zeros_like(best)
        whole[:, columns] = values
        best = np.where(shorter[:, None], whole, best)
    return best


def _found(run: Run, exchanged: bool = False) -> np.ndarray:
    """The shares of the cell; and how far those of two small cells, computed together, are from the
    same alone (or the other one alone)."""
    made = cells.success
    assert made.batch
    cell = partial(made.model, dim=8, sparsity=2, depth=3, trials=40)
    two = [cell(measurements=6, tolerance=0.1), cell(measurements=4, tolerance=0.5)]
    keys = [jax.random.key(number) for number in (1, 2)]
    alone = [made.function(key, **one.model_dump()) for key, one in zip(keys, two, strict=True)]
    pairs = zip(made.batch.compute(keys, two), alone[::-1] if exchanged else alone, strict=True)
    apart = [float(np.abs(one.success - other.success).max()) for one, other in pairs]
    return one_row([*run.data.success.sel({"method": list(cells.METHODS)}).values, *apart])


SUCCESS = claim(
    "sparse-recovery.success-by-hand", "SR-P1",
    "In a cell of the sweep least squares, ISTA and FISTA with the best of five penalties and the"
    " LASSO with a faint one find as many vectors as on problems of our own in NumPy, where the"
    " least |b|_1 stands for the faint penalty; two cells find the same together as alone.",
    "1000 vectors against 4000: 0.018 at most; five standard errors. Cells that share a program"
    " share nothing else.",
    Sabotage(
        "four-rows", "Of our own with two rows less.", predict=lambda run: [*_shares(run, 2), 0, 0]
    ),
    broken("exchanged", "Each beside the other alone.", _found, exchanged=True), measure=_found,
    predict=lambda run: [*_shares(run), 0.0, 0.0], resolution=[*[0.09] * 4, 1e-9, 1e-9],
    kind=IDENTITY, experiment=cells.success,
    parts=(*cells.METHODS, "first of two cells", "second of two cells"),
    scales=seconds(
        quick=2, dim=8, measurements=6, sparsity=2, depth=40, trials=1000, tolerance=0.1))
