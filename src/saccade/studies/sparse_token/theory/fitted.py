"""What a fitted classifier will do: weights, training loss and error, test error, for the three
models and the two losses.

The classifier minimises (1/n) sum_i l(<w, f(X_i)> + b; y_i) + lambda/2 |w|^2 (b free) on n = alpha
d fresh samples; attention's query is held fixed, with cosine `alignment` to the signal and
`sharpness` k = beta |q|. Status: asymptotic (n, d to infinity, alpha = n/d fixed, d the token
dimension also for the vectorised model); the remaining expectation is a quadrature, done at two
resolutions. The answer is the finer one, `accuracy` is what the refinement changed, `status` says
whether the equations were solved and `residual` how well.
"""

import time
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from saccade.studies.sparse_token.task import SMALLEST, SparseTokenSetting, require_number
from saccade.studies.sparse_token.theory import law as laws
from saccade.studies.sparse_token.theory.law import FeatureLaw, Overlaps
from saccade.studies.sparse_token.theory.losses import get_loss
from saccade.studies.sparse_token.theory.saddle import make_problem
from saccade.studies.sparse_token.theory.solver import Solution, solve_saddle
from saccade.studies.sparse_token.theory.square import solve_square, square_quality

SMALLEST_RIDGE = 1e-15
REPORTED = ("b", "w_norm", "train_loss", "train_error", "test_error")


class Resolution(NamedTuple):
    """Nodes of the token law a class (as a power of two) and of the Gaussian grid, for attention
    and for the linear models."""

    log2_points: int
    grid_points: int
    linear_grid_points: int


# The start only has to be near; it costs next to nothing.
# Nine Gaussian nodes are enough because each node of the law shifts its own grid: 33 change the
# sixth digit. The coarse answer has fewer of both kinds, so that `accuracy` sees the error of both.
START, COARSE, FINE = Resolution(7, 7, 101), Resolution(11, 7, 401), Resolution(13, 9, 801)


class Fit(NamedTuple):
    """A fitted classifier in the limit; names as in the calculators, `w_signal` is <w, xi>
    (vectorised: <W, 1 xi^T>/sqrt L)."""

    b: float
    w_norm: float
    w_query: float
    w_signal: float
    train_loss: float
    train_error: float
    test_error: float
    objective: float
    overlaps: Overlaps
    status: str
    residual: float
    accuracy: dict[str, float]


def fit(
    setting: SparseTokenSetting, model: str, samples_per_dim: float, ridge: float,
    loss: str = "logistic", alignment: float | None = None, sharpness: float | None = None,
    start: Overlaps | None = None, fine: Resolution = FINE,
) -> Fit:
    """The limit of the classifier fitted to n = `samples_per_dim` d samples; `start` (overlaps of a
    neighbouring fit) saves time."""
    check_training(samples_per_dim, ridge)
    offset = get_loss(loss).sign_offset
    ladder = [START, COARSE, fine] if start is None and loss == "logistic" else [COARSE, fine]
    point, answers = start, []
    for resolution in ladder:
        law = laws.feature_law(setting, model, alignment, sharpness, resolution.log2_points)
        solution = solve(law, samples_per_dim, ridge, loss, resolution, point)
        point = solution.point
        answers.append(_report(law, alignment or 0.0, offset, ridge, solution))
    before, last = answers[-2:]
    return last._replace(
        accuracy={name: abs(getattr(last, name) - getattr(before, name)) for name in REPORTED})


def fit_curve(
    setting: SparseTokenSetting, model: str, samples_per_dim: Iterable[float], ridge: float,
    loss: str = "logistic", alignment: float | None = None, sharpness: float | None = None,
) -> list[Fit]:
    """`fit` along a list of sample sizes, each started from its neighbour."""
    fits: list[Fit] = []
    for alpha in samples_per_dim:
        start = fits[-1].overlaps if fits and fits[-1].status == "converged" else None
        fits.append(fit(setting, model, alpha, ridge, loss, alignment, sharpness, start))
    return fits


