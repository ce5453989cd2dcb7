"""How much the columns of a matrix look alike, as seen through a weight W: max |w_i^T x_j| over i
!= j when w_i^T x_i = 1."""

import numpy as np
from jaxtyping import Float
from scipy.optimize import linprog

from saccade.errors import require

Matrix = Float[np.ndarray, "row dim"]


def coherence(W: Matrix, X: Matrix) -> float:
    """max over i != j of |w_i^T x_j|; 0 for a single column. Exact."""
    product = np.abs(W.T @ X)
    np.fill_diagonal(product, 0.0)
    return float(product.max(initial=0.0))


def normalised_coherence(X: Matrix) -> float:
    """The coherence through W = X with columns divided by their squared norms, so that w_i^T x_i =
    1. Exact."""
    squares = (X**2).sum(0)
    return coherence(X / np.where(squares > 0, squares, 1.0), X)


def frobenius_objective(W: Matrix, X: Matrix) -> float:
    """||W^T X||_F^2, which ALISTA's weight minimises."""
    return float(((W.T @ X) ** 2).sum())


def lp_coherence(X: Matrix) -> float:
    """The generalised mutual coherence min_W max_{i != j} |w_i^T x_j| with w_i^T x_i = 1. Exact
    (one linear program a column)."""
    require(
        bool((np.abs(X).sum(0) > 0).all()), "X", "a matrix with a zero column",
        "must have no zero column")
    return max((_lp_column(X, i) for i in range(X.shape[1])), default=0.0)


def _lp_column(X: Matrix, i: int) -> float:
    """min over (w, t) of t with |w^T x_j| <= t for j != i and w^T x_i = 1."""
    rows, dim = X.shape
    if dim == 1:
        return 0.0
    others = np.delete(X, i, axis=1).T
    above = -np.ones((dim - 1, 1))
    found = linprog(
        np.append(np.zeros(rows), 1.0), A_ub=np.block([[others, above], [-others, above]]),
        b_ub=np.zeros(2 * (dim - 1)), A_eq=np.append(X[:, i], 0.0)[None, :], b_eq=[1.0],
        bounds=[(None, None)] * rows + [(0, None)])
    return float(found.fun)


def frobenius_by_projection(X: Matrix, steps: int = 2000) -> Matrix:
    """ALISTA's own recipe for its weight: W <- W - X (X^T W - I)/||X||^2, then back onto w_j^T x_j
    = 1, column by column.

    Converges slowly where N is near d (a square 20 x 20 matrix is still off after 20,000 steps):
    the closed form is to be preferred.
    """
    squares = (X**2).sum(0)
    rate = 1 / np.linalg.norm(X, 2) ** 2
    W = X / squares
    for _ in range(steps):
        W = W - rate * X @ (X.T @ W - np.eye(X.shape[1]))
        W = W + X * (1 - (X * W).sum(0)) / squares
    return W
