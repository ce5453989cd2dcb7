"""Expectations straight from their definitions: what the closed forms are judged against."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray
from scipy import integrate, special

from saccade.lab.experiment import experiment


def _erf_prime(x: Any) -> Any:
    return 2 / np.sqrt(np.pi) * np.exp(-x * x)


# The seven functions whose Gaussian means Lemma 18 and zeta give in closed form.
MOMENTS: dict[str, Callable] = {
    "erf'": _erf_prime, "erf": special.erf, "erf''": lambda x: -2 * x * _erf_prime(x),
    "(erf')^2": lambda x: _erf_prime(x) ** 2,
    "erf erf''": lambda x: special.erf(x) * -2 * x * _erf_prime(x),
    "erf erf'": lambda x: special.erf(x) * _erf_prime(x), "erf^2": lambda x: special.erf(x) ** 2}


def gaussian_mean(function, shift: float, variance: float) -> float:
    """E f(shift + G), G ~ N(0, variance), by adaptive quadrature over twelve deviations."""
    spread = np.sqrt(variance)

    def weighted(z: float) -> float:
        return np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * function(shift + spread * z)

    # The step of erf is given as a break point, or it could be missed when it is narrow.
    step = np.clip(-shift / spread, -11.0, 11.0)
    breaks = np.unique(np.concatenate(
        [[-12.0, 12.0, step], np.clip(step + np.array([-6, -1, 1, 6]) / spread, -11, 11)]))
    return float(sum(
        integrate.quad(weighted, a, b, epsabs=1e-15, epsrel=1e-13, limit=200)[0]
        for a, b in itertools.pairwise(breaks)))


@experiment("single-location.erf-moments")
def erf_moments(
    key, *, shifts: tuple[float, ...] = (0.0, 0.3, -1.1, 2.0, 3.0),
    variances: tuple[float, ...] = (0.01, 0.25, 0.7, 4.0),
) -> xarray.Dataset:
    """Gaussian means of products of erf and its derivatives, by adaptive quadrature."""
    t, s = (grid.ravel() for grid in np.meshgrid(shifts, variances, indexing="ij"))
    values = [[gaussian_mean(f, a, b) for a, b in zip(t, s, strict=True)] for f in MOMENTS.values()]
    return xarray.Dataset(
        {"mean": (("moment", "point"), np.array(values))},
        {"moment": list(MOMENTS), "shift": ("point", t), "variance": ("point", s)})


@experiment("single-location.oracle-quadrature")
def oracle_quadrature(
    key, *, dims: tuple[float, ...] = (1e2, 1e4, 1e6, 1e8, 1e10), lengths: tuple[float, ...] = (),
    temperature_exponent: float = 0.4, gamma: float = 2**-0.5, noise: float = 0.0,
) -> xarray.Dataset:
    """Risk of the oracle by quadrature, for lambda = d^-exponent and L = sqrt(d) or as given."""
    tokens = np.array([[length for length in lengths] or [np.sqrt(dim)] for dim in dims])
    risks = [
        [_oracle(dim, length, dim**-temperature_exponent, gamma, noise) for length in row]
        for dim, row in zip(dims, tokens, strict=True)]
    return xarray.Dataset(
        {"risk": (("dim", "case"), np.array(risks)), "length": (("dim", "case"), tokens)},
        {"dim": np.array(dims, float)})


def _oracle(
    dim: float, length: float, inverse_temperature: float, gamma: float, noise: float
) -> float:
    """eps^2 + gamma^2 (1 - 2 E erf + E erf^2) + (L - 1) E erf^2: the square, expanded."""
    shift, variance = inverse_temperature * np.sqrt(dim / 2), (inverse_temperature * gamma) ** 2
    missed = gaussian_mean(
        lambda x: special.erfc(x) ** 2, shift, variance
    )  # (1 - erf)^2 in one piece, so nothing cancels
    others = gaussian_mean(lambda x: special.erf(x) ** 2, 0.0, inverse_temperature**2)
    return noise**2 + gamma**2 * missed + (length - 1) * others


@experiment("single-location.manifold-landscape")
def manifold_landscape(
    key, *, dim: int = 400, length: int = 10, inverse_temperature: float = 0.1,
    gamma: float = 2**-0.5, points: int = 101, nodes: int = 120,
) -> xarray.Dataset:
    """Risk and its derivatives on the manifold over a (kappa, nu) grid, by Gauss-Hermite."""
    grid = np.linspace(-1, 1, points)
    z, weights = np.polynomial.hermite_e.hermegauss(nodes)
    weights = weights / weights.sum()
    lam, shift = inverse_temperature, np.sqrt(dim / 2)
    inner = lam * (shift * grid[:, None] + gamma * z)
    gate, rise = special.erf(inner), _erf_prime(inner) * lam * shift
    hit, square = gate @ weights, gate**2 @ weights
    others = (length - 1) * float(special.erf(lam * z) ** 2 @ weights)
    kappa, nu = np.meshgrid(grid, grid, indexing="ij")
    risk = gamma**2 * (1 - 2 * nu * hit[:, None] + square[:, None]) + others
    own = (gate * rise) @ weights
    d_kappa = gamma**2 * (-2 * nu * (rise @ weights)[:, None] + 2 * own[:, None])
    d_nu = np.broadcast_to(-2 * gamma**2 * hit[:, None], kappa.shape)
    axes = ("kappa", "nu")
    return xarray.Dataset(
        {"risk": (axes, risk), "d_kappa": (axes, d_kappa), "d_nu": (axes, d_nu)},
        {"kappa": grid, "nu": grid})


@experiment("single-location.erf-inequalities")
def erf_inequalities(key, *, points: int = 20_001, width: float = 50.0) -> xarray.Dataset:
    """|erf(u)|, |1/sqrt(1+|u|) - 1| and erf''(u), by differences of erf', on a grid."""
    u = np.linspace(-width, width, points)
    step = 1e-5
    second = (_erf_prime(u + step) - _erf_prime(u - step)) / (2 * step)
    return xarray.Dataset(
        {
            "erf": ("u", np.abs(special.erf(u))),
            "root": ("u", np.abs(1 / np.sqrt(1 + np.abs(u)) - 1)),
            "second_derivative": ("u", second)},
        {"u": u})


