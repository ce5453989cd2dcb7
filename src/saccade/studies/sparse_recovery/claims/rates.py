"""Claims on linear against sublinear convergence, on the same problems, and on where the
certificate of a linear rate begins."""

import numpy as np

from saccade.lab.claim import Sabotage, one_row
from saccade.lab.experiment import Run
from saccade.lab.fits import exponents, slopes
from saccade.lab.kinds import ESTIMATE, IDENTITY, ORDERING, SLOPE
from saccade.studies.sparse_recovery import theory
from saccade.studies.sparse_recovery.claims import LINEAR_RATE, answers, broken, claim, seconds
from saccade.studies.sparse_recovery.experiments import depths, rates
from saccade.studies.sparse_recovery.rows_needed import certified_rows, needed_share

SUBLINEAR = "versus sublinear O(1/k) for gradient-descent methods"
DIMS, SPARSITIES = (10, 20, 50, 100), (2, 3, 5, 10)
PAIRS = tuple((dim, sparsity) for dim in DIMS for sparsity in SPARSITIES)


def _late(run: Run) -> np.ndarray:
    """ISTA's late slope over log(1 - lambda_min(X_S^T X_S)/L), [problem][rows]."""
    data = run.data
    return (
        (data.slope / np.log1p(-data.smallest / data.largest)).transpose("problem", "rows").values)


LATE = claim(
    "sparse-recovery.ista-is-linear-in-the-end", "SR-T5",
    "ISTA, too, converges linearly once it has found the support S of the minimum: its distance to"
    " it falls by 1 - lambda_min(X_S^T X_S)/|X|^2 a step, with fewer rows than coordinates and with"
    " more.",
    "On the support a step is a linear map with that largest eigenvalue; medians over 40 problems,"
    " whose last steps have other modes left by at most some 1e-3.",
    Sabotage("first-steps", "The first fifth of the steps.", {"window": (0.0, 0.2)}), measure=_late,
    predict=lambda run: 1.0, resolution=0.01, kind=ESTIMATE, statistic="median",
    experiment=rates.late_rate, citation=answers("key results", SUBLINEAR),
    parts=("15 rows, 20 coordinates", "40 rows, 20 coordinates"), scales=seconds(quick=2),
    figure="sparse-recovery/depth-rates",
    finding=(
        "'Sublinear' is a bound for the worst case: on the problems of the experiments ISTA itself"
        " is linear once its support has settled, only slowly so."))


def _cells(weight=None) -> tuple[tuple[int, int, int], ...]:
    """(d, S, N*) for every pair, with another weight of the coherence than 2S - 1 if given."""
    return tuple(
        (dim, sparsity, round(certified_rows(dim, sparsity, weight and weight(sparsity))))
        for dim, sparsity in PAIRS)


def grid_rates(run: Run) -> np.ndarray:
    """q of every matrix, [draw][cell]."""
    data = run.data
    sparsities = np.array([cell[1] for cell in run.parameters.cells])[:, None]
    return theory.error_bounds(data.mu.values, data.delta.values, 0, sparsities, 1, 1.0, 0)[0].T


GRID = claim(
    "sparse-recovery.certified-rows", "SR-T3b",
    "Over a grid of d and S the certificate begins, for half of the Gaussian matrices, at N* ="
    " (sqrt(2) z_d + (2S - 1) z_{d(d-1)/2})^2 rows, z_m the median of the largest of m normal"
    " numbers in absolute value: there q is 1.",
    "The median of q over 256 matrices; q spreads by a tenth, and entries of X^T X/n are normal and"
    " independent only as n and d grow: 0.1.",
    Sabotage(
        "s-products", "Rows enough for S products instead of 2S - 1.",
        {"cells": _cells(lambda sparsity: sparsity)}),
    measure=grid_rates, predict=lambda run: 1.0, resolution=0.1, kind=ESTIMATE, statistic="median",
    experiment=rates.certificate_grid, citation=answers("Theorem 5.1", LINEAR_RATE),
    status="asymptotic", parts=tuple(f"d = {dim}, S = {sparsity}" for dim, sparsity in PAIRS),
    scales=seconds(quick=1, repetitions=4, cells=_cells()), figure="sparse-recovery/certified-rows",
    finding=(
        "How many rows the certificate needs is known in closed form: about ((2S - 1) sqrt(4 log"
        " d))^2, at d = 20, S = 3 some 300 for half of the matrices; nowhere on the grid fewer rows"
        " than coordinates."))