def check_training(samples_per_dim, ridge) -> None:
    """Refuse sample sizes and ridges outside the theory (a tiny ridge, 1e-8, stands for none)."""
    require_number("samples_per_dim", samples_per_dim, SMALLEST)
    require_number("ridge", ridge, SMALLEST_RIDGE)


def solve(
    law: FeatureLaw, samples_per_dim: float, ridge: float, loss: str, resolution: Resolution,
    start: Overlaps | None = None,
) -> Solution:
    """The overlaps at one resolution."""
    if loss == "square" or start is None:
        start = solve_square(law, samples_per_dim, ridge)
    if loss == "square":
        return Solution(start, *square_quality(law, samples_per_dim, ridge, start))
    linear = law.shift_variance == 0
    grid, reach = (resolution.linear_grid_points, 9.0) if linear else (resolution.grid_points, 6.5)
    return solve_saddle(make_problem(law, samples_per_dim, ridge, grid, reach), start)


def _report(
    law: FeatureLaw, rho: float, sign_offset: float, ridge: float, solution: Solution
) -> Fit:
    point = solution.point
    signal = rho * point.query + np.sqrt(max(0.0, 1 - rho**2)) * point.across
    return Fit(
        point.intercept, point.weight_norm, point.query, float(signal), solution.train_loss,
        laws.error_rate(law, point, sign_offset), laws.error_rate(law, point),
        solution.train_loss + 0.5 * ridge * point.weight_norm**2, point,
        "converged" if solution.converged else "not converged", solution.residual, {})


DOMAIN = {
    "samples_per_dim": (0.1, 100.0), "ridge": (1e-6, 10.0), "signal": (0.0, 10.0),
    "alignment": (-1.0, 1.0), "sharpness": (0.0, 10.0), "positive_rate": (0.02, 0.98)}
LENGTHS = (2, 10, 100)
SETTING = ("length", "informative", "positive_rate", "signal")


class GridReport(NamedTuple):
    """How many of `cases` converged, which did not, and the slowest with its processor seconds."""

    cases: int
    converged: int
    failures: list[dict]
    slowest: dict
    slowest_seconds: float
    median_seconds: float
    worst_residual: float


def grid_case(rng: np.random.Generator) -> dict:
    """Log-uniform samples and ridges, uniform elsewhere; one value in five of each sits on an end
    of its range, where solvers break."""
    case: dict = {}
    for name, (low, high) in DOMAIN.items():
        if name in ("samples_per_dim", "ridge"):
            inside = np.exp(rng.uniform(np.log(low), np.log(high)))
        else:
            inside = rng.uniform(low, high)
        case[name] = float(rng.choice([low, high]) if rng.random() < 0.2 else inside)
    case["length"] = int(rng.choice(LENGTHS))
    case["informative"] = int(rng.choice([1, max(1, case["length"] // 3), case["length"]]))
    return case


def check_grid(
    count: int = 50, seed: int = 0, model: str = "attention", loss: str = "logistic",
    fine: Resolution = FINE,
) -> GridReport:
    """A check of the solver over its whole declared domain: a random subsample, fixed by its seed,
    solved and summed up; the target is that all converge."""
    rng = np.random.default_rng(seed)
    cases, fits, seconds = [grid_case(rng) for _ in range(count)], [], []
    for case in cases:
        setting = SparseTokenSetting(**{name: case[name] for name in SETTING})
        query = (case["alignment"], case["sharpness"]) if model == "attention" else (None, None)
        begin = time.process_time()
        fits.append(
            fit(setting, model, case["samples_per_dim"], case["ridge"], loss, *query, fine=fine))
        seconds.append(time.process_time() - begin)
    failures = [
        case | {"residual": f.residual} for case, f in zip(cases, fits, strict=True)
        if f.status != "converged"]
    slow = int(np.argmax(seconds))
    return GridReport(
        count, count - len(failures), failures, cases[slow], seconds[slow],
        float(np.median(seconds)), max(f.residual for f in fits))
