"""Speed of solving: many small LASSO problems, one large one, one matrix shared by many."""

import warnings
from functools import partial
from importlib import import_module
from typing import Any

import jax
import numpy as np

from saccade.lab.benchmark import Accuracy, Benchmark, Sides
from saccade.lab.growth import Growth
from saccade.lab.timing import Target, Work
from saccade.studies.sparse_recovery.dynamics.solvers import relative_gap, solve_lasso
from saccade.studies.sparse_recovery.dynamics.working_sets import solve_large
from saccade.studies.sparse_recovery.experiments.solvers import LIBRARIES
from saccade.studies.sparse_recovery.models.unrolled import unroll
from saccade.studies.sparse_recovery.task import SparseRecovery


def _by_scikit_learn(X: np.ndarray, y: np.ndarray, lam: float, gap: float) -> np.ndarray:
    """Its Lasso, problem after problem, to a gap of `gap` |y|^2/2 (it stops at tol |y|^2)."""
    from sklearn.linear_model import Lasso

    solver = Lasso(alpha=lam / X.shape[1], fit_intercept=False, tol=gap / 2, max_iter=100_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few problems stop at max_iter, which is in its favour
        return np.stack(
            [solver.fit(matrix, values).coef_.copy() for matrix, values in zip(X, y, strict=True)])


def batched_lasso(problems: int = 10_000, rows=10, dim=20, lam=0.1, gap: float = 1e-10) -> Sides:
    """Gaussian problems to a relative duality gap. Both sides are held to the same gap; ours is
    exact whatever is asked."""
    sample = SparseRecovery.create(dim, rows, min(3, dim)).sample(jax.random.key(0), problems)
    X, y = np.asarray(sample.X), np.asarray(sample.y)

    def check() -> Accuracy:
        """Our worst relative duality gap over all problems."""
        return Accuracy(float((solve_lasso(X, y, lam, gap).gap / (0.5 * (y**2).sum(1))).max()), gap)

    return Sides(
        lambda: solve_lasso(X, y, lam, gap), lambda: _by_scikit_learn(X, y, lam, gap), check)


ITERATIONS = 16


def _on_one_matrix(problems: int, rows: int, dim: int) -> tuple[np.ndarray, np.ndarray]:
    """A matrix with columns of length about one, and the values of many sparse vectors."""
    task = SparseRecovery.create(dim, rows, max(1, dim // 20))
    X = np.asarray(task.matrices(jax.random.key(0), 1)[0]) / np.sqrt(rows)
    return X, np.asarray(task.sample_on(jax.random.key(1), X, problems, query=False).y)


def _ista(X: np.ndarray, y: np.ndarray, lam: float) -> Work:
    layers = {"lam": np.full(ITERATIONS, lam)}
    return lambda: jax.block_until_ready(unroll("ista", layers, X, y))


@partial(
    Benchmark, "sparse-recovery.ista-one-matrix",
    "16 ISTA iterations on 256 problems that share one matrix 250 x 500: ours against a loop in"
    " NumPy on the whole batch", target=Target(">=", 1.0),
    tiny={"problems": 4, "rows": 6, "dim": 9})
def ista_one_matrix(
    problems: int = 256, rows: int = 250, dim: int = 500, lam: float = 0.1
) -> Sides:
    """All iterates, with L = ||X||_2^2 computed once a call by each side."""
    X, y = _on_one_matrix(problems, rows, dim)
    ours = _ista(X, y, lam)

    def peer() -> np.ndarray:
        L = np.linalg.norm(X, 2) ** 2
        b, visited = np.zeros((problems, dim)), []
        for _ in range(ITERATIONS):
            u = b - (b @ X.T - y) @ X / L
            b = np.sign(u) * np.maximum(np.abs(u) - lam / L, 0)
            visited.append(b)
        return np.stack(visited)

    return Sides(ours, peer, lambda: Accuracy(float(np.abs(ours() - peer()).max()), 1e-10))


def large_lasso(
    library: str, rows: int = 1000, dim: int = 5000, share: float = 0.05, gap: float = 1e-8
) -> Sides:
    """One Gaussian problem, 50 non-zeros (a tenth of the columns if fewer), unit noise, at lam =
    share lam_max. Both sides are held to the same relative gap; ours ends at rounding."""
    task = SparseRecovery.create(dim, rows, min(50, -(-dim // 10)), noise=1.0)
    sample = task.sample(jax.random.key(0), 1, query=False)
    X, y = np.asfortranarray(sample.X[0]), np.asarray(sample.y[0])  # the order that all read fast
    lam = share * float(np.abs(X.T @ y).max())
    # they stop at a gap of tol |y|^2 (in their units), we at gap |y|^2/2
    solver = import_module(LIBRARIES[library]).Lasso(
        alpha=lam / rows, fit_intercept=False, tol=gap / 2, max_iter=100_000)

    def peer() -> np.ndarray:
        return solver.fit(X, y).coef_

    def check() -> Accuracy:
        """The worse of the two relative duality gaps."""
        both = solve_large(X, y, lam, gap).coefficients, peer()
        return Accuracy(max(relative_gap(X, y, b, lam) for b in both), gap)

    return Sides(lambda: solve_large(X, y, lam, gap), peer, check)


def _large(library: str, *shares: float) -> list[Benchmark]:
    return [
        Benchmark(
            f"sparse-recovery.large-lasso-{library}-{share:g}",
            "one LASSO problem 1,000 x 5,000 to a relative duality gap of 1e-8, lam ="
            f" {share:g} lam_max: working sets and Cholesky factors against {library}",
            partial(large_lasso, library, share=share), Target("<=", 2.0), ours_over_peer=True,
            tiny={"rows": 20, "dim": 40}, needs=LIBRARIES[library].split(".")[0])
        for share in shares]


def _growing(axis: str, size: float, problems: int = 256, dim: int = 500) -> Work:
    sizes = {"problems": problems, "dim": dim} | {axis: int(size)}
    return _ista(*_on_one_matrix(sizes["problems"], sizes["dim"] // 2, sizes["dim"]), 0.1)


def _growth(axis: str, work: str, sizes: tuple[float, ...], tiny: Any, most: float) -> Growth:
    return Growth(
        f"sparse-recovery.ista-against-{axis}", work, axis, sizes, partial(_growing, axis),
        Target("<=", most), tiny=tiny)


GROWTH = (
    _growth(
        "problems", "16 ISTA iterations on one shared matrix 250 x 500.", (256, 512, 1024, 2048),
        (2, 4), 1.1),
    _growth(
        "dim", "16 ISTA iterations on 256 problems with one matrix d/2 x d.", (200, 400, 800, 1600),
        (4, 8), 2.5))

BENCHMARKS = (
    Benchmark(
        "sparse-recovery.lasso-1e-5",
        "10,000 LASSO problems 10 x 20 to a relative duality gap of 1e-5: all at once against"
        " scikit-learn one by one", partial(batched_lasso, gap=1e-5), Target(">=", 10.0),
        tiny={"problems": 40}),
    Benchmark(
        "sparse-recovery.lasso-1e-10",
        "10,000 LASSO problems 10 x 20 to a relative duality gap of 1e-10: all at once against"
        " scikit-learn one by one", batched_lasso, Target(">=", 3.0), tiny={"problems": 40}),
    *_large("scikit-learn", 0.05, 0.02), *_large("celer", 0.05, 0.02))
