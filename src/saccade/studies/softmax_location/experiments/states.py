"""Fixed points of the descent and their stability, by running and differencing it: k and v in four
coordinates, in which every state has a copy; no Hessian written by hand."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import xarray
from scipy import linalg, optimize

from saccade.lab.experiment import experiment
from saccade.studies.softmax_location import dynamics
from saccade.studies.softmax_location.dynamics import Overlaps, Setting

Kind = Literal["softmax", "erf"]
AXES = np.eye(4)


def _root(rate: Callable[[float], float], low: float, high: float) -> float:
    return float(optimize.brentq(rate, low, high, xtol=1e-10))  # type: ignore[arg-type]


def _velocity(pair: np.ndarray, setting: Setting, kind: Kind) -> np.ndarray:
    """Minus the gradient along the two spheres, at k and v of any length (they are normalised)."""
    k, v = pair / np.linalg.norm(pair, axis=1, keepdims=True)
    at = Overlaps(k[0], v[1], v[0], k[1], k @ v)
    g = dynamics.gradient(at, setting, kind)
    by_k = g.kappa * AXES[0] + g.eta * AXES[1] + g.rho * v
    by_v = g.theta * AXES[0] + g.nu * AXES[1] + g.rho * k
    return -np.stack([by_k - (by_k @ k) * k, by_v - (by_v @ v) * v])


def growth_rates(pair: np.ndarray, setting: Setting, kind: Kind = "softmax") -> np.ndarray:
    """Rates at which small turns of k and v grow, descending, by central differences."""
    tangent = np.asarray(linalg.block_diag(*(np.linalg.svd(x[:, None])[0][:, 1:] for x in pair)))
    step = 1e-5
    columns = [
        (
            _velocity(pair + step * turn, setting, kind)
            - _velocity(pair - step * turn, setting, kind))
        / (2 * step) for turn in tangent.T.reshape(-1, 2, 4)]
    matrix = tangent.T @ np.stack([column.ravel() for column in columns], -1)
    return np.sort(np.linalg.eigvalsh((matrix + matrix.T) / 2))[::-1]


def _turns(setting: Setting, kind: Kind) -> np.ndarray:
    """How turns of k to v* and of v to k* grow at the truth, a 2 x 2 matrix by differences."""
    truth = np.stack([AXES[0], AXES[1]])
    turns, step = (np.eye(8)[1].reshape(2, 4), np.eye(8)[4].reshape(2, 4)), 1e-4
    columns = [
        (
            _velocity(truth + step * turn, setting, kind)
            - _velocity(truth - step * turn, setting, kind))
        / (2 * step) for turn in turns]
    return np.array([[np.sum(column * turn) for column in columns] for turn in turns])


def _turn_rate(matrix: np.ndarray) -> float:
    """Positive where a turn within the plane grows at the truth: minus the determinant of the 2 x 2
    matrix of growth over the product of its diagonal, so that its size means something at any scale
    of the risk (-1 where the two turns do not mix)."""
    return float(-np.linalg.det(matrix) / abs(matrix[1, 1] * matrix[0, 0]))


@experiment("softmax-location.oracle-curvature")
def oracle_curvature(
    key: Any, *,
    cases: tuple[tuple[float, float, float], ...] = (
        (400.0, 10.0, 0.9), (400.0, 10.0, 1.5), (1600.0, 10.0, 0.5), (1600.0, 100.0, 0.8),
        (400.0, 2.0, 0.9)),
    gamma: float = 2**-0.5,
) -> xarray.Dataset:
    """What it costs to turn k towards v* while v follows as it likes, at the truth."""
    rows = []
    for dim, length, lam in cases:
        matrix = -_turns(Setting(dim, length, lam, gamma), "softmax")
        rows.append(matrix[0, 0] - matrix[0, 1] * matrix[1, 0] / matrix[1, 1])
    return xarray.Dataset({"curvature": ("case", np.array(rows))})


UNSTABLE = (
    (10.0, 100.0, 0.1, 0.2), (10.0, 100.0, 0.5, 0.8), (40.0, 100.0, 0.1, 0.2),
    (40.0, 100.0, 0.25, 0.5), (40.0, 1000.0, 0.3, 0.45), (40.0, 1000.0, 0.45, 0.8))


OPEN = (4.0, 1e8, 0.01, 2.0)


@experiment("softmax-location.instability-edges")
def instability_edges(
    key: Any, *, cases: tuple[tuple[float, float, float, float], ...] = UNSTABLE,
    gamma: float = 3.5, wide: float = 30.0,
) -> xarray.Dataset:
    """The inverse temperatures, bracketed by each case, at which a turn at the truth starts or
    stops to grow; NaN where none does. Last, at gamma = `wide`, where one starts that still grows
    at the end of the bracket."""

    def edge(dim: float, length: float, low: float, high: float, gamma: float = gamma) -> float:
        def rate(lam: float) -> float:
            return _turn_rate(_turns(Setting(dim, length, lam, gamma), "softmax"))

        if rate(low) * rate(high) > 0:
            return float("nan")
        return _root(rate, low, high)

    edges = [*(edge(*case) for case in cases), edge(*OPEN, wide)]
    return xarray.Dataset({"inverse_temperature": ("edge", np.array(edges))})


@experiment("softmax-location.oracle-turns")
def oracle_turns(
    key: Any, *, count: int = 40, gammas: tuple[float, ...] = (0.4, 2**-0.5, 1.0), top: float = 3.0,
    kind: Kind = "softmax",
) -> xarray.Dataset:
    """Random settings, and how turns of k to v* and of v to k* grow at the truth there; `rate` is
    positive where one does."""
    random, rows, turns = dynamics.generator(key), [], []
    for _ in range(count):
        dim, length = float(random.integers(4, 400)), float(np.exp(random.uniform(0.7, 7)))
        lam, gamma = float(np.exp(random.uniform(np.log(0.02), np.log(top)))), random.choice(gammas)
        rows.append([dim, length, lam, gamma])
        turns.append(_turns(Setting(dim, length, lam, float(gamma)), kind))
    return xarray.Dataset({
        "setting": (("case", "number"), np.array(rows)),
        "rate": ("case", np.array([_turn_rate(matrix) for matrix in turns])),
        "turns": (("case", "turned", "moves"), np.array(turns))})


SWAPPED = ((100.0, 100.0, 1.0), (10.0, 100.0, 1.0))


@experiment("softmax-location.settled")
def settled(
    key: Any, *, cases: tuple[tuple[float, float, float], ...] = SWAPPED, push: float = 0.02,
    scaled_step: float = 1.0, steps: int = 60_000, gamma: float = 2**-0.5,
) -> xarray.Dataset:
    """Where descent settles when it starts near k = v*, v = k* - v*, pushed out of the plane at
    random, and how fast the state it ends in attracts (in four coordinates)."""
    random, rows, rates = dynamics.generator(key), [], []
    for dim, length, lam in cases:
        pair = np.array([[0.3, 0.95, 0, 0], [0.75, -0.65, 0, 0]])
        pair = pair + push * random.standard_normal((2, 4))
        pair = pair / np.linalg.norm(pair, axis=1, keepdims=True)
        setting = Setting(dim, length, lam, gamma)
        start = Overlaps(pair[0, 0], pair[1, 1], pair[1, 0], pair[0, 1], pair[0] @ pair[1])
        run = dynamics.trajectory(
            Overlaps(*(np.full(8, x) for x in start)), setting, scaled_step / dim, (steps,))
        end = np.array([x[0, -1] for x in run.overlaps])
        rows.append([*end, run.risk[0, -1]])
        rates.append(growth_rates(_vectors(end), setting)[0])
    return xarray.Dataset({
        "state": (("case", "number"), np.array(rows)), "rate": ("case", np.array(rates)),
        "setting": (("case", "name"), np.array(cases))})


def _vectors(at: np.ndarray) -> np.ndarray:
    """Unit vectors k and v in four coordinates with the given overlaps."""
    kappa, nu, theta, eta, rho = at
    k_rest = np.sqrt(max(1 - kappa**2 - eta**2, 0.0))
    along = (rho - kappa * theta - eta * nu) / k_rest if k_rest > 1e-7 else 0.0
    rest = np.sqrt(max(1 - theta**2 - nu**2 - along**2, 0.0))
    return np.array([[kappa, eta, k_rest, 0.0], [theta, nu, along, rest]])


@experiment("softmax-location.swapped-edges")
def swapped_edges(
    key: Any, *,
    cases: tuple[tuple[float, float, float, float], ...] = (
        (100.0, 100.0, 0.13, 0.2), (100.0, 100.0, 1.3, 1.6), (10.0, 10.0, 0.55, 0.8),
        (10.0, 10.0, 1.9, 2.3)),
    gamma: float = 0.8,
) -> xarray.Dataset:
    """The inverse temperatures, bracketed by each case, at which the state that descent within the
    plane settles in gains or loses its stability to pushes out of it."""

    def plane_minimum(setting: Setting, angles: np.ndarray) -> np.ndarray:
        """Newton-like descent in the two angles of k and v."""

        def pull(x: np.ndarray) -> np.ndarray:
            k, v = _plane(x)
            speed = _velocity(np.stack([k, v]), setting, "softmax")
            turns = np.array([[-k[1], k[0], 0, 0], [-v[1], v[0], 0, 0]])
            return np.sum(speed * turns, axis=1)

        return optimize.root(pull, angles, tol=1e-12).x

    def edge(dim: float, length: float, low: float, high: float) -> float:
        angles = np.array([np.arctan2(0.95, 0.3), np.arctan2(-0.65, 0.75)])

        def rate(lam: float) -> float:
            nonlocal angles
            setting = Setting(dim, length, lam, gamma)
            angles = plane_minimum(setting, angles)
            return growth_rates(np.stack(_plane(angles)), setting)[0]

        return _root(rate, low, high)

    return xarray.Dataset(
        {"inverse_temperature": ("case", np.array([edge(*case) for case in cases]))})


def _plane(angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return tuple(np.array([np.cos(a), np.sin(a), 0.0, 0.0]) for a in angles)  # type: ignore
