"""The potential of a fitted logistic classifier and the violation of separability, from their
definitions at five made-up nodes; slopes and curvatures by differences."""

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray
from scipy.special import expit

from saccade.lab.experiment import experiment

WEIGHT = np.array([0.15, 0.25, 0.1, 0.3, 0.2])
LABEL = np.array([1.0, 1.0, -1.0, -1.0, 1.0])
ALONG = np.array([0.9, -0.3, 0.5, -0.7, 1.4])
ACROSS = np.array([0.6, 1.1, -0.2, 0.3, 0.0])
SPREAD = np.array([0.5, 0.8, 0.35, 0.6, 0.9])
SHIFT, ALPHA, RIDGE = 0.3, 1.7, 0.15
AT, SEPARATING = np.array([0.5, -0.4, 0.2, 0.8, 1.3]), np.array([0.7, 0.4, -0.3])
NODES, DENSITY = np.polynomial.hermite_e.hermegauss(80)
DENSITY = DENSITY / DENSITY.sum()


def _loss_and_potential(z: np.ndarray, across: np.ndarray) -> tuple[float, float]:
    """E[l(eta)], and phi = E[min_h l(h; y) + (h - omega)^2/(2 tau^2 V)] + lambda/2 |w|^2 -
    r^2/(2 alpha V), in z = (m_q, m_o, b, r, r/V); eta by halving an interval that holds it."""
    query, along_o, b, r, beta = z
    V, s2 = r / beta, along_o**2 + r**2
    mean = query * ALONG + along_o * across + b
    omega = mean[:, None] + np.sqrt(SPREAD**2 * s2 + query**2 * SHIFT)[:, None] * NODES
    y, step = LABEL[:, None], (SPREAD**2 * V)[:, None]
    low, high = omega - step, omega + step
    for _ in range(52):
        middle = (low + high) / 2
        above = middle - omega - step * y * expit(-y * middle) > 0
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    eta = (low + high) / 2
    loss = np.logaddexp(0.0, -y * eta)
    mean_loss, envelope = (
        float(WEIGHT @ (part @ DENSITY)) for part in (loss, loss + (eta - omega) ** 2 / (2 * step)))
    ridge = RIDGE / 2 * (query**2 + s2)
    return mean_loss, envelope + ridge - r**2 / (2 * ALPHA * V)


def _violation(x: np.ndarray, across: np.ndarray) -> float:
    """E s^2 (G - c/s)_+^2 over nodes and normal G, by a fine sum from the kink on."""
    c = LABEL * (x[0] * ALONG + x[1] * across + x[2]) / SPREAD
    s = np.sqrt(1 + x[1] ** 2 + x[0] ** 2 * SHIFT / SPREAD**2)
    beyond, weights = np.polynomial.legendre.leggauss(200)
    above = 6.0 * (beyond + 1)  # G - c/s from 0 to 12
    G = (c / s)[:, None] + above
    density = np.exp(-(G**2) / 2) / np.sqrt(2 * np.pi)
    return float(WEIGHT @ (s**2 * (density * above**2 @ (6.0 * weights))))


def _derivatives(function: Callable[[np.ndarray], float], at: np.ndarray) -> list[np.ndarray]:
    """Slopes and curvatures by central differences of fourth order."""

    def slope(of: Callable[[np.ndarray], float], at: np.ndarray, one: np.ndarray, h: float):
        near, far = ((of(at + k * h * one) - of(at - k * h * one)) / (2 * k * h) for k in (1, 2))
        return (4 * near - far) / 3

    axes, h = np.eye(len(at)), 4e-3
    curvatures = np.zeros((len(at), len(at)))
    for i, one in enumerate(axes):
        for j, other in enumerate(axes[: i + 1]):
            curvatures[i, j] = curvatures[j, i] = slope(
                lambda x, other=other: slope(function, x, other, h), at, one, h)
    return [np.array([slope(function, at, one, 1e-3) for one in axes]), curvatures]


@experiment("sparse-token.derivatives")
def derivatives(key: Any, *, moved: float = 0.0) -> xarray.Dataset:
    """Training loss, phi and the violation, with their slopes and curvatures, where S of the second
    node is `moved` by so much."""
    across = ACROSS + moved * (np.arange(5) == 1)
    slopes, curvatures = _derivatives(lambda z: _loss_and_potential(z, across)[1], AT)
    steep, bent = _derivatives(lambda x: _violation(x, across), SEPARATING)
    loss, value = _loss_and_potential(AT, across)
    return xarray.Dataset({
        "value": ("of", [loss, value, _violation(SEPARATING, across)]), "slope": ("z", slopes),
        "curvature": (("z", "by"), curvatures), "violation_slope": ("x", steep),
        "violation_curvature": (("x", "along"), bent)})
