"""Sparse recovery: coefficients of many linear problems with few non-zeros, all at once."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import check_is_fitted, validate_data

from saccade.errors import require
from saccade.estimators.bags import DOUBLE, FLOATS, Bags, is_list_of_bags, rank
from saccade.estimators.lasso import Problems, converged, unrolled
from saccade.estimators.reading import BagEstimator, check_choice, shaped


class SparseRecovery(RegressorMixin, BagEstimator):
    """Many LASSO problems at once: minimise 1/(2N) |y - X b|^2 + alpha |b|_1 for each.

    One matrix for all: X (N, d) with y (N,) or (N, P), as scikit-learn's Lasso takes it; `coef_` is
    (d,) or (P, d). A matrix for each problem: X (P, N, d) with y (P, N), or lists of (N_i, d) and
    (N_i,); `mask` (P, N) is False for measurements that are not there. `n_steps=None` runs until
    the duality gap is below `tol` |y|^2/N (`dual_gap_`); a number runs exactly that many steps of
    `method` ("fista" or "ista") from zero, which is what an unrolled network of that depth computes
    before it is trained. There is no intercept unless asked for.

        SparseRecovery(alpha=0.1).fit(X, Y).coef_              # X: (N, d), Y: (N, P)
    """

    _whole_from_1 = ("max_iter",)
    _above_0 = ("alpha", "tol")

    def __init__(
        self, alpha=0.1, n_steps=None, method="fista", fit_intercept=False, tol=1e-8,
        max_iter=10000, n_tokens=None,
    ):
        self.alpha = alpha
        self.n_steps = n_steps
        self.method = method
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.n_tokens = n_tokens

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags

    def fit(self, X, y, mask=None):
        """Solve every problem; see the class for the shapes of X and y."""
        self._require_target(y)
        self._check_parameters()
        self._shared = self._is_shared(X)
        problems, means = (
            self._shared_problem(X, y, mask) if self._shared else self._own(X, y, mask))
        if self.n_steps is None:
            coefficients, self.n_iter_ = converged(
                problems, self.alpha, self.tol, self.max_iter, self.method)
        else:
            coefficients = unrolled(problems, self.alpha, self.n_steps, self.method)
            self.n_iter_ = self.n_steps
        gaps = problems.gap(coefficients, self.alpha)
        if self.n_steps is None and (gaps > self.tol * np.maximum(problems.power, 1e-300)).any():
            warnings.warn(
                f"{int((gaps > self.tol * problems.power).sum())} of {len(gaps)} problems did not"
                f" converge in max_iter={self.max_iter} steps; raise it, or alpha.",
                ConvergenceWarning, stacklevel=2)
        intercepts = means[1] - (coefficients * means[0]).sum(axis=1)
        single = self._shared and self._single
        self.coef_ = coefficients[0] if single else coefficients
        self.intercept_ = float(intercepts[0]) if single else intercepts
        self.dual_gap_ = float(gaps[0]) if single else gaps
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self.method, "method", ("fista", "ista"))
        steps = self.n_steps
        require(
            steps is None or (isinstance(steps, int | np.integer) and bool(steps >= 1)), "n_steps",
            steps, "must be None or a whole number of at least 1")

    def _is_shared(self, X: Any) -> bool:
        flat = not isinstance(X, Bags) and not is_list_of_bags(X) and rank(X) != 3
        return flat and self.n_tokens is None

    def _shared_problem(self, X: Any, y: Any, mask: Any):
        """One matrix."""
        _refuse(mask)
        X, y = validate_data(
            self, X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_min_samples=1)
        self.token_dim_ = X.shape[1]
        self._single = y.ndim == 1
        Y = (y[:, None] if self._single else y).T.astype(float)
        n = len(X)
        means = np.zeros((1, X.shape[1])), np.zeros(len(Y))
        if self.fit_intercept:
            means = X.mean(axis=0, keepdims=True), Y.mean(axis=1)
            X, Y = X - means[0], Y - means[1][:, None]
        return Problems((X.T @ X)[None] / n, Y @ X / n, np.square(Y).sum(axis=1) / n), means

    def _own(self, X: Any, y: Any, mask: Any):
        """A matrix for each problem."""
        bags = self._read(X, mask, reset=True)
        values = self._targets(y, bags, mask)
        parts = [self._moments(rows, own) for rows, own in zip(bags, bags.split(values))]
        gram, moment, power, mean, level = (np.stack(column) for column in zip(*parts))
        return Problems(gram, moment, power), (mean, level)

    def _moments(self, rows: np.ndarray, values: np.ndarray):
        mean, level = np.zeros(rows.shape[1]), 0.0
        if self.fit_intercept:
            mean, level = rows.mean(axis=0), values.mean()
            rows, values = rows - mean, values - level
        n = len(rows)
        return rows.T @ rows / n, values @ rows / n, values @ values / n, mean, np.float64(level)

    def _targets(self, y: Any, bags: Bags, mask: Any) -> np.ndarray:
        """One number for each measurement that is there, flat."""
        check_consistent_length(np.empty(len(bags)), y)
        rows = [np.asarray(one, dtype=float) for one in y]
        if mask is not None:
            rows = [one[np.asarray(keep, bool)] for one, keep in zip(rows, mask)]
        if [one.shape for one in rows] != [(length,) for length in bags.lengths]:
            raise ValueError("y must hold one number for each row of each problem's X.")
        return check_array(np.concatenate(rows), ensure_2d=False, dtype=DOUBLE, input_name="y")

    def predict(self, X, mask=None):
        """X b (and intercept): (M,) or (M, P) for one matrix; (P, M), or a list, for one a problem;
        0 under the mask."""
        check_is_fitted(self)
        if self._shared:
            _refuse(mask)
            table = validate_data(self, X, reset=False, dtype=FLOATS)
            return table @ self.coef_.T + self.intercept_
        bags = self._read(X, mask)
        check_consistent_length(self.coef_, np.empty(len(bags)))
        levels = np.asarray(self.intercept_)
        rows = [x @ b + level for x, b, level in zip(bags, self.coef_, levels)]
        return shaped(np.concatenate(rows), bags, X, mask, self.n_tokens)

    @property
    def support_(self):
        """True where a coefficient is not zero."""
        return self.coef_ != 0


def _refuse(mask: Any) -> None:
    if mask is not None:
        raise ValueError("mask goes with one matrix a problem; leave out rows of X instead.")
