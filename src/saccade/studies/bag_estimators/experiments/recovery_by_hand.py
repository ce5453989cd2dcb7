"""Many LASSO problems at once beside scikit-learn's Lasso, loops over proximal steps, and duality
gaps by their definition."""

from typing import Any

import numpy as np
import xarray
from sklearn.linear_model import Lasso

from saccade.estimators import SparseRecovery
from saccade.lab.experiment import experiment
from saccade.studies.bag_estimators.task import generator

ROWS, DIM, ALPHA, STEPS = (9, 6, 7), 5, 0.07, 4
PARTS = ("coefficients", "intercepts", "predictions", "one matrix", "FISTA", "ISTA", "gaps")


def _drawn(random: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Measurements whose means are not zero, and noisy values of two coefficients of five."""
    X = random.standard_normal((rows, DIM)) + [0.5, -0.3, 0.0, 0.2, 0.4]
    return X, X[:, 0] - 0.6 * X[:, 3] + 1.3 + 0.3 * random.standard_normal(rows)


def _peer(X: np.ndarray, y: np.ndarray, alpha: float) -> Lasso:
    return Lasso(alpha=alpha, tol=1e-14, max_iter=100_000).fit(X, y)


def _after(X: np.ndarray, y: np.ndarray, alpha: float, steps: int, momentum: bool) -> np.ndarray:
    """Proximal steps from zero with FISTA's momentum, or without, on |y - X b|^2/(2N)."""
    length = len(y) / np.linalg.norm(X, 2) ** 2
    b = point = np.zeros(DIM)
    t = 1.0
    for _ in range(steps):
        u = point - length * X.T @ (X @ point - y) / len(y)
        new = np.array([np.sign(one) * max(abs(one) - alpha * length, 0.0) for one in u])
        following = (1 + np.sqrt(1 + 4 * t**2)) / 2
        point = new + (t - 1) / following * (new - b) if momentum else new
        b, t = new, following
    return b


def _gap(X: np.ndarray, y: np.ndarray, b: np.ndarray, alpha: float) -> float:
    """The objective less (|y|^2 - |y - s|^2)/(2N), s the residual scaled into the dual's set."""
    r, count = y - X @ b, len(y)
    s = r * min(1.0, alpha * count / np.abs(X.T @ r).max())
    return float(r @ r + (y - s) @ (y - s) - y @ y) / (2 * count) + alpha * np.abs(b).sum()


@experiment("bag-estimators.recovery-by-hand")
def recovery_by_hand(
    key: Any, *, alpha_by_hand: float = ALPHA, steps_by_hand: int = STEPS
) -> xarray.Dataset:
    """The largest difference between SparseRecovery and the others, who take `alpha_by_hand` and
    `steps_by_hand`: solutions with an intercept, a matrix for each problem and one for all; steps
    and gaps without one."""
    random, alpha = generator(key), alpha_by_hand
    X, y = map(list, zip(*(_drawn(random, rows) for rows in ROWS), strict=True))
    fresh = [_drawn(random, 4)[0] for _ in ROWS]
    own = SparseRecovery(ALPHA, fit_intercept=True, tol=1e-13).fit(X, y)
    peers = [_peer(*problem, alpha) for problem in zip(X, y, strict=True)]
    Y = np.stack([y[0], y[0] ** 2], axis=1)
    one = SparseRecovery(ALPHA, fit_intercept=True, tol=1e-13).fit(X[0], Y)
    said = [_peer(X[0], values, alpha).predict(fresh[0]) for values in Y.T]
    pairs = [
        (own.coef_, [peer.coef_ for peer in peers]),
        (own.intercept_, [peer.intercept_ for peer in peers]),
        (own.predict(fresh), [peer.predict(x) for peer, x in zip(peers, fresh, strict=True)]),
        (one.predict(fresh[0]), np.transpose(said))]
    for method in ("fista", "ista"):
        made = SparseRecovery(ALPHA, STEPS, method).fit(X, y)
        pairs.append((
            made.coef_,
            [
                _after(*problem, alpha, steps_by_hand, method == "fista")
                for problem in zip(X, y, strict=True)]))
    gaps = [_gap(*problem, alpha) for problem in zip(X, y, made.coef_, strict=True)]
    pairs.append((made.dual_gap_, gaps))
    off = [np.abs(np.subtract(made, plain)).max() for made, plain in pairs]
    return xarray.Dataset({"off": ("part", np.array(off))}, {"part": list(PARTS)})
