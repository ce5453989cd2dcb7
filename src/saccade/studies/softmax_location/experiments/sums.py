"""Two tokens at the truth: risks of softmax, erf and the best predictors as direct sums over what
they see, weighed by the two densities. No Laplace transform, no chi-square law."""

from typing import Any, NamedTuple

import numpy as np
import xarray
from scipy import special

from saccade.lab.experiment import experiment

NAMES = (
    "scores", "plane", "all", "argmax", "softmax", "softmax, |v| fitted", "erf", "erf, |v| fitted")


class Case(NamedTuple):
    """One setting; sums over everything need an even number of dimensions from 4 on, or 2."""

    dim: int
    inverse_temperature: float
    gamma: float
    noise: float


CASES = (
    Case(4, 1.1, 0.6, 0.3), Case(2, 0.7, 1.3, 0.0), Case(4, 0.5, 1.3, 0.2), Case(2, 2.0, 1.0, 0.1))


def _normal(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    x, weights = np.polynomial.hermite_e.hermegauss(nodes)
    return x, weights / weights.sum()


def _exponential(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Of the sum of the squares of two normal numbers."""
    x, weights = np.polynomial.laguerre.laggauss(nodes)
    return 2 * x, weights / weights.sum()


def _log_ratio(values: Any, gamma: float, shift: float = 0.0) -> Any:
    """log N(x; shift, gamma^2)/N(x; 0, 1)."""
    return -((values - shift) ** 2) / (2 * gamma**2) + values**2 / 2


def _from_scores(case: Case, nodes: int) -> dict[str, float]:
    """What the two scores decide: given them values are normal, of spread gamma and 1."""
    dim, lam, gamma, noise = case
    x, chance = _normal(nodes)
    shift = np.sqrt(dim / 2)
    z = np.stack(np.broadcast_arrays(shift + gamma * x[:, None], x[None, :]))

    def mean(values: np.ndarray) -> float:
        return float(chance @ values @ chance)

    posterior = special.softmax(_log_ratio(z, gamma, shift), axis=0)
    weights = {
        "scores": gamma**2 * posterior / (gamma**2 * posterior + 1 - posterior),
        "softmax": special.softmax(lam * z, axis=0), "erf": special.erf(lam * z)}
    risks = {}
    for name, (own, other) in weights.items():
        with_target, square = gamma**2 * mean(own), mean(gamma**2 * own**2 + other**2)
        risks[name] = noise**2 + gamma**2 - 2 * with_target + square
        risks[f"{name}, |v| fitted"] = noise**2 + gamma**2 - with_target**2 / square
    missed = special.ndtr(-shift / np.sqrt(1 + gamma**2))
    return risks | {"argmax": noise**2 + (1 + gamma**2) * float(missed)}


def _least(case: Case, nodes: tuple[int, int, int], all_of_it: bool) -> float:
    """E[(Y - E[Y|X])^2] from scores and values, and from the squares of the other coordinates."""
    dim, _, gamma, noise = case
    shift = np.sqrt(dim / 2)
    (z, z_chance), (u, u_chance) = _normal(nodes[0]), _normal(nodes[1])
    own, other = (
        _log_ratio(mean + spread * z[:, None], gamma, shift)
        + _log_ratio(spread * u[None, :], gamma) for mean, spread in ((shift, gamma), (0.0, 1.0)))
    chance = z_chance[:, None] * u_chance
    rest, rest_chance = np.zeros(1), np.ones(1)
    if all_of_it and dim > 2:
        square, one = _exponential(nodes[2])
        # (1 - 1/gamma^2)/2 of the square; of the informative token gamma^2 times as long
        own_rest, other_rest = ((1 - gamma**-2) / 2 * length * square for length in (gamma**2, 1.0))
        rest = (own_rest[:, None] - other_rest[None, :]).ravel()
        rest_chance = (one[:, None] * one[None, :]).ravel()
    gap = (gamma * u[:, None] - u[None, :]) ** 2
    total = 0.0
    for more, weight in zip(rest, rest_chance, strict=True):
        away = special.expit(-(own[:, :, None, None] - other[None, None] + more)) ** 2
        total += weight * np.einsum("abcd,ab,cd,bd->", away, chance, chance, gap, optimize=True)
    return float(noise**2 + total)


@experiment("softmax-location.two-at-the-truth")
def two_at_the_truth(
    key: Any, *, cases: tuple[Case, ...] = CASES, scores: int = 120,
    nodes: tuple[int, int, int] = (20, 16, 8),
) -> xarray.Dataset:
    """Risks of the predictors named in NAMES with two tokens, case by case."""
    rows = []
    for case in cases:
        case = Case(*case)
        found = _from_scores(case, scores) | {
            "plane": _least(case, nodes, False), "all": _least(case, nodes, True)}
        rows.append([found[name] for name in NAMES])
    return xarray.Dataset(
        {
            "risk": (("case", "name"), np.array(rows)),
            "setting": (("case", "number"), np.array(cases))},
        {"name": list(NAMES)})
