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


SHARE = 0.01
"""Of a certificate's thresholds: all of them would keep the few rows here at zero."""


@experiment("sparse-recovery.certificate-by-hand")
def certificate_by_hand(
    key: Any, *, rows: int = 7, dim: int = 5, gamma: float = 0.6, steps: int = 3,
    whitened: bool = True,
) -> xarray.Dataset:
    """A certificate's numbers for a random matrix, vector, noise and covariance, and the last of
    its iterates, by the study and by loops over coordinates (which take the covariance for the
    identity unless `whitened`)."""
    chance = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    X, noise = chance.normal(size=(rows, dim)), 0.1 * chance.normal(size=rows)
    beta = chance.normal(size=dim) * (np.arange(dim) % 2)
    mixed = chance.normal(size=(dim, dim))
    known = np.eye(dim) + 0.2 * mixed @ mixed.T
    y = X @ beta + noise
    promise, b = certified_run(X, y, beta, noise, gamma, steps, known, SHARE)
    places = np.sqrt(np.arange(1.0, 1 + dim**2))
    made = [
        promise.mu, promise.delta, promise.nu, promise.rate, promise.bounds[-1],
        promise.thresholds[-1], float(promise.matrix.ravel() @ places), float(b[-1] @ places[:dim])]
    plain = _by_hand(X, y, beta, noise, gamma, steps, known if whitened else np.eye(dim))
    return xarray.Dataset({"made": ("said", made), "plain": ("what", plain)})


def _by_hand(
    X: np.ndarray, y: np.ndarray, beta: np.ndarray, noise: np.ndarray, gamma: float, steps: int,
    covariance: np.ndarray,
) -> list[float]:
    """The definitions, coordinate by coordinate; a SHARE of every threshold is applied. Last: the
    sum of the bounds on two matrices at once."""
    rows, dim = X.shape
    turned = [np.linalg.solve(covariance, X.T @ X[:, j] / rows) for j in range(dim)]
    mu = max(abs(turned[j][i]) for i in range(dim) for j in range(dim) if i != j)
    delta = max(abs(1 - gamma * turned[j][j]) for j in range(dim))
    nu = max(abs(np.linalg.solve(covariance, X.T @ noise / rows)))
    sparsity, error = sum(b != 0 for b in beta), sum(abs(b) for b in beta)
    rate = delta + gamma * mu * (2 * sparsity - 1)
    b, threshold = np.zeros(dim), 0.0
    for _ in range(steps):
        threshold = gamma * (mu * error + nu)
        u = b + gamma * np.linalg.solve(covariance, X.T @ (y - X @ b) / rows)
        b = np.array([np.sign(one) * max(abs(one) - SHARE * threshold, 0.0) for one in u])
        error = rate * error + 2 * sparsity * gamma * nu
    places = np.sqrt(np.arange(1.0, 1 + dim**2))
    matrix = gamma * (2 * rows + 1) / rows * np.linalg.solve(covariance, np.eye(dim))
    ends = []
    for size in (mu, mu / 2):  # two matrices, one start
        ends.append(1.3)
        for _ in range(steps):
            ends[-1] = (delta + 3 * gamma * size) * ends[-1] + 4 * gamma * nu
    return [
        mu, delta, nu, rate, error, threshold, float(matrix.ravel() @ places),
        float(b @ places[:dim]), sum(ends)]