def moments(
    dim: int, law: np.ndarray, gamma: float, noise: float, lean: float = 0.0
) -> tuple[np.ndarray, np.ndarray, float]:
    """E x x^T, E x Y, E Y^2 of the flattened tokens, summed over locations; v* = e_2 and k* = e_1,
    or leaning on v* with k*.v* = `lean`."""
    length, mean, read = len(law), np.zeros(dim), np.zeros(dim)
    mean[:2], read[1] = np.sqrt(dim / 2) * np.array([np.sqrt(1 - lean**2), lean]), 1.0
    second, cross = np.zeros((length * dim, length * dim)), np.zeros(length * dim)
    informative = gamma**2 * np.eye(dim) + np.outer(mean, mean)
    for where, probability in enumerate(law):
        for token in range(length):
            part = slice(token * dim, (token + 1) * dim)
            second[part, part] += probability * (informative if token == where else np.eye(dim))
        cross[where * dim : (where + 1) * dim] += probability * informative @ read
    return second, cross, float(read @ informative @ read) + noise**2


@experiment("single-location.linear-normal-equations")
def linear_normal_equations(
    key: Any, *, dim: int = 5, law: tuple[float, ...] = (0.4, 0.3, 0.2, 0.1),
    lengths: tuple[int, ...] = (2, 5, 10, 20), gamma: float = 2**-0.5, noise: float = 0.2,
    lean: float = 0.0, likely: tuple[float, ...] = (0.25, 0.5, 0.9, 1.0),
) -> xarray.Dataset:
    """The normal equations: coefficients on v* for `law`, and the risk for uniform laws and for
    laws of four places of which one is `likely`."""
    second, cross, power = moments(dim, np.asarray(law), gamma, noise, lean)
    beta = np.linalg.solve(second, cross).reshape(len(law), dim)
    off_axis = np.delete(beta, 1, axis=1)

    def least(places: np.ndarray) -> float:
        matrix, vector, energy = moments(2, places, gamma, noise)
        return energy - float(vector @ np.linalg.solve(matrix, vector))

    uniform = [least(np.full(length, 1 / length)) for length in lengths]
    uneven = [least(np.array([first, *[(1 - first) / 3] * 3])) for first in likely]
    return xarray.Dataset(
        {
            "coefficient": ("token", beta[:, 1]), "off_axis": float(np.max(np.abs(off_axis))),
            "risk": float(power - cross @ beta.ravel()),
            "uniform_risk": ("length", np.array(uniform)),
            "likely_risk": ("likely", np.array(uneven))},
        {"length": list(lengths), "likely": list(likely)})


