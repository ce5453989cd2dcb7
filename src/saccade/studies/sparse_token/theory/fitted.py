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
from jaxtyping import Float
from numpy import ndarray as Array
from scipy.optimize import root
from scipy.special import ndtr

from saccade.studies.sparse_token import task
from saccade.studies.sparse_token.task import SparseTokenSetting
from saccade.studies.sparse_token.theory import law as laws
from saccade.studies.sparse_token.theory.law import FeatureLaw, Overlaps
from saccade.studies.sparse_token.theory.losses import Loss, get_loss
from saccade.studies.sparse_token.theory.saddle import Solution, make_problem, solve_saddle
from saccade.studies.sparse_token.theory.square import solve_square, square_quality

SMALLEST_RIDGE = 1e-15
REPORTED = ("b", "w_norm", "train_loss", "train_error", "test_error")


class Resolution(NamedTuple):
    """Nodes of the token law a class (log2), and Gaussian ones for attention and linear models."""

    log2_points: int
    grid_points: int
    linear_grid_points: int


# The start only has to be near; it costs next to nothing.
# Nine Gaussian nodes are enough because each node of the law shifts its own grid: 33 change the
# sixth digit. The coarse answer has fewer of both kinds, so that `accuracy` sees the error of both.
START, COARSE, FINE = Resolution(7, 7, 101), Resolution(11, 7, 401), Resolution(13, 9, 801)


class Fit(NamedTuple):
    """A fit in the limit; `w_signal` is <w, xi> (vectorised: <W, 1 xi^T>/sqrt L)."""

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
    """The limit of the fit to n = `samples_per_dim` d samples; a neighbour's `start` saves time."""
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
    task.require_number("samples_per_dim", samples_per_dim, task.SMALLEST)
    task.require_number("ridge", ridge, SMALLEST_RIDGE)


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
    """Log-uniform samples and ridges, else uniform; one in five is an end, where solvers break."""
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
    """Solves random cases, fixed by the seed, of the whole declared domain: all should converge."""
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


class PlacesFit(NamedTuple):
    """`token_signal` is m: <W_l, xi> for every token l; the other names as in `Fit`."""

    b: float
    w_norm: float
    token_signal: Float[Array, " token"]
    train_loss: float
    train_error: float
    test_error: float
    status: str
    residual: float


GAUSS = np.linspace(-9.0, 9.0, 401)
DENSITY = np.exp(-0.5 * GAUSS**2) / np.exp(-0.5 * GAUSS**2).sum()


class _Mixture(NamedTuple):
    """Negatives, then one node a place: weights, labels, theta v; the loss, a and the ridge."""

    weight: Float[Array, " node"]
    label: Float[Array, " node"]
    shift: Float[Array, "node token"]
    loss: Loss
    alpha: float
    ridge: float


def fit_at_places(
    setting: SparseTokenSetting, location_masks, location_probabilities, samples_per_dim: float,
    ridge: float, loss: str = "logistic",
) -> PlacesFit:
    """The vectorised classifier fitted to `samples_per_dim` d samples when some places are likelier
    than others (attention and pooling never notice: `fit` holds).

    Places v are drawn from a table of masks with probabilities. Write W = m xi^T + the rest, m in
    R^L the overlaps of the tokens' weights with the signal and r the norm of the rest. With a =
    alpha/L samples per weight and omega = theta v.m 1{y=+} + b + sqrt(|m|^2 + r^2) G,

        m = -a V theta E[l'(eta) v 1{y=+}],    E[l'] = 0,    r^2 = a V^2 E[l'^2],
        1/a = lambda V + E[V l''/(1 + V l'')],

    eta the proximal point of omega with step V: the equations of the uniform law with one overlap a
    token instead of one in all. Status: asymptotic (n, d to infinity, L fixed), exact up to the
    quadrature in G. The square loss is closed form, the logistic loss takes a root search in L + 3
    numbers, whose residual is reported.
    """
    check_training(samples_per_dim, ridge)
    chosen, rate = get_loss(loss), setting.positive_rate
    masks, chances = task.checked_locations(setting, location_masks, location_probabilities)
    mixture = _Mixture(
        np.append(1 - rate, rate * np.asarray(chances)), np.append(-1.0, np.ones(len(masks))),
        setting.signal * np.vstack([np.zeros(setting.length), np.asarray(masks, float)]), chosen,
        samples_per_dim / setting.length, ridge)
    point = _square_point(mixture)
    if loss == "logistic":
        point = root(_equations, point, (mixture,), tol=1e-12).x
    residual = float(np.max(np.abs(_equations(point, mixture))))
    mean, deviation, _, V = _margins(point, mixture)
    y, eta = _fitted_margins(point, mixture)
    train = float(mixture.weight @ (chosen.value(eta, y) @ DENSITY))
    train_error, test_error = (
        float(mixture.weight @ ndtr(-(mixture.label * mean + offset * V) / deviation))
        for offset in (chosen.sign_offset, 0.0))
    status = "converged" if residual <= 1e-8 else "not converged"
    return PlacesFit(
        float(point[-3]), deviation, point[:-3], train, train_error, test_error, status, residual)


