"""Beyond the paper's task: several informative tokens, and true directions that lean on each other.
The risk by sums over single tokens and pairs of them, and exact descent from random starts."""

from typing import Any

import numpy as np
import xarray
from scipy import special

from saccade.lab.experiment import experiment
from saccade.studies.single_location import dynamics
from saccade.studies.single_location.dynamics import Setting
from saccade.studies.single_location.experiments.closed_forms import token_means
from saccade.studies.single_location.experiments.descent import by_name


def _gram(lean: float, random: np.random.Generator) -> np.ndarray:
    """Overlaps (kappa, nu, theta, eta, rho) of random k and v with k* = e_1 and a v* that leans."""
    k, v = random.standard_normal((2, 5)) + np.eye(2, 5)
    k, v = k / np.linalg.norm(k), v / np.linalg.norm(v)
    v_star = np.array([lean, np.sqrt(1 - lean**2), 0, 0, 0])
    return np.array([k[0], v @ v_star, v[0], k @ v_star, k @ v])


def _risk_by_pairs(
    overlaps: np.ndarray, numbers: np.ndarray, count: int, lean: float, nodes: int = 160
) -> float:
    """E[(Y - T)^2] term by term: T is a sum over L tokens, Y over `count` of them, each pair of
    different tokens is independent; means of one token by Gauss-Hermite sums over its score."""
    kappa, nu, theta, eta, rho = overlaps
    dim, length, lam, gamma, noise = numbers
    x, weights = np.polynomial.hermite_e.hermegauss(nodes)
    weights, shift = weights / weights.sum(), np.sqrt(dim / 2)
    own, other = special.erf(lam * (shift * kappa + gamma * x)), special.erf(lam * x)
    mean, square = token_means(own, x, shift * theta, gamma, rho, weights)
    other_mean, other_square = token_means(other, x, 0.0, 1.0, rho, weights)
    # the answer of one token and what it adds to T, given its score
    answer, read = shift * lean + gamma * eta * x, shift * theta + rho * gamma * x
    product = float((own * (answer * read + gamma**2 * (nu - eta * rho))) @ weights)
    means = np.array([mean] * count + [other_mean] * (int(length) - count))
    squares = np.array([square] * count + [other_square] * (int(length) - count))
    pairs = np.outer(means, means)
    np.fill_diagonal(pairs, squares)
    answers = np.outer(np.full(count, shift * lean), means)
    np.fill_diagonal(answers, product)
    targets = np.full((count, count), (shift * lean) ** 2)
    np.fill_diagonal(targets, (shift * lean) ** 2 + gamma**2)
    total = targets.sum() / count - 2 * answers.sum() / np.sqrt(count) + pairs.sum()
    return float(total + noise**2)


@experiment("single-location.risk-by-pairs")
def risk_by_pairs(
    key: Any, *, counts: tuple[int, ...] = (1, 2, 4, 2, 3),
    leans: tuple[float, ...] = (0.3, 0.0, 0.0, -0.4, 0.2), states: int = 3, longer: int = 0,
    other_lean: float = 0.0,
) -> xarray.Dataset:
    """Risks at random states and settings for each number of informative tokens and k*.v*; `longer`
    is added to the length, `other_lean` to what the answers lean."""
    random, rows = np.random.default_rng(23), []
    for count, lean in zip(counts, leans, strict=True):
        for _ in range(states):
            overlaps = _gram(lean, random)
            numbers = np.array([
                random.integers(4, 40), random.integers(5, 9), np.exp(random.uniform(-2, 0)),
                random.uniform(0.5, 1.2), random.choice([0.0, 0.3])])
            changed = numbers + np.array([0, longer, 0, 0, 0])
            risk = _risk_by_pairs(overlaps, changed, count, lean + other_lean)
            rows.append([*overlaps, *numbers, risk])
    cells = np.array(rows).reshape(len(counts), states, -1)
    axes = ("case", "state")
    return xarray.Dataset({
        "overlap": ((*axes, "name"), cells[..., :5]),
        "setting": ((*axes, "number"), cells[..., 5:10]), "risk": (axes, cells[..., 10])})


def _overlaps(k: np.ndarray, v: np.ndarray, lean: float) -> np.ndarray:
    """With k* = e_1 and a v* that leans."""
    v_star = np.array([lean, np.sqrt(1 - lean**2), 0, 0, 0])
    return np.array([k[0], v @ v_star, v[0], k @ v_star, k @ v])


