"""Every algorithm of the LISTA family beside plain loops over its definition."""

from typing import Any

import jax
import numpy as np
import xarray

from saccade.lab.experiment import experiment
from saccade.studies.sparse_recovery.dynamics import solvers
from saccade.studies.sparse_recovery.models.unrolled import unroll

ROWS, DIM, LAYERS, COUNT = 4, 6, 4, 7
NAMES = (
    "ista", "fista", "cd", "lista", "lista-cp", "alista", "lista-vm", "lista-block",
    "lista-adaptive", "alista, frozen")
MASK = np.array([True, True, True, True, True, False])
PLACES = np.arange(1.0, DIM + 1)
"""One number for a vector: its product with these."""


@experiment("sparse-recovery.steps-by-hand")
def steps_by_hand(key: Any, *, hard: bool = False) -> xarray.Dataset:
    """b after four layers of each algorithm, weighed by place, for a random problem and random
    layers; by the study's program and by loops (`hard`: which do not shrink what they keep)."""
    chance = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    X, y = chance.normal(size=(ROWS, DIM)), chance.normal(size=ROWS)
    layers = _layers(chance)
    model, plain = [], []
    for name in NAMES:
        mask = None if name == "cd" else MASK
        count = None if name == "lista-block" else np.array([COUNT])  # as many as there are
        b = unroll(name.split(",")[0], layers[name], X[None], y[None], mask, count)[-1, 0]
        model.append(float(np.asarray(b) @ PLACES))
        known = [{leaf: value[k] for leaf, value in layers[name].items()} for k in range(LAYERS)]
        plain.append(float(_by_hand(name, X, y, known, hard) @ PLACES))
    return xarray.Dataset(
        {"model": ("algorithm", model), "plain": ("algorithm", plain)}, {"algorithm": list(NAMES)})


RECORD = (5, 1, 2)


@experiment("sparse-recovery.recorded-iterates")
def recorded_iterates(key: Any, *, lam: float = 0.1, plain_lam: float = 0.1) -> xarray.Dataset:
    """Iterates of ISTA and FISTA after 5, 1 and 2 steps, weighed by place, objectives and duality
    gaps there, and L; by the study and by loops, which may believe in another penalty."""
    chance = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    X, y = chance.normal(size=(DIM + 1, DIM)), chance.normal(size=DIM + 1)
    model, plain = [], []
    for method in solvers.METHODS:
        seen = solvers.iterates(method, X, y, lam, RECORD)
        model += [*(seen.coefficients @ PLACES), *seen.objective, *seen.gap, seen.lipschitz]
        b = [_after(method, X, y, [plain_lam] * steps) for steps in RECORD]
        values = np.array([_value_and_gap(X, y, one, plain_lam) for one in b])
        largest = np.linalg.norm(X, 2) ** 2 * plain_lam / lam
        plain += [*(np.array(b) @ PLACES), *values.T.ravel(), largest]
    return xarray.Dataset({"model": ("what", model), "plain": ("what", plain)})


def _after(method: str, X: np.ndarray, y: np.ndarray, penalties: list[float]) -> np.ndarray:
    if method == "fista":
        return _fista(X, y, penalties, hard=False)
    b = np.zeros(DIM)
    for lam in penalties:
        b = _step("ista", X, y, b, {"lam": lam}, hard=False)
    return b


def _value_and_gap(X: np.ndarray, y: np.ndarray, b: np.ndarray, lam: float) -> tuple[float, float]:
    """F(b), and F(b) - 1/2 |y|^2 + 1/2 |y - s|^2 at the residual s scaled into the dual's set."""
    r = y - X @ b
    s = r * min(1.0, lam / max(abs(X.T @ r)))
    value = r @ r / 2 + lam * sum(abs(b))
    return float(value), float(value - y @ y / 2 + (y - s) @ (y - s) / 2)