MANY, SIZES = 20_000, (10, 20, 50)  # rows at which entries of X^T X/n are as good as normal


def _terms(run: Run, larger: int = 1) -> list[float]:
    """sqrt(N*) where the coherence has no weight, and what each unit of weight adds to it; maybe
    for more coordinates."""
    cells = [(larger * dim, sparsity) for dim, sparsity, _ in run.parameters.cells]
    first = [np.sqrt(certified_rows(*cell, weight=0.0)) for cell in cells]
    more = [np.sqrt(certified_rows(*cell, weight=4.0)) for cell in cells]
    return [*first, *((b - a) / 4 for a, b in zip(first, more, strict=True))]


TERMS = claim(
    "sparse-recovery.certified-terms", "SR-T3b",
    "The two terms of sqrt(N*) are medians of their own: of sqrt(n) delta and of sqrt(n) mu.",
    "The median over 1000 matrices is known to 3 %; twice as many pairs would move it by 5 % at 50"
    " coordinates and by 9 % at 10.",
    Sabotage(
        "more-coordinates", "Predict for four times as many coordinates.",
        predict=lambda run: _terms(run, 4)),
    measure=lambda run: np.sqrt(MANY) * np.concatenate([run.data.delta, run.data.mu]).T,
    predict=_terms, resolution=lambda run: 0.045 * np.array(_terms(run)), kind=ESTIMATE,
    statistic="median", experiment=rates.certificate_grid,
    citation=answers("Theorem 5.1", LINEAR_RATE), status="asymptotic",
    parts=tuple(f"{what}, d = {dim}" for what in ("delta", "mu") for dim in SIZES),
    scales=seconds(
        quick=1, repetitions=4, cells=tuple((dim, 1, MANY) for dim in SIZES), draws=1000))


def _grouped(values: np.ndarray, groups: int = 32) -> np.ndarray:
    """Medians over equal groups of draws, [group][cell]."""
    return np.median(values.reshape(groups, -1, values.shape[-1]), axis=1)


def _rows_of(run: Run) -> np.ndarray:
    return np.array([float(cell[2]) for cell in run.parameters.cells])


def _exponent_of_shortfall(run: Run, larger: int = 1) -> np.ndarray:
    """Exponent in n of what sqrt(n) delta lacks to its limit, a number for each group of draws."""
    limits = [
        np.sqrt(certified_rows(larger * dim, 1, weight=0.0)) for dim, _, _ in run.parameters.cells]
    rows = _rows_of(run)
    return exponents(rows, np.array(limits) - _grouped(np.sqrt(rows) * run.data.delta.values.T))


IN_THE_LIMIT = claim(
    "sparse-recovery.certified-terms-in-the-limit", "SR-T3b",
    "The median of sqrt(n) delta comes to its limit sqrt(2) z_d as 1/n: what it lacks falls with"
    " exponent -1.",
    "Squares of columns are chi-square, whose skewness, of order n^(-1/2), cancels between the two"
    " signs of G_ii - 1. Exponents from 32 groups of 5000 matrices with 8, 16 and 32 rows of 6"
    " coordinates spread by 0.13; the next order adds a tenth.",
    Sabotage(
        "another-limit", "The limit for twice as many coordinates.",
        measure=lambda run: _exponent_of_shortfall(run, 2)),
    measure=_exponent_of_shortfall, predict=lambda run: -1.0, resolution=0.3, kind=SLOPE,
    statistic="mean", experiment=rates.certificate_grid, status="asymptotic",
    citation=answers("Theorem 5.1", LINEAR_RATE),
    scales=seconds(
        quick=2, repetitions=4, cells=tuple((6, 1, n) for n in (8, 16, 32)), draws=160_000))


def _exponent_of_rows(run: Run) -> np.ndarray:
    """Exponent in 2S - 1 of the rows n (median q)^2 at which the median matrix has q = 1."""
    weights = [2 * cell[1] - 1 for cell in run.parameters.cells]
    return exponents(weights, _rows_of(run) * _grouped(grid_rates(run)) ** 2)


def _of(*sparsities: int) -> tuple[tuple[int, int, int], ...]:
    return tuple((6, one, round(certified_rows(6, one))) for one in sparsities)


