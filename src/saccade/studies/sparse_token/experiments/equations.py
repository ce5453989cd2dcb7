"""The equations of a fitted linear classifier, solved from their definition by a general root
search: no closed form, no Newton steps of one's own, another quadrature."""

from typing import Any, NamedTuple

import numpy as np
import xarray
from scipy.optimize import root
from scipy.special import expit, ndtr

from saccade.lab.experiment import experiment

Case = tuple[str, float, float]  # loss, samples per token dimension, ridge
CASES: tuple[Case, ...] = (
    ("logistic", 8.0, 0.02), ("square", 8.0, 0.02), ("logistic", 2.0, 0.5), ("square", 2.0, 0.5))
SOLVED = ("train_loss", "train_error", "test_error", "w_norm", "b")
NODES, DENSITY = np.polynomial.hermite_e.hermegauss(100)
DENSITY = DENSITY / DENSITY.sum()
CHANCES = (0.55, 0.2, 0.15, 0.1)


class _Samples(NamedTuple):
    """Negatives and one kind of positives for each place: chance, label, theta v."""

    weight: np.ndarray
    label: np.ndarray
    shift: np.ndarray


def _slopes(h: np.ndarray, y: np.ndarray, loss: str) -> tuple[np.ndarray, np.ndarray]:
    """l' and l'' at h."""
    if loss == "square":
        return h - y, np.ones_like(h)
    return -y * expit(-y * h), expit(h) * expit(-h)


def _fitted(omega: np.ndarray, V: float, y: np.ndarray, loss: str) -> np.ndarray:
    """The root of eta - omega + V l'(eta), by halving an interval that holds it."""
    reach = V * (2 + np.abs(omega))
    low, high = omega - reach, omega + reach
    for _ in range(60):
        middle = (low + high) / 2
        above = middle - omega + V * _slopes(middle, y, loss)[0] > 0
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return (low + high) / 2


def _residual(x: np.ndarray, of: _Samples, a: float, ridge: float, loss: str) -> np.ndarray:
    """m = -a V E[l' theta v], E[l'] = 0, r^2 = a V^2 E[l'^2], 1/a = lambda V + E[V l''/(1 + V
    l'')]."""
    m, b, r, V = x[:-3], x[-3], np.exp(x[-2]), np.exp(x[-1])
    y = of.label[:, None]
    eta = _fitted((of.shift @ m + b)[:, None] + np.sqrt(m @ m + r * r) * NODES, V, y, loss)
    slope, bend = _slopes(eta, y, loss)
    pull = of.weight * (slope @ DENSITY)
    return np.append(
        m + a * V * pull @ of.shift,
        [
            pull.sum(), 1 - a * V**2 * (of.weight @ (slope**2 @ DENSITY)) / r**2,
            1 - a * (ridge * V + of.weight @ ((V * bend / (1 + V * bend)) @ DENSITY))])


def _solved(of: _Samples, a: float, ridge: float, loss: str) -> np.ndarray:
    """The root at `ridge`, followed from a large one, where V = 1/(a (lambda + 1/2)), near enough,
    and r = V sqrt(a)/2."""
    V = 1 / (a * 10.5)
    x = np.append(np.zeros(of.shift.shape[1] + 1), [np.log(V * np.sqrt(a) / 2), np.log(V)])
    for strength in np.geomspace(10.0, ridge, 7):
        x = root(_residual, x, (of, a, strength, loss), tol=1e-13).x
    if np.abs(_residual(x, of, a, ridge, loss)).max() > 1e-9:
        raise ArithmeticError("the equations were not solved")
    return x


@experiment("sparse-token.linear-equations")
def linear_equations(
    key: Any, *, chances: tuple[float, ...] = CHANCES, positive_rate: float = 0.4,
    signal: float = 3.0, cases: tuple[Case, ...] = CASES,
) -> xarray.Dataset:
    """Training and test numbers (`SOLVED`) of the vectorised classifier with one informative token
    at places of these chances, and the overlaps of its tokens with the signal, case by case."""
    length = len(chances)
    of = _Samples(
        np.append(1 - positive_rate, positive_rate * np.array(chances)),
        np.append(-1.0, np.ones(length)), signal * np.vstack([np.zeros(length), np.eye(length)]))
    rows, signals = [], []
    for loss, samples_per_dim, ridge in cases:
        x = _solved(of, samples_per_dim / length, ridge, loss)
        m, b, r, V = x[:-3], x[-3], np.exp(x[-2]), np.exp(x[-1])
        mean, size, y = of.shift @ m + b, float(np.sqrt(m @ m + r * r)), of.label[:, None]
        eta = _fitted(mean[:, None] + size * NODES, V, y, loss)
        losses = (y - eta) ** 2 / 2 if loss == "square" else np.logaddexp(0.0, -y * eta)
        # eta changes sign where omega = V l'(0)
        at_zero = _slopes(np.zeros((1, 1)), y, loss)[0][:, 0]
        errors = [
            float(of.weight @ ndtr(-of.label * (mean - V * slope) / size))
            for slope in (at_zero, 0.0)]
        rows.append([float(of.weight @ (losses @ DENSITY)), *errors, size, b])
        signals.append(m)
    return xarray.Dataset(
        {
            "solved": (("case", "number"), np.array(rows)),
            "token_signal": (("case", "token"), np.array(signals))},
        {"number": list(SOLVED)})
