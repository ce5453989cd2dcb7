"""Numbers that others have published: ISTA, FISTA and ALISTA on Gaussian matrices with columns of
length one, as logged by the authors of NA-ALISTA (public repository feeds/na-alista).

Their setting: 250 rows, 500 or 1000 columns, each coordinate non-zero with chance 50/columns and
then standard normal, noise of 40 dB (0.01 times the standard deviation of the measured values of a
problem), 16 iterations, penalty 0.4. Errors are 10 log10(sum |b - beta|^2/sum |beta|^2). Their
FISTA answers with the point from which the next gradient would be taken. Matrices are drawn anew
here; theirs is one draw of the same law.
"""

from typing import Any, Literal, NamedTuple

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.sparse_recovery.models.steps import alista_weight
from saccade.studies.sparse_recovery.models.unrolled import unroll

ANSWERS = ("ista", "fista", "fista, iterate")


class Problems(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    beta: np.ndarray


def unit_columns(chance: np.random.Generator, rows: int, dim: int) -> np.ndarray:
    """A Gaussian matrix whose columns are divided by their lengths."""
    X = chance.normal(size=(rows, dim))
    return X / np.linalg.norm(X, axis=0)


def measured(
    chance: np.random.Generator, X: np.ndarray, problems: int, nonzeros: float, decibels: float
) -> Problems:
    """Problems on one matrix, `nonzeros` of their coordinates not zero on average."""
    shape = (problems, X.shape[1])
    beta = (chance.random(shape) < nonzeros / X.shape[1]) * chance.normal(size=shape)
    exact = beta @ X.T
    noise = exact.std(1, ddof=1, keepdims=True) * 10 ** (-decibels / 20)
    return Problems(X, exact + noise * chance.normal(size=exact.shape), beta)


def decibels_off(b: np.ndarray, beta: np.ndarray) -> float:
    """10 log10(sum |b - beta|^2/sum |beta|^2)."""
    return float(10 * np.log10(((b - beta) ** 2).sum() / (beta**2).sum()))


def _momentum(iterations: int) -> np.ndarray:
    """(t_k - 1)/t_{k+1} for k = 1, 2, ...: how far FISTA's next point lies beyond its iterate."""
    t = [1.0]
    for _ in range(iterations):
        t.append((1 + np.sqrt(1 + 4 * t[-1] ** 2)) / 2)
    return (np.array(t[:-1]) - 1) / np.array(t[1:])


@experiment("sparse-recovery.outside", scales={"standard": {"problems": 128}})
def outside(
    key: Any, *, rows: int = 250, dim: int = 500, nonzeros: float = 50, decibels: float = 40,
    iterations: int = 16, lam: float = 0.4, matrices: int = 32, problems: int = 64,
) -> xarray.Dataset:
    """Errors in decibels after every iteration, a number for each matrix: of ISTA, of FISTA by the
    point of its next gradient, and of FISTA by its iterate."""
    chance = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    layers = {"lam": np.full(iterations, lam, np.float32)}
    ahead = _momentum(iterations)

    def one_matrix() -> list[list[float]]:
        given = measured(chance, unit_columns(chance, rows, dim), problems, nonzeros, decibels)
        X, y = given.X.astype(np.float32), given.y.astype(np.float32)
        ista, fista = (np.asarray(unroll(name, layers, X, y), float) for name in ("ista", "fista"))
        before = np.concatenate([0 * fista[:1], fista[:-1]])
        answers = (ista, fista + ahead[:, None, None] * (fista - before), fista)
        return [[decibels_off(b, given.beta) for b in answer] for answer in answers]

    return xarray.Dataset(
        {"decibels": (
            ("matrix", "algorithm", "iteration"), [one_matrix() for _ in range(matrices)])},
        {"algorithm": list(ANSWERS), "iteration": np.arange(1, iterations + 1)})


@experiment(
    "sparse-recovery.weight-against-solver",
    scales={"standard": {"rows": 250, "dim": 500, "steps": 1000}})
def weight_against_solver(
    key: Any, *, rows: int = 50, dim: int = 100, steps: int = 1000, rate: float = 0.01,
    weight: Literal["closed form", "columns", "pseudo-inverse"] = "closed form",
) -> xarray.Dataset:
    """||W^T X||_F^2 of our closed-form weight (or of what `weight` names: the columns themselves,
    or those of the pseudo-inverse, which forget the constraint) and of the solver's: `steps` steps
    of W <- W - rate X X^T W, projected back onto w_j^T x_j = 1, the rate falling by 1 % a step,
    from a random start; and how far each is from w_j^T x_j = 1."""
    chance = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    X = unit_columns(chance, rows, dim)
    ours = {
        "closed form": lambda: np.asarray(jax.jit(alista_weight)(X)), "columns": lambda: X,
        "pseudo-inverse": lambda: np.linalg.pinv(X).T}[weight]()
    W, gram = chance.normal(size=X.shape) / np.sqrt(rows), X @ X.T
    for step in range(steps):
        W = W - rate * 0.99**step * gram @ W
        W = W + X * (1 - (X * W).sum(0))
    both = (ours, W)
    return xarray.Dataset(
        {
            "objective": ("weight", [float(((one.T @ X) ** 2).sum()) for one in both]),
            "off_one": ("weight", [float(np.abs((one * X).sum(0) - 1).max()) for one in both])},
        {"weight": ["ours", "solver"]})