GROWTH = claim(
    "sparse-recovery.certified-rows-growth", "SR-T3b",
    "With many non-zeros the rows that the certificate needs grow as (2S - 1)^2.",
    "From S = 16 to 64 with 6 coordinates; what the diagonal adds leaves 0.04 of the exponent,"
    " medians over 32 groups of 1000 matrices 0.01.",
    Sabotage("few-non-zeros", "From S = 1 to 4.", {"cells": _of(1, 2, 4)}),
    measure=_exponent_of_rows, predict=lambda run: 2.0, resolution=0.08, kind=SLOPE,
    statistic="mean", experiment=rates.certificate_grid, status="asymptotic",
    citation=answers("Theorem 5.1", LINEAR_RATE),
    scales=seconds(quick=1, repetitions=4, cells=_of(16, 32, 64), draws=32_000))

CONE = claim(
    "sparse-recovery.cone-dimension", "SR-P1",
    "The share of rows from which l1 minimisation finds vectors, the line in the pictures of the"
    " sweep, is the statistical dimension of its descent cone: the mean squared distance of normal"
    " numbers from the best multiple of the subdifferential.",
    "No chance: sums over a grid of 0.002 in numbers and 0.006 in multiples leave some 1e-5.",
    Sabotage("denser", "The sums for a tenth more non-zeros.", {"more": 1.1}),
    measure=lambda run: one_row(run.data.least.values),
    predict=lambda run: [needed_share(share) for share in run.parameters.shares], resolution=1e-4,
    kind=IDENTITY, experiment=rates.cone_dimension, status="asymptotic",
    source="Amelunxen, Lotz, McCoy, Tropp (2014)",
    parts=("a twentieth not zero", "a fifth", "three fifths"), scales=seconds(quick=1))


def _nearer_to_power_law(run: Run, name: str, rows: int) -> np.ndarray:
    """By how much the residual squares of log error about a line in depth (an exponential) exceed
    those about a line in log depth (a power law), of medians over the problems of each network."""
    errors = run.data.error.sel(algorithm=name, rows=rows).transpose("network", "depth", "test")
    logs = np.log(np.median(errors.values, axis=-1))
    depth = run.data.depth.values.astype(float)
    return _off_line(depth, logs) - _off_line(np.log(depth), logs)


def _off_line(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    rest = y - y.mean(1, keepdims=True) - slopes(x, y)[:, None] * (x - x.mean())
    return (rest**2).sum(1)


def _laws(run: Run, solver: tuple[str, str], networks: tuple[str, str]) -> np.ndarray:
    """How much nearer to an exponential the solvers are, and to a power law the networks, with 10
    and with 40 rows, [network]."""
    counts = (10, 40)
    exponential = [-_nearer_to_power_law(run, *pair) for pair in zip(solver, counts)]
    power = [_nearer_to_power_law(run, *pair) for pair in zip(networks, counts)]
    return np.stack([*exponential, *power], 1)


LEARNED, SOLVED = ("alista", "lista-vm"), ("fista", "fista")

LAWS = claim(
    "sparse-recovery.error-against-depth", "SR-T5",
    "On the same problems, from depth 2 to 16, the error of FISTA falls more like an exponential"
    " than like a power of the depth, with 10 and with 40 rows of 20 coordinates; that of trained"
    " ALISTA (10 rows) and LISTA-VM (40 rows) more like a power.",
    "A replicate is a row of networks, one of each depth, one of 21 rows: residual squares of the"
    " logs of its median errors over 1000 problems of its own about the two lines (FISTA's on the"
    " same problems). All networks are trained for 400 steps of 32 problems, which may favour the"
    " shallow ones.",
    broken("exchanged", "The networks for FISTA and FISTA for them.", _laws, LEARNED, SOLVED),
    measure=lambda run: _laws(run, SOLVED, LEARNED), resolution=0.02, kind=ORDERING,
    statistic="median", status="trained", experiment=depths.depth_rates,
    citation=answers("key results", SUBLINEAR),
    parts=("FISTA, 10 rows", "FISTA, 40 rows", "ALISTA, 10 rows", "LISTA-VM, 40 rows"),
    scales=seconds(standard=150), figure="sparse-recovery/depth-rates",
    finding=(
        "At the depths of the experiments 'linear against sublinear' is not what is seen: trained"
        " networks start far ahead and gain less with each further layer, FISTA gains as much with"
        " every one."))
