"""Certificates on random matrices: promise, what happens, and how coherence falls with rows."""

from typing import Any

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.sparse_recovery.dynamics.solvers import certified as certified_run
from saccade.studies.sparse_recovery.task import Design, SparseRecovery, covariance


@experiment("sparse-recovery.certified", scales={"standard": {"instances": 200}})
def certified(
    key: Any, *, dim: int = 20, sparsity: int = 3, rows: int = 1000, instances: int = 50,
    gamma: float = 1.0, steps: int = 60, noise: float = 0.0, design: Design = "gaussian",
    threshold_share: float = 1.0, whitened: bool = False,
) -> xarray.Dataset:
    """LISTA-VM with the thresholds of its certificate: the certificate's numbers, l1 errors, label
    errors at one query, false positives. `whitened` uses the correlated design's covariance."""
    task = SparseRecovery.create(dim, rows, sparsity, noise, design)
    sample = task.sample(key, instances)
    known = covariance(dim, task.correlation) if whitened else None
    parts = [np.asarray(part) for part in (sample.X, sample.y, sample.beta, sample.query)]
    problems = []
    for X, y, beta, query in zip(*parts, strict=True):
        promise, b = certified_run(X, y, beta, y - X @ beta, gamma, steps, known, threshold_share)
        problems.append({
            "mu": promise.mu, "delta": promise.delta, "nu": promise.nu,
            "start": np.abs(beta).sum(), "error": np.abs(b - beta).sum(1),
            "label_error": np.abs((b - beta) @ query), "outside": np.abs(b[:, beta == 0]).max(),
            "largest_entry": np.abs(query).max(), "zeros": (b == 0).all()})
    arrays = {name: np.array([row[name] for row in problems], float) for name in problems[0]}
    return xarray.Dataset(
        {name: (("repetition", "step")[: rows.ndim], rows) for name, rows in arrays.items()},
        {"step": np.arange(steps + 1)})


@experiment("sparse-recovery.worst-case")
def worst_case(
    key: Any, *, sparsity: int = 3, mu: float = 0.1, nu: float = 0.01, gamma: float = 0.7,
    steps: int = 20, sign: float = -1.0, square: float = 1.0,
) -> xarray.Dataset:
    """The problem on which the certificate's iteration does as badly as it promises: all columns
    have |X_i|^2/n = `square`, all pairs X_i^T X_j/n = `sign` mu, beta is one everywhere, and the
    noise pulls every coordinate down. Every inequality of the proof is then an equality."""
    gram = np.full((sparsity, sparsity), sign * mu) + (square - sign * mu) * np.eye(sparsity)
    X, beta = np.sqrt(sparsity) * np.linalg.cholesky(gram).T, np.ones(sparsity)
    # X^T noise / n = -nu in every coordinate
    noise = -nu * sparsity * X @ np.linalg.solve(X.T @ X, beta)
    _, b = certified_run(X, X @ beta + noise, beta, noise, gamma, steps)
    errors = np.abs(b - beta).sum(1)
    return xarray.Dataset({"error": ("step", errors)}, {"step": np.arange(steps + 1)})


@experiment("sparse-recovery.coherence")
def coherence(
    key: Any, *, dim: int = 20, rows: tuple[int, ...] = (100, 400, 1600, 6400), draws: int = 75,
    design: Design = "gaussian",
) -> xarray.Dataset:
    """mu = max off-diagonal |X^T X/n| of random matrices with growing numbers of rows."""
    mu = np.zeros((len(rows), draws))
    for place, n in enumerate(rows):
        task = SparseRecovery.create(dim, n, 1, design=design)
        for start in range(0, draws, 25):
            count = min(25, draws - start)
            X = np.asarray(task.matrices(jax.random.fold_in(key, 1000 * place + start), count))
            gram = np.abs(X.swapaxes(1, 2) @ X) / n
            gram[:, np.arange(dim), np.arange(dim)] = 0
            mu[place, start : start + count] = gram.max((1, 2))
    return xarray.Dataset({"mu": (("rows", "repetition"), mu)}, {"rows": list(rows)})
