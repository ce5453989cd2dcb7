"""How long a step may be, statement by statement: descent on the manifold from everywhere in the
square of (kappa, nu), by sums from the definition of the risk."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import xarray
from scipy import special

from saccade.arrays import generator
from saccade.lab.experiment import experiment

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


class Case(NamedTuple):
    """One setting; the length and the noise move the risk by a constant only."""

    dim: float
    inverse_temperature: float
    gamma: float


class Local(NamedTuple):
    """Risk (up to a constant) and its slopes at points of the square."""

    risk: np.ndarray
    in_kappa: np.ndarray
    in_nu: np.ndarray


def local(kappa: np.ndarray, nu: np.ndarray, case: Case) -> Local:
    """From the definition, by Gauss-Hermite sums over the informative token's score."""
    shift, square = case.inverse_temperature * np.sqrt(case.dim / 2), case.gamma**2
    scores = shift * kappa[..., None] + case.inverse_temperature * case.gamma * NODES
    gate, rise = special.erf(scores), 2 / np.sqrt(np.pi) * shift * np.exp(-(scores**2))
    hit = gate @ WEIGHTS
    return Local(
        square * (1 - 2 * nu * hit + gate**2 @ WEIGHTS),
        2 * square * ((gate * rise) @ WEIGHTS - nu * (rise @ WEIGHTS)), -2 * square * hit)


def _moved(x: np.ndarray, pull: np.ndarray) -> np.ndarray:
    room = (1 - x) * (1 + x)
    return np.clip((x - pull * room) / np.sqrt(1 + pull**2 * room), -1.0, 1.0)


def _step(kappa: np.ndarray, nu: np.ndarray, case: Case, size: float) -> tuple[Any, Any, Local]:
    here = local(kappa, nu, case)
    return _moved(kappa, size * here.in_kappa), _moved(nu, size * here.in_nu), here


def _square(points: int, power: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """A grid of the square, dense near the axes."""
    line = np.linspace(-1, 1, points)
    grid = np.sign(line) * np.abs(line) ** power * (1 - 1e-6)
    return tuple(np.meshgrid(grid, grid, indexing="ij"))  # pyright: ignore[reportReturnType]


def _gains(case: Case, points: int, share: float, size: float) -> bool:
    """Whether a step from anywhere lowers the risk by `share` of what its slope promises."""
    kappa, nu = _square(points)
    *after, here = _step(kappa, nu, case, size)
    slope = here.in_kappa**2 * (1 - kappa**2) + here.in_nu**2 * (1 - nu**2)
    lost = here.risk - local(after[0], after[1], case).risk
    return bool(np.all(lost >= share * size * slope - 1e-13))


def _is_regular(case: Case, points: int, size: float, apart: float = 1e-6) -> bool:
    """Whether the map's Jacobian has a positive determinant everywhere, by central differences."""
    kappa, nu = (0.999 * x for x in _square(points))
    ends = [
        np.stack(_step(kappa + i * apart, nu + j * apart, case, size)[:2])
        for i, j in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    (a, c), (b, d) = ends[0] - ends[1], ends[2] - ends[3]
    return bool(np.all(a * d - b * c > 0))


def _recovers(case: Case, start: np.ndarray, steps: int, size: float) -> bool:
    """Whether all starts end with kappa and nu of one sign and |nu| = 1."""
    kappa, nu = start
    for _ in range(steps):
        kappa, nu, _ = _step(kappa, nu, case, size)
    return bool(np.all((kappa * nu > 0) & (np.abs(nu) > 0.999)))


def _largest(holds: Callable[[float], bool], halvings: int, least: float = 1e-4) -> float:
    """The step size up to which `holds`, by halving the logarithm between `least` and 100."""
    low, high = np.log([least, 100.0])
    for _ in range(halvings):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(float(np.exp(middle))) else (low, middle)
    return float(np.exp(low))


STATEMENTS = ("half the gain", "nearly all", "descent", "regular", "recovery")


@experiment("single-location.largest-steps")
def largest_steps(
    key: Any, *, cases: int = 6, points: int = 21, halvings: int = 14, starts: int = 12,
    steps: int = 200,
) -> xarray.Dataset:
    """The largest step size, at random settings, for which every step from anywhere in the square
    lowers the risk by 50 % or 95 % of what its slope promises, for which none raises it, for which
    the map's Jacobian is regular everywhere, and for which starts from everywhere recover (looked
    for above the longest that descends: far shorter steps do not arrive in time)."""
    rng, rows, settings = generator(key), [], []
    for _ in range(cases):
        case = Case(
            float(np.exp(rng.uniform(np.log(20), np.log(1000)))),
            float(np.exp(rng.uniform(np.log(0.05), 0.0))), rng.uniform(0.5, 1.2))
        first = rng.uniform(-1, 1, (2, starts))
        holds: tuple[Callable[[float], bool], ...] = (
            *(partial(_gains, case, points, share) for share in (0.5, 0.95, 0.0)),
            partial(_is_regular, case, points))
        found = [_largest(one, halvings) for one in holds]
        descent = found[STATEMENTS.index("descent")]
        recovers = partial(_recovers, case, first, steps)
        rows.append([*found, _largest(recovers, halvings, descent)])
        settings.append(case)
    return xarray.Dataset(
        {
            "largest": (("case", "statement"), np.array(rows)),
            "setting": (("case", "name"), np.array(settings))},
        {"statement": list(STATEMENTS)})