def _moved(k: np.ndarray, v: np.ndarray, step_size: float, risk: Any) -> list[np.ndarray]:
    """k and v after a step against the slope along their spheres, by differences, normalised."""
    both, apart = np.concatenate([k, v]), 1e-5
    slopes = [
        (risk(both + apart * one) - risk(both - apart * one)) / (2 * apart) for one in np.eye(10)]
    moved = []
    for x, g in zip((k, v), np.split(np.array(slopes), 2), strict=True):
        y = x - step_size * (g - (g @ x) * x)
        moved.append(y / np.sqrt(y @ y))
    return moved


BEYOND = (12.0, 6.0, 0.4, 0.8, 0.0)
"""The setting of those steps."""


@experiment("single-location.beyond-steps")
def beyond_steps(
    key: Any, *, counts: tuple[int, ...] = (1, 2, 1), leans: tuple[float, ...] = (0.35, -0.4, 0.2),
    step_size: float = 0.02, longer: float = 1.0, in_plane: int = 2,
) -> xarray.Dataset:
    """Overlaps at the start and after two steps of the exact descent, and of descent of vectors in
    five dimensions by differences of the risk by pairs, whose steps are `longer` by a factor; and
    that risk at the truth, with one informative token. In the case `in_plane` k starts in the plane
    of k* and v*."""
    random, rows, numbers = np.random.default_rng(29), [], np.array(BEYOND)
    for number, (count, lean) in enumerate(zip(counts, leans, strict=True)):
        k, v = random.standard_normal((2, 5))
        if number == in_plane:
            k = np.array([0.6, 0.8, 0, 0, 0])  # of length one without rounding
        k, v = k / np.linalg.norm(k), v / np.linalg.norm(v)
        start = dynamics.Overlaps(*(np.array([x]) for x in (k[0], v[1], v[0], k[1], k @ v)))
        run = dynamics.beyond_trajectory(
            start, Setting(*numbers), step_size, 2, (0, 2), informative=count, lean=lean)

        def risk(both: np.ndarray, count: int = count, lean: float = lean) -> float:
            key, value = np.split(both, 2)
            return _risk_by_pairs(_overlaps(key, value, lean), numbers, count, lean)

        plain = [_overlaps(k, v, lean)]
        for _ in range(2):
            k, v = _moved(k, v, longer * step_size, risk)
        plain.append(_overlaps(k, v, lean))
        rows.append([np.stack(run.overlaps)[:, 0].T, np.array(plain)])
    at_truth = [
        _risk_by_pairs(np.array([1, 1, lean, lean, lean]), numbers, 1, lean) for lean in leans]
    axes = ("case", "engine", "step", "name")
    return xarray.Dataset(
        {"overlap": (axes, np.array(rows)), "truth": ("case", at_truth)},
        {"engine": ["exact", "vectors"]})


@experiment(
    "single-location.beyond-descent",
    scales={"standard": {"starts": 400}, "paper": {"starts": 1000}})
def beyond_descent(
    key: Any, *, dim: int = 100, length: int = 10, inverse_temperature: float = 0.3,
    decay: float = 0.0, gamma: float = 0.8, step_size: float = 0.01, steps: int = 6000,
    counts: tuple[int, ...] = (1,), leans: tuple[float, ...] = (0.0,), starts: int = 100,
    manifold: bool = False,
) -> xarray.Dataset:
    """Where exact descent from the same random starts ends, for each number of informative tokens
    and k*.v*; the starts are on the sphere, or on the manifold of orthogonal directions."""
    draw = dynamics.manifold_overlaps if manifold else dynamics.sphere_overlaps
    first = draw(key, dim, starts)
    setting = Setting(dim, length, inverse_temperature, gamma)
    runs = [
        dynamics.beyond_trajectory(
            first, setting, step_size, steps, None, decay, informative=count, lean=lean)
        for count, lean in zip(counts, leans, strict=True)]
    axes = ("case", "repetition")
    finals = type(first)(*(np.stack(values) for values in zip(*(run.final for run in runs))))
    return xarray.Dataset(
        by_name(finals, axes) | {"risk": (axes, np.stack([run.risk[:, -1] for run in runs]))},
        {"count": ("case", list(counts)), "lean": ("case", list(leans))})