def _square_point(mixture: _Mixture) -> Array:
    """(m, b, log r, log V): 1/a = lambda V + V/(1 + V), normal equations, r^2 linear."""
    alpha, ridge = mixture.alpha, mixture.ridge
    # a lambda V^2 + (a lambda + a - 1) V - 1 = 0; written so that the positive root never cancels
    half = 0.5 * (alpha * ridge + alpha - 1)
    root_term = np.sqrt(half**2 + alpha * ridge)
    V = 1 / (half + root_term) if half > 0 else (root_term - half) / (alpha * ridge)
    shrink = 1 / (1 + V)
    design = np.hstack([mixture.shift, np.ones((len(mixture.weight), 1))])
    gram = (design.T * mixture.weight) @ design * shrink
    gram[np.diag_indices(len(gram) - 1)] += ridge + shrink
    x = np.linalg.solve(gram, shrink * (design.T @ (mixture.weight * mixture.label)))
    error2 = mixture.weight @ (design @ x - mixture.label) ** 2
    gain = alpha * (V * shrink) ** 2
    kept = alpha * (ridge * V + V * shrink**2)  # 1 - gain, by the equation of V
    rest2 = gain * (error2 + x[:-1] @ x[:-1]) / kept
    return np.append(x, [0.5 * np.log(rest2), np.log(V)])


def _margins(point: Array, mixture: _Mixture):
    """Mean of omega at every node, its deviation, r and V."""
    m, b, r, V = point[:-3], point[-3], np.exp(point[-2]), np.exp(point[-1])
    return mixture.shift @ m + b, float(np.sqrt(m @ m + r * r)), r, V


def _fitted_margins(point: Array, mixture: _Mixture):
    """Labels and the margins eta of training samples, node by node and on the Gaussian grid."""
    mean, deviation, _, V = _margins(point, mixture)
    y = mixture.label[:, None]
    return y, mixture.loss.prox(mean[:, None] + deviation * GAUSS, np.full((1, 1), V), y)


def _equations(point: Array, mixture: _Mixture) -> Array:
    """The L + 3 equations, each over what cancels in it."""
    _, _, r, V = _margins(point, mixture)
    y, eta = _fitted_margins(point, mixture)
    derivative, bend = mixture.loss.derivative(eta, y), V * mixture.loss.curvature(eta, y)
    pull, pull2, curve = (item @ DENSITY for item in (derivative, derivative**2, bend / (1 + bend)))
    weight, alpha = mixture.weight, mixture.alpha
    size = (weight * np.abs(pull)) @ mixture.shift + weight @ np.abs(pull)
    tokens = (point[:-3] / (alpha * V) + (weight * pull) @ mixture.shift) / size
    balance = weight @ pull / (weight @ np.abs(pull))
    noise = 1 - alpha * V**2 * (weight @ pull2) / r**2
    return np.append(tokens, [balance, noise, 1 - alpha * (mixture.ridge * V + weight @ curve)])
