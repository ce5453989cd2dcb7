"""How estimators read bags, in scikit-learn's manner, and check what they are told."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from saccade.errors import require
from saccade.estimators.bags import FLOATS, Bags, is_list_of_bags, rank


class BagEstimator(BaseEstimator):
    """Reads X: (n, L, d) with a mask, a list of (L_i, d), `Bags`, or (n, n_tokens * d)."""

    n_tokens: Any
    random_state: Any
    _whole_from_1: Sequence[str] = ()
    _whole_from_0: Sequence[str] = ()
    _above_0: Sequence[str] = ()
    _from_0: Sequence[str] = ()
    """names of the parameters that are whole numbers or numbers, and where their range begins"""

    def _check_parameters(self) -> None:
        for name in self._whole_from_1:
            check_count(getattr(self, name), name)
        for name in self._whole_from_0:
            check_count(getattr(self, name), name, 0)
        for name in self._above_0:
            check_number(getattr(self, name), name)
        for name in self._from_0:
            check_number(getattr(self, name), name, zero=True)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        tags.input_tags.three_d_array = True
        return tags

    def _read(self, X: Any, mask: Any = None, reset: bool = False) -> Bags:
        """Bags of finite tokens; at `reset` the number of features is learned, else compared."""
        if not reset:
            check_is_fitted(self)
        flat = False
        if isinstance(X, Bags):
            if mask is not None:
                raise ValueError("mask goes with an array or a list; Bags hold only kept tokens.")
            bags = X
        elif is_list_of_bags(X):
            bags = Bags.from_list(X, mask)
        elif rank(X) == 3:
            bags = Bags.from_array(_numbers(X), mask)
        elif rank(X) > 3:
            raise ValueError(
                f"Found array with dim {rank(X)} (shape={np.shape(X)}), and X must be bags: an"
                " array (n, L, d), a list of (L_i, d), or rows (n, n_tokens * d).")
        else:
            flat, bags = True, self._read_flat(X, mask, reset)
        tokens = check_array(bags.tokens, dtype=FLOATS, input_name="X", estimator=self)
        self._compare(tokens.shape[1], reset, flat)
        return Bags(tokens, bags.offsets, bags.positions)

    def _read_flat(self, X: Any, mask: Any, reset: bool) -> Bags:
        """(n, n_tokens * d): each row is a bag, token after token."""
        count = self.n_tokens
        check_count(count, "n_tokens")
        finite = mask is None
        if reset or self.n_features_in_ == self.token_dim_ * count:
            table: Any = validate_data(self, X, reset=reset, dtype=FLOATS, ensure_all_finite=finite)
        else:
            table = check_array(X, dtype=FLOATS, ensure_all_finite=finite, input_name="X")
        if table.shape[1] % count:
            raise ValueError(
                f"X has {table.shape[1]} features, which is no multiple of n_tokens={count}.")
        return Bags.from_array(np.ascontiguousarray(table).reshape(len(table), count, -1), mask)

    def _compare(self, width: int, reset: bool, flat: bool) -> None:
        """The number of features a token has; `n_features_in_` counts columns of flat input."""
        if reset:
            self.token_dim_ = width
            if not flat:
                self.n_features_in_ = width
                vars(self).pop("feature_names_in_", None)
        elif width != self.token_dim_:
            raise ValueError(
                f"X has {width} features, but {type(self).__name__} is expecting"
                f" {self.token_dim_} features as input.")

    def _seed(self) -> int:
        state = self.random_state
        if isinstance(state, int | np.integer):
            return int(state)
        return int(check_random_state(state).randint(2**31 - 1))

    def _require_target(self, y: Any) -> None:
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is"
                " None.")


def _numbers(X: Any) -> np.ndarray:
    """An array of floats, float32 kept as it is; wrong entries are refused in sklearn's words."""
    return check_array(
        X, dtype=FLOATS, allow_nd=True, ensure_all_finite=False, ensure_min_samples=0,
        ensure_min_features=0, input_name="X")


def shaped(per_token: np.ndarray, bags: Bags, X: Any, mask: Any, n_tokens: int) -> Any:
    """One number a token in the form of X: (n, L), or a list of vectors; 0 under the mask."""
    if isinstance(X, Bags) or is_list_of_bags(X):
        if mask is None:
            return bags.split(per_token)
        full = [np.zeros(len(one)) for one in mask]
        for whole, keep, own in zip(full, mask, bags.split(per_token)):
            whole[np.asarray(keep, bool)] = own
        return full
    length = np.shape(X)[1] if rank(X) == 3 else n_tokens
    if mask is None:
        return per_token.reshape(len(bags), length)
    full = np.zeros((len(bags), length))
    full[np.asarray(mask, bool)] = per_token
    return full


def check_ridges(ridges: Any, name: str = "ridges") -> list[float]:
    """One ridge or several, from the largest to the smallest."""
    return sorted(check_numbers(ridges, name), reverse=True)


def check_numbers(given: Any, name: str, zero: bool = False) -> list[float]:
    """One finite number or several, all above 0, or all at least 0."""
    try:
        values = np.atleast_1d(np.asarray(given, dtype=float))
    except (TypeError, ValueError):
        values = np.empty(0)
    allowed = np.isfinite(values) & (values >= 0 if zero else values > 0)
    require(
        values.ndim == 1 and len(values) > 0 and bool(allowed.all()), name, given,
        f"must be a number {'of at least' if zero else 'above'} 0, or several")
    return values.tolist()


def check_count(value: Any, name: str, least: int = 1) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    require(
        whole and bool(value >= least), name, value, f"must be a whole number of at least {least}")


def check_number(value: Any, name: str, zero: bool = False) -> None:
    """A finite number above 0, or at least 0."""
    number = float(value) if isinstance(value, int | float | np.integer | np.floating) else -1.0
    allowed = (number >= 0 if zero else number > 0) and number < np.inf
    require(allowed, name, value, f"must be a number {'of at least' if zero else 'above'} 0")


def check_choice(value: Any, name: str, choices: Sequence[Any]) -> None:
    require(value in choices, name, value, f"must be one of {list(choices)}")
