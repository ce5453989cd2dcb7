"""The LASSO by other libraries: scikit-learn is always there, celer and skglm come with the extra
`bench`."""

import warnings

import numpy as np

from saccade.errors import InvalidInput

LIBRARIES = ("scikit-learn", "celer", "skglm")


def peer_solution(library: str, X: np.ndarray, y: np.ndarray, lam: float) -> np.ndarray:
    """Their minimiser of 1/2 |y - X b|^2 + lam |b|_1; they call lam/N alpha."""
    alpha = lam / len(X)
    options = {"alpha": alpha, "fit_intercept": False, "tol": 1e-14, "max_iter": 100_000}
    if library == "scikit-learn":
        from sklearn.linear_model import Lasso as Peer
    elif library == "celer":
        from celer import Lasso as Peer
    elif library == "skglm":
        from skglm import Lasso as Peer
    else:
        raise InvalidInput(f"library = {library!r} must be one of {', '.join(LIBRARIES)}.")
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore")  # tolerances below what they promise: their own gap decides when they stop
        return np.asarray(Peer(**options).fit(X, y).coef_, float)