def _layers(chance: np.random.Generator) -> dict[str, dict[str, np.ndarray]]:
    theta, lam = chance.uniform(0.02, 0.1, LAYERS), chance.uniform(0.1, 0.3, LAYERS)
    rate = chance.uniform(0.3, 0.9, LAYERS)

    def matrix(*shape: int) -> np.ndarray:
        return 0.3 * chance.normal(size=(LAYERS, *shape))

    groups = np.repeat(np.eye(DIM // 2), 2, axis=0)
    return {
        "ista": {"lam": lam}, "fista": {"lam": lam}, "cd": {"lam": lam},
        "lista": {"W1": matrix(DIM, ROWS), "W2": matrix(DIM, DIM), "theta": theta},
        "lista-cp": {"W": matrix(ROWS, DIM), "theta": theta},
        "alista": {"gamma": rate, "theta": theta},
        "lista-vm": {"M": matrix(DIM, DIM), "theta": theta},
        "lista-block": {"M": rate, "theta": theta, "groups": np.stack([groups] * LAYERS)},
        "lista-adaptive": {"gamma": rate, "theta": theta},
        "alista, frozen": {"gamma": rate, "theta": theta, "W": matrix(ROWS, DIM)}}


def _shrunk(u: np.ndarray, threshold: float, hard: bool) -> np.ndarray:
    kept = np.abs(u) > threshold
    return np.where(kept, u if hard else u - np.sign(u) * threshold, 0.0)


def _by_hand(
    name: str, X: np.ndarray, y: np.ndarray, layers: list[dict[str, Any]], hard: bool
) -> np.ndarray:
    """The definitions, one problem. Columns outside the mask are not there."""
    b = np.zeros(DIM)
    if name == "cd":
        for layer in layers:
            b = _sweep(X, y, b, layer["lam"], hard)
        return b
    X = X * MASK
    if name == "fista":
        return _fista(X, y, [layer["lam"] for layer in layers], hard)
    for layer in layers:
        b = MASK * _step(name, X, y, b, layer, hard)
    return b


def _step(
    name: str, X: np.ndarray, y: np.ndarray, b: np.ndarray, layer: dict[str, Any], hard: bool
) -> np.ndarray:
    uphill, largest = X.T @ (X @ b - y), float(np.linalg.norm(X, 2)) ** 2
    if name == "ista":
        return _shrunk(b - uphill / largest, layer["lam"] / largest, hard)
    if name == "lista-block":
        return _shrunk_pairs(b - layer["M"] * uphill / (2 * ROWS + 1), layer["theta"], hard)
    moved = {
        "lista": lambda: layer["W1"] @ y + layer["W2"] @ b,
        "lista-cp": lambda: b - layer["W"].T @ (X @ b - y),
        "alista": lambda: b - layer["gamma"] * _alista_weight(X).T @ (X @ b - y),
        "alista, frozen": lambda: b - layer["gamma"] * layer["W"].T @ (X @ b - y),
        "lista-vm": lambda: b - layer["M"] @ uphill / (2 * COUNT + 1),
        "lista-adaptive": lambda: b - layer["gamma"] * uphill / largest}[name]()
    return _shrunk(moved, layer["theta"], hard)


def _fista(X: np.ndarray, y: np.ndarray, penalties: list[float], hard: bool) -> np.ndarray:
    """Beck and Teboulle (2009), section 4: x_k from y_k, then y_{k+1} from x_k and x_{k-1}."""
    largest = float(np.linalg.norm(X, 2)) ** 2
    x, point, t = np.zeros(DIM), np.zeros(DIM), 1.0
    for lam in penalties:
        new = _shrunk(point - X.T @ (X @ point - y) / largest, lam / largest, hard)
        following = (1 + np.sqrt(1 + 4 * t**2)) / 2
        point = new + (t - 1) / following * (new - x)
        x, t = new, following
    return x


def _sweep(X: np.ndarray, y: np.ndarray, b: np.ndarray, lam: float, hard: bool) -> np.ndarray:
    """Each coordinate to its minimum, the others fixed."""
    b = b.copy()
    for j in range(DIM):
        rest = y - X @ b + X[:, j] * b[j]
        b[j] = _shrunk(X[:, j] @ rest, lam, hard) / (X[:, j] @ X[:, j])
    return b


def _shrunk_pairs(u: np.ndarray, threshold: float, hard: bool) -> np.ndarray:
    lengths = np.repeat(np.linalg.norm(u.reshape(-1, 2), axis=1), 2)
    return np.where(lengths > threshold, u * (1 if hard else 1 - threshold / lengths), 0.0)


def _alista_weight(X: np.ndarray) -> np.ndarray:
    """w_j = P x_j/(x_j^T P x_j) with P = pinv(X X^T), zero for a column of zeros."""
    P = np.linalg.pinv(X @ X.T)
    return np.array([P @ x / (x @ P @ x) if x.any() else 0 * x for x in X.T]).T