def token_means(
    gates: np.ndarray, x: np.ndarray, mean: float, spread: float, rho: float, weights: np.ndarray
) -> tuple[float, float]:
    """E[w X.v] and E[(w X.v)^2] of a token with X.k = .. + spread x: given x, X.v is normal around
    mean + rho spread x with the variance spread^2 (1 - rho^2)."""
    inner = mean + rho * spread * x
    square = inner**2 + spread**2 * (1 - rho**2)
    return float((gates * inner) @ weights), float((gates**2 * square) @ weights)


def _risk_by_sums(overlaps: np.ndarray, numbers: np.ndarray, nodes: int) -> list[float]:
    """The risk in any state; on the manifold of the same kappa and nu with 1, 2 and 3 informative
    tokens; and at the truth."""
    kappa, nu, theta, eta, rho = overlaps
    dim, length, lam, gamma, noise = numbers
    x, weights = np.polynomial.hermite_e.hermegauss(nodes)
    weights, shift = weights / weights.sum(), np.sqrt(dim / 2)
    own, other = special.erf(lam * (shift * kappa + gamma * x)), special.erf(lam * x)
    mean, square = token_means(own, x, shift * theta, gamma, rho, weights)
    other_mean, other_square = token_means(other, x, 0.0, 1.0, rho, weights)
    # Y and X.v of the informative token, given x: their means multiplied, and their covariance
    product = gamma * eta * x * (shift * theta + rho * gamma * x) + gamma**2 * (nu - eta * rho)
    cross = other_square + (length - 2) * other_mean**2 + 2 * mean * other_mean
    risks = [
        noise**2 + gamma**2 - 2 * float((own * product) @ weights) + square + (length - 1) * cross]
    let_in = float(other**2 @ weights)
    for count in (1, 2, 3):
        read = 1 - 2 * np.sqrt(count) * nu * (own @ weights) + count * (own**2 @ weights)
        risks.append(noise**2 + gamma**2 * float(read) + (length - count) * let_in)
    missed = float(special.erfc(lam * (shift + gamma * x)) ** 2 @ weights)
    return [*risks, noise**2 + gamma**2 * missed + (length - 1) * let_in]


@experiment("single-location.risk-by-sums")
def risk_by_sums(
    key: Any, *, states: int = 12, nodes: int = 180, other_gamma: float = 0.0, longer: int = 0,
    keep_product: bool = False,
) -> xarray.Dataset:
    """Risks at random states and settings by Gauss-Hermite sums over the scores of single tokens,
    whose weights are independent; `other_gamma` is added to gamma, `longer` to the length. Also at
    the states with theta, eta and rho turned round (`keep_product`: but not rho)."""
    random = np.random.default_rng(17)
    pairs = random.standard_normal((states, 2, 5)) + np.eye(2, 5)
    k, v = np.moveaxis(pairs / np.linalg.norm(pairs, axis=-1, keepdims=True), 1, 0)
    overlaps = np.stack([k[:, 0], v[:, 1], v[:, 0], k[:, 1], np.sum(k * v, axis=-1)], -1)
    settings = np.stack(
        [
            random.integers(4, 60, states), random.integers(3, 9, states),
            np.exp(random.uniform(-2.5, 0.0, states)), random.uniform(0.4, 1.3, states),
            random.choice([0.0, 0.3], states)],
        -1)
    changed = settings + np.array([0, longer, 0, other_gamma, 0])
    rows = [_risk_by_sums(*row, nodes) for row in zip(overlaps, changed, strict=True)]
    mirror = np.array([1, 1, -1, -1, 1 if keep_product else -1])
    mirrored = [
        _risk_by_sums(mirror * at, numbers, nodes)[0]
        for at, numbers in zip(overlaps, changed, strict=True)]
    return xarray.Dataset({
        "mirrored": ("state", np.array(mirrored)), "risk": (("state", "form"), np.array(rows)),
        "overlap": (("state", "name"), overlaps), "setting": (("state", "number"), settings)})
