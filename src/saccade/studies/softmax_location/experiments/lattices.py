"""Means over one score by plain sums of logarithms: A = e^(w + lambda (shift + h)), h normal, at a
few places of a short and of a long lattice of w."""

from typing import Any

import numpy as np
import xarray
from scipy import special

from saccade.lab.experiment import experiment

STEP, HIGHEST = 0.28, 4.0
PLACES = (-75.0, -43.0, -9.0, -4.0, -1.5, 0.0, 1.5, 3.0)
"""Where the means are taken: w + lambda shift."""


def lattice(lowest: float) -> np.ndarray:
    """The values of w, steps as wide as those of the default rule."""
    return lowest + STEP * np.arange(int((HIGHEST - lowest) / STEP) + 1)


def _log_sum(logs: np.ndarray) -> float:
    return float(np.asarray(special.logsumexp(logs)))


def _means(w: np.ndarray, spread: float, points: int) -> np.ndarray:
    """By w: log(-log E e^-A), log E[A e^-A], log E[A^2 e^-A], and the means of h, h^2 and h^3 under
    the weights A e^-A and A^2 e^-A, and of h and h^3 with e^-A over E[A e^-A]."""
    h = np.linspace(-16.0, 16.0, points)
    log_normal = -(h**2) / 2 - np.log(np.sum(np.exp(-(h**2) / 2)))
    rows = []
    for one in w:
        log_A = one + spread * h
        missing = np.log(-np.expm1(-np.exp(log_A))) + log_normal
        logs = [power * log_A - np.exp(log_A) + log_normal for power in (1, 2)]
        totals = [_log_sum(log) for log in logs]
        shares = [np.exp(log - total) for log, total in zip(logs, totals, strict=True)]
        gone, left = float(np.exp(_log_sum(missing))), log_normal - np.exp(log_A)
        # Odd means of one vanish: of e^-A and of e^-A - 1 the smaller one is summed.
        log_phi, kept = (
            (np.log1p(-gone), -np.exp(missing - totals[0])) if gone < 0.5
            else (_log_sum(left), np.exp(left - totals[0])))
        rows.append([
            np.log(-log_phi), *totals,
            *(share @ h**power for share in shares for power in (1, 2, 3)), kept @ h,
            kept @ h**3])
    return np.array(rows)


@experiment("softmax-location.lattices")
def lattices(
    key: Any, *, inverse_temperatures: tuple[float, ...] = (0.06, 1.3, 1.3, 3.0),
    lowest: tuple[float, ...] = (-80.0, -80.0, -260.0, -260.0), wider: float = 1.0,
    points: int = 12001,
) -> xarray.Dataset:
    """The means by case and place; `wider` multiplies lambda in the sums."""
    rows = []
    for lam, low in zip(inverse_temperatures, lowest, strict=True):
        w = lattice(low)
        near = w[[int(np.argmin(np.abs(w - place))) for place in PLACES]]
        rows.append(_means(near, wider * lam, points))
    return xarray.Dataset({"mean": (("case", "place", "name"), np.array(rows))})
